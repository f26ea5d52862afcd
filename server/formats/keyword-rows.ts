import type { TrackedKeyword } from '../catalog/tracked.ts';
import type { Comparer } from '../domain/comparison.ts';
import { isoInstant } from '../domain/instants.ts';
import { type Measures, type Metrics, NOTHING, roundRatio, toMetrics } from '../domain/metrics.ts';
import type { KeywordDays } from '../facts/keywords.ts';
import type { KeywordSeries, KeywordsResult } from '../reports/keywords.ts';
import { type ComparedRow, comparedColumns } from './compared-rows.ts';
import {
  type Batch,
  batchOf,
  type Cell,
  type Column,
  METRICS,
  metricReaders,
  type Rows,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

/** Keywords of one batch of totals. */
const KEYWORDS = 10_000;

const TOTALS: readonly Column[] = [
  { name: 'id', type: 'text' },
  { name: 'query', type: 'text' },
  { name: 'source', type: 'text' },
  { name: 'trackedSince', type: 'instant' },
  { name: 'intent', type: 'text' },
  { name: 'groupIds', type: 'ids' },
];

const DAYS: readonly Column[] = [
  { name: 'id', type: 'text' },
  { name: 'query', type: 'text' },
  { name: 'date', type: 'day' },
];

/** Keywords as flat rows: one per keyword and stored day if the result has days, else one per keyword. */
export function keywordRows(result: KeywordsResult): RowsAnswer {
  const { daily, head } = result;
  const { project, range, quality, paging } = head;
  const about = { name: `${project.domain}-keywords`, total: paging.total, range, ...(quality && { quality }) };
  return daily === undefined ? { head: about, ...totalsRows(result) } : { head: about, ...dayRows(result, daily) };
}

interface Total extends ComparedRow {
  readonly keyword: TrackedKeyword;
  readonly metrics: Metrics;
  readonly now: Measures;
}

function totalsRows(result: KeywordsResult): Rows {
  const { membership } = result.tracked;
  const compared = comparedColumns<Total>((row) => row, { isCompared: result.comparison !== undefined });
  const readers: readonly ((row: Total) => Cell)[] = [
    ({ keyword }) => keyword.id,
    ({ keyword }) => keyword.query,
    ({ keyword }) => keyword.source,
    ({ keyword }) => isoInstant(keyword.trackedSince),
    ({ keyword }) => keyword.intent,
    ({ keyword }) => membership.groupsOf.get(keyword.id) ?? [],
    ...metricReaders(({ metrics }: Total) => metrics),
    ...compared.readers,
    ({ now }) => now.sumPosition,
  ];
  return {
    columns: [...TOTALS, ...METRICS, ...compared.columns, sumPositionColumn()],
    batches: totalsBatches(result, readers),
  };
}

function* totalsBatches(
  { keywords, totals, comparison }: KeywordsResult,
  readers: readonly ((row: Total) => Cell)[],
): Generator<Batch> {
  for (let start = 0; start < keywords.length; start += KEYWORDS) {
    const rows = keywords.slice(start, start + KEYWORDS).map((keyword): Total => {
      const now = totals.of(keyword);
      const base = comparison?.totals.of(keyword) ?? NOTHING;
      const compared = comparison?.comparerOf(keyword).compare(now, base) ?? null;
      return { keyword, metrics: toMetrics(now), now, base, compared };
    });
    yield batchOf(rows, readers);
  }
}

function dayRows({ comparison }: KeywordsResult, { buckets, parts }: KeywordSeries): Rows {
  const columns = comparedColumns<number>(() => NOT_COMPARED, { isCompared: comparison !== undefined }).columns;
  const comparers = buckets.map((bucket) => comparison?.ranges.part(bucket));
  return {
    columns: [...DAYS, ...METRICS, ...columns, sumPositionColumn()],
    batches: dayBatches(parts, comparers),
  };
}

async function* dayBatches(
  parts: KeywordSeries['parts'],
  comparers: readonly (Comparer | undefined)[],
): AsyncGenerator<Batch> {
  for await (const part of parts) yield dayBatch(part, comparers);
}

function dayBatch(
  { keywords, days: grid, base }: KeywordDays<TrackedKeyword>,
  comparers: readonly (Comparer | undefined)[],
): Batch {
  const { days, stored, clicks, impressions, sumPosition } = grid;
  // The grid's cell of each row.
  const cells = new Uint32Array(stored.length);
  let length = 0;
  for (let cell = 0; cell < stored.length; cell++) if (stored[cell] === 1) cells[length++] = cell;
  const keyword = (row: number): TrackedKeyword => keywords[Math.floor(cells[row]! / days.length)]!;
  const sum = (of: Float64Array, row: number): number => of[cells[row]!]!;
  const ratio = (numerator: number, denominator: number, scale: number): number | null =>
    denominator === 0 ? null : roundRatio(numerator, denominator, scale);
  const compared = remembered((row): ComparedRow => {
    const cell = cells[row]!;
    const measures = base!.measures(cell);
    return { base: measures, compared: comparers[cell % days.length]!.compare(grid.measures(cell), measures) };
  });
  return {
    length,
    cells: [
      (row) => keyword(row).id,
      (row) => keyword(row).query,
      (row) => days[cells[row]! % days.length]!,
      (row) => sum(clicks, row),
      (row) => sum(impressions, row),
      (row) => ratio(sum(clicks, row), sum(impressions, row), 10_000),
      (row) => ratio(sum(sumPosition, row) + sum(impressions, row), sum(impressions, row), 10),
      ...comparedColumns(compared, { isCompared: base !== undefined }).readers,
      (row) => sum(sumPosition, row),
    ],
  };
}

/** Rows that formats read at a time, column by column. */
const REMEMBERED = 8192;

/** A function of rows that remembers its last results. */
function remembered<T>(make: (row: number) => T): (row: number) => T {
  const slots: { row: number; value: T }[] = [];
  return (row) => {
    const slot = slots[row % REMEMBERED];
    if (slot?.row === row) return slot.value;
    const value = make(row);
    slots[row % REMEMBERED] = { row, value };
    return value;
  };
}

const NOT_COMPARED: ComparedRow = { base: NOTHING, compared: null };
