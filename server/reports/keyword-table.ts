import type { TrackedKeyword } from '../catalog/tracked.ts';
import { type Comparer, NOT_COMPARED } from '../domain/comparison.ts';
import { isoInstant } from '../domain/instants.ts';
import { isKnown, type Measures, type Metrics, NOTHING, roundRatio, toMetrics } from '../domain/metrics.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import type { KeywordDays } from '../facts/facts.ts';
import {
  type Batch,
  batchOf,
  type Cell,
  type Column,
  type ComparedRow,
  comparedColumns,
  DAY_COUNT,
  METRICS,
  metricReaders,
  type Rows,
  type RowsAnswer,
  sumPositionColumn,
} from '../formats/rows.ts';
import type { KeywordSeries, KeywordsResult } from './keywords.ts';

/** Keywords per batch of totals. */
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

/** The cells of unknown metrics. */
const UNKNOWN = { clicks: null, impressions: null, ctr: null, position: null };

interface Total extends ComparedRow {
  readonly keyword: TrackedKeyword;
  /** Null if they are unknown. */
  readonly metrics: Metrics | null;
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
    ...metricReaders(({ metrics }: Total) => metrics ?? UNKNOWN),
    ...compared.readers,
    ({ now }) => (isKnown(now) ? now.sumPosition : null),
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
      const isCompared = isKnown(now) && isKnown(base);
      return {
        keyword,
        metrics: isKnown(now) ? toMetrics(now) : null,
        now,
        ...(isCompared ? { base, compared: comparison?.comparerOf(keyword).compare(now, base) ?? null } : UNCOMPARED),
      };
    });
    yield batchOf(rows, readers);
  }
}

function dayRows({ comparison }: KeywordsResult, { buckets, dayCounts, batches }: KeywordSeries): Rows {
  const columns = comparedColumns<number>(() => UNCOMPARED, { isCompared: comparison !== undefined }).columns;
  const comparers = buckets.map((bucket) => comparison?.ranges.part(bucket));
  return {
    columns: [...DAYS, ...(dayCounts ? [DAY_COUNT] : []), ...METRICS, ...columns, sumPositionColumn()],
    batches: dayBatches(batches, comparers, dayCounts),
  };
}

async function* dayBatches(
  batches: KeywordSeries['batches'],
  comparers: readonly (Comparer | null | undefined)[],
  counts: KeywordSeries['dayCounts'],
): AsyncGenerator<Batch> {
  const rows = new DayRows();
  for await (const batch of batches) {
    for (let cell = 0; cell < batch.days.stored.length; ) {
      cell = rows.fill(batch.days, cell);
      if (rows.length > 0) yield dayBatch(batch, rows, comparers, counts);
    }
  }
}

/** Rows per batch of days: few enough for the processor's cache. */
const DAY_ROWS = 8192;

/** The stored days of a batch. Its arrays are reused for the next one. */
class DayRows {
  length = 0;
  /** For each row: its cell in the grid, its keyword and its day. */
  readonly cells = new Uint32Array(DAY_ROWS);
  readonly keywords = new Uint32Array(DAY_ROWS);
  readonly days = new Uint32Array(DAY_ROWS);
  readonly clicks = new Float64Array(DAY_ROWS);
  readonly impressions = new Float64Array(DAY_ROWS);
  readonly ctr = new Float64Array(DAY_ROWS);
  readonly position = new Float64Array(DAY_ROWS);
  readonly sumPosition = new Float64Array(DAY_ROWS);

  /** Takes stored days from a cell on, until it is full. Returns the first cell that was not read. */
  fill(grid: DayGrid, first: number): number {
    const { stored, clicks, impressions, sumPosition } = grid;
    const width = grid.days.length;
    let keyword = Math.floor(first / width);
    let day = first % width;
    let row = 0;
    let cell = first;
    for (; cell < stored.length && row < DAY_ROWS; cell++) {
      if (stored[cell] === 1) {
        const shown = impressions[cell]!;
        const isShown = shown !== 0;
        this.cells[row] = cell;
        this.keywords[row] = keyword;
        this.days[row] = day;
        this.clicks[row] = clicks[cell]!;
        this.impressions[row] = shown;
        this.ctr[row] = isShown ? roundRatio(clicks[cell]!, shown, 10_000) : Number.NaN;
        this.position[row] = isShown ? roundRatio(sumPosition[cell]! + shown, shown, 10) : Number.NaN;
        this.sumPosition[row] = sumPosition[cell]!;
        row++;
      }
      day++;
      if (day === width) {
        day = 0;
        keyword++;
      }
    }
    this.length = row;
    return cell;
  }
}

function dayBatch(
  { keywords, days: grid, base }: KeywordDays<TrackedKeyword>,
  rows: DayRows,
  comparers: readonly (Comparer | null | undefined)[],
  counts: KeywordSeries['dayCounts'],
): Batch {
  const keyword = (row: number): TrackedKeyword => keywords[rows.keywords[row]!]!;
  const compared = remembered((row): ComparedRow => {
    const comparer = comparers[rows.days[row]!];
    if (!comparer) return UNCOMPARED;
    const cell = rows.cells[row]!;
    const measures = base!.measures(cell);
    if (!isKnown(measures)) return UNCOMPARED;
    return { base: measures, compared: comparer.compare(grid.measures(cell), measures) };
  });
  return {
    length: rows.length,
    cells: [
      (row) => keyword(row).id,
      (row) => keyword(row).query,
      (row) => grid.days[rows.days[row]!]!,
      ...(counts ? [(row: number) => counts[rows.days[row]!]!] : []),
      rows.clicks,
      rows.impressions,
      rows.ctr,
      rows.position,
      ...comparedColumns(compared, { isCompared: base !== undefined }).readers,
      rows.sumPosition,
    ],
  };
}

/** Caches the results of a function of rows. */
function remembered<T>(make: (row: number) => T): (row: number) => T {
  const known: T[] = [];
  return (row) => (known[row] ??= make(row));
}

/** The comparison of a day that the other range does not have, and of what is unknown. */
const UNCOMPARED: ComparedRow = { base: null, compared: NOT_COMPARED };
