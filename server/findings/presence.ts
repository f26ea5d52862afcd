import type { KindRows, RowFinding, RowTests } from './finding.ts';
import { PRESENCE_WEEKS, type RowGrids } from './grids.ts';

/** Weekly impressions of rows before something, or after it. */
interface PresenceRows {
  /** By row, then week. */
  readonly weeks: Float64Array;
  readonly perRow: number;
  /** The impressions of each row in the time for which it is asked whether there are none. */
  readonly other: Float64Array;
  /** The length of that time in weeks. */
  readonly otherWeeks: number;
  /** What all impressions changed to, per week, from these weeks to that time. */
  readonly change: number;
}

interface PresenceTests {
  readonly rows: Uint32Array;
  /** The probability of no impression; 1 for rows that have some. */
  readonly p: Float64Array;
  /** The impressions that would be usual. */
  readonly expected: Float64Array;
}

/** None can be found above this probability, so such rows are not tested. */
const LEAST_PROBABLE = 0.001;

/**
 * Tests which rows have no impression in a time although, by their weeks, that is improbable. A row's level in the other
 * time is its mean, times a gamma distribution as wide as its weeks differ beyond chance, at least as those of half of the
 * rows do: bursts end without anything being lost.
 */
function* testPresence(rows: PresenceRows): Generator<void, PresenceTests> {
  const { weeks, perRow, other, otherWeeks, change } = rows;
  const [candidates, means, spreads]: number[][] = [[], [], []];
  for (let row = 0; row < other.length; row++) {
    if (row % 2048 === 0) yield;
    let sum = 0;
    for (let week = row * perRow; week < (row + 1) * perRow; week++) sum += weeks[week]!;
    const mean = sum / perRow;
    // Not even without any spread.
    if (Math.exp(-mean * otherWeeks) > LEAST_PROBABLE) continue;
    candidates!.push(row);
    means!.push(mean);
    spreads!.push(spreadOf(weeks, row * perRow, perRow, mean));
  }
  const usual = spreads!.length === 0 ? 0 : spreads!.toSorted((a, b) => a - b)[spreads!.length >> 1]!;
  const [found, p, expected]: number[][] = [[], [], []];
  for (const [at, row] of candidates!.entries()) {
    const level = means![at]! * otherWeeks * Math.min(1, change);
    const spread = Math.max(usual, spreads![at]!);
    const none = spread < 1e-9 ? Math.exp(-level) : (1 + spread * level) ** (-1 / spread);
    if (none > LEAST_PROBABLE) continue;
    found!.push(row);
    expected!.push(level);
    p!.push(other[row] === 0 ? none : 1);
  }
  return { rows: Uint32Array.from(found!), p: Float64Array.from(p!), expected: Float64Array.from(expected!) };
}

/** The variance of weeks beyond chance, by the square of their mean. */
function spreadOf(weeks: Float64Array, from: number, count: number, mean: number): number {
  if (count < 2) return 0;
  let squares = 0;
  for (let week = from; week < from + count; week++) squares += (weeks[week]! - mean) ** 2;
  return Math.max(0, (squares / (count - 1) - mean) / (mean * mean));
}

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
