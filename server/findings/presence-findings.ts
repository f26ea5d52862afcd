import type { KindRows, RowFinding, RowTests } from './finding.ts';
import { PRESENCE_WEEKS, type RowGrids } from './grids.ts';
import { type PresenceRows, testPresence } from './presence.ts';

function rangeImpressions(grids: RowGrids): Float64Array {
  const { rows } = grids.size;
  return Float64Array.from({ length: rows }, (_, row) => grids.totals(row).impressions);
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

function lostRows(grids: RowGrids): PresenceRows {
  const now = rangeImpressions(grids);
  const otherWeeks = grids.size.days / 7;
  const before = sum(grids.beforeImpressions) / PRESENCE_WEEKS;
  return {
    weeks: grids.beforeImpressions,
    perRow: PRESENCE_WEEKS,
    other: now,
    otherWeeks,
    change: before > 0 ? sum(now) / otherWeeks / before : 1,
  };
}

function newRows(grids: RowGrids): PresenceRows {
  const { rows, days } = grids.size;
  const other = new Float64Array(rows);
  for (let cell = 0; cell < grids.beforeImpressions.length; cell++) {
    other[Math.floor(cell / PRESENCE_WEEKS)]! += grids.beforeImpressions[cell]!;
  }
  const now = sum(grids.impressions) / (days / 7);
  return {
    // A part of less than a week counts as one: fewer impressions are expected then.
    weeks: grids.impressions,
    perRow: grids.parts,
    other,
    otherWeeks: PRESENCE_WEEKS,
    change: now > 0 ? sum(other) / PRESENCE_WEEKS / now : 1,
  };
}

/** Rows that were shown before the range and not in it. */
export function* lostTests({ kind, grids }: KindRows): Generator<void, RowTests> {
  const tests = yield* testPresence(lostRows(grids));
  const findingOf = (at: number): RowFinding => {
    const row = tests.rows[at]!;
    const from = row * PRESENCE_WEEKS;
    const before = sum(grids.beforeImpressions.subarray(from, from + PRESENCE_WEEKS));
    const evidence = { impressionsBefore: before, expectedImpressions: tests.expected[at]! };
    const last = grids.lastAge[row]!;
    return { type: 'lost', kind, row, evidence, gain: null, p: tests.p[at]!, sinceAge: last < 1 ? null : last - 1 };
  };
  return { p: tests.p, findingOf };
}

/** Rows that are shown in the range and were not before it. */
export function* newTests({ kind, grids }: KindRows): Generator<void, RowTests> {
  const tests = yield* testPresence(newRows(grids));
  const findingOf = (at: number): RowFinding => {
    const row = tests.rows[at]!;
    const { clicks, impressions } = grids.totals(row);
    const evidence = { clicks, impressions, expectedImpressions: tests.expected[at]! };
    return { type: 'new', kind, row, evidence, gain: null, p: tests.p[at]!, sinceAge: grids.firstAge[row]! };
  };
  return { p: tests.p, findingOf };
}
