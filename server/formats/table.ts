import {
  CHANGES,
  type ComparedCounts,
  METRIC_NAMES,
  METRIC_SCALES,
  type MetricName,
  NOT_COMPARED,
  RATIO_SCALE,
  RATIOS,
  type Unsafe,
} from '../domain/comparison.ts';
import { type ExactMeasures, hasPosition, isKnown, roundRatio, toMetrics } from '../domain/metrics.ts';
import { type Counts, countedIn, type KnownMetrics, metricsIn, type ObjectSet, type RowSet } from '../query/rows.ts';
import type { Batch, Cell, Cells, Column, ReadCell, RowsAnswer, RowsHead } from './rows.ts';

/** A column with a cell of its own: how a row set gives its cells. */
export interface SetColumn<Set> {
  readonly column: Column;
  readonly cell: (set: Set) => ReadCell;
}

/** Columns that a row set fills by itself: metrics, what `compare` adds to them, and the sum behind `position`. */
type Measured = 'metrics' | 'comparison' | 'sum_position';
export const MEASURED = ['metrics', 'comparison', 'sum_position'] as const satisfies readonly Measured[];

/** The column of a dimension, by its index. */
export function dimension(name: string, type: Column['type'] = 'text', at = 0): SetColumn<RowSet> {
  return { column: { name, type }, cell: (set) => (row) => set.name(row, at) };
}

/** The number of days of a week or month. */
export const DAYS: SetColumn<RowSet> = {
  column: { name: 'days', type: 'count' },
  cell: (set) => (row) => set.days?.(row) ?? null,
};

/** A column and its cell in an object. */
export type ObjectColumn<Of> = readonly [name: string, type: Column['type'], read: (row: Of) => Cell];

/** Columns of a row set over objects. */
export function ofRows<Of>(...columns: readonly ObjectColumn<Of>[]): SetColumn<Pick<ObjectSet<Of>, 'rows'>>[] {
  return columns.map(([name, type, read]) => ({
    column: { name, type },
    cell:
      ({ rows }) =>
      (row) =>
        read(rows[row]!),
  }));
}

/** Objects without sums as flat rows. @param head `total` is the number of rows if left out */
export function objects<Of>(
  head: Omit<RowsHead, 'total'> & Partial<Pick<RowsHead, 'total'>>,
  rows: readonly Of[],
  columns: readonly ObjectColumn<Of>[],
): RowsAnswer {
  return {
    head: { total: rows.length, ...head },
    columns: columns.map(([name, type]) => ({ name, type })),
    batches: [
      {
        length: rows.length,
        cells: columns.map(
          ([, , read]): ReadCell =>
            (row) =>
              read(rows[row]!),
        ),
      },
    ],
  };
}

/** Columns of what rows count in place of searches, and of its comparison. */
export function countColumns(counts: Counts, isCompared: boolean): readonly SetColumn<RowSet>[] {
  const typeOf = ({ scale }: Counts[number]): Column['type'] => (scale === 1 ? 'count' : 'ratio');
  const columns = (
    prefix: string,
    type: (count: Counts[number]) => Column['type'],
    read: (compared: ComparedCounts | null, name: string) => Cell,
  ): SetColumn<RowSet>[] =>
    counts.map((count) => ({
      column: { name: `${prefix}_${count.name}`, type: type(count) },
      cell: (set) => (row) => {
        const comparer = set.comparer?.(row);
        const base = comparer ? set.base!(row) : null;
        if (comparer === undefined) return null;
        const compared = comparer && base && comparer.compareCounts([count], countedIn(set.now(row)), countedIn(base));
        return read(compared, count.name);
      },
    }));
  const now = counts.map(
    (count): SetColumn<RowSet> => ({
      column: { name: count.name, type: typeOf(count) },
      cell: (set) => (row) => countedIn(set.now(row))[count.name]! / count.scale,
    }),
  );
  if (!isCompared) return now;
  return [
    ...now,
    ...columns('comparison', typeOf, (compared, name) => compared?.comparison[name] ?? null),
    ...columns('change', typeOf, (compared, name) => compared?.change[name]?.difference ?? null),
    ...columns(
      'changeRatio',
      () => 'ratio',
      (compared, name) => compared?.change[name]?.ratio ?? null,
    ),
    ...columns(
      'unsafe',
      () => 'ids',
      (compared, name) => (compared === null ? ['missing_days'] : (compared.unsafe[name] ?? [])),
    ),
  ];
}

interface TableOf<Set extends RowSet> {
  readonly head: RowsHead;
  readonly columns: readonly (SetColumn<Set> | Measured)[];
  readonly sets: Iterable<Set> | AsyncIterable<Set>;
  readonly isCompared: boolean;
  /** Whether a month was spread over its days, so that sums of positions have fractions. */
  readonly isSpread?: { readonly now: boolean; readonly base: boolean };
  /** Those that were asked for; all if left out. */
  readonly metrics?: readonly string[];
}

/** Row sets as flat rows, for all formats except JSON. */
export function table<Set extends RowSet>(of: TableOf<Set>): RowsAnswer {
  const { head, columns, sets, isCompared, metrics } = of;
  const sources = columns
    .flatMap((one): readonly Source<Set>[] => (typeof one === 'string' ? measured(one, of) : [sourceOf(one)]))
    .filter(({ metric }) => metric === undefined || metrics === undefined || metrics.includes(metric));
  return { head, columns: sources.map(({ column }) => column), batches: batchesOf(sets, sources, isCompared) };
}

/** A column, and its cells in rows of a set from `first` on. */
interface Source<Set> {
  readonly column: Column;
  /** The metric that it is about. */
  readonly metric?: MetricName;
  readonly cells: (set: Set, first: number, numbers: Numbers) => Cells;
}

function sourceOf<Set>({ column, cell }: SetColumn<Set>): Source<Set> {
  return {
    column,
    cells: (set, first) => {
      const read = cell(set);
      return first === 0 ? read : (row) => read(first + row);
    },
  };
}

const TYPES: Readonly<Record<MetricName, Column['type']>> = {
  clicks: 'count',
  impressions: 'count',
  ctr: 'ratio',
  position: 'ratio',
};

const METRICS = METRIC_NAMES.map(
  (metric, at): Source<unknown> => ({
    column: { name: metric, type: TYPES[metric] },
    metric,
    cells: (_set, _first, { now }) => now.metrics[at]!,
  }),
);

const COMPARISON: readonly Source<RowSet>[] = [
  ...METRIC_NAMES.map(
    (metric, at): Source<RowSet> => ({
      column: { name: `comparison_${metric}`, type: TYPES[metric] },
      metric,
      cells: (_set, _first, { base }) => base!.metrics[at]!,
    }),
  ),
  ...METRIC_NAMES.flatMap((metric, at): Source<RowSet>[] => [
    {
      column: { name: `change_${metric}`, type: TYPES[metric] },
      metric,
      cells: (_set, _first, { changes }) => changes[at]!,
    },
    {
      column: { name: `changeRatio_${metric}`, type: 'ratio' },
      metric,
      cells: (_set, _first, { changes }) => changes[RATIOS + at]!,
    },
  ]),
  ...METRIC_NAMES.map(
    (metric): Source<RowSet> => ({
      column: { name: `unsafe_${metric}`, type: 'ids' },
      metric,
      cells: ({ known }, _first, { unsafe }) => {
        const has = metricsIn(known).includes(metric);
        return (row) => {
          const reasons = unsafe[row]!;
          return reasons && ((has && reasons[metric]) || []);
        };
      },
    }),
  ),
];

function measured(
  part: Measured,
  { isCompared, isSpread = { now: false, base: false } }: Pick<TableOf<RowSet>, 'isCompared' | 'isSpread'>,
): readonly Source<RowSet>[] {
  const sum = (name: string, of: 'now' | 'base'): Source<RowSet> => ({
    column: { name, type: isSpread[of] ? 'share' : 'count', columnarOnly: true },
    metric: 'position',
    cells: (_set, _first, numbers) => numbers[of]!.sumPosition,
  });
  if (part === 'metrics') return METRICS;
  if (part === 'sum_position') return [sum('sum_position', 'now')];
  return isCompared ? [...COMPARISON, sum('comparison_sum_position', 'base')] : [];
}

/** Few enough for the processor's cache. */
const ROWS = 8192;

async function* batchesOf<Set extends RowSet>(
  sets: TableOf<Set>['sets'],
  sources: readonly Source<Set>[],
  isCompared: boolean,
): AsyncGenerator<Batch> {
  let numbers: Numbers | undefined;
  for await (const set of sets) {
    for (let first = 0; first < set.length; first += ROWS) {
      const length = Math.min(ROWS, set.length - first);
      if (numbers === undefined || numbers.rows < length) numbers = new Numbers(length, isCompared);
      numbers.fill(set, first, length);
      const filled = numbers;
      yield { length, cells: sources.map(({ cells }) => cells(set, first, filled)) };
    }
  }
}

/** Sums of rows in columns; NaN is null. */
class SumColumns {
  readonly metrics: readonly [
    clicks: Float64Array,
    impressions: Float64Array,
    ctr: Float64Array,
    position: Float64Array,
  ];
  readonly sumPosition: Float64Array;

  constructor(rows: number) {
    const column = () => new Float64Array(rows);
    this.metrics = [column(), column(), column(), column()];
    this.sumPosition = column();
  }

  set(row: number, sums: ExactMeasures, known: KnownMetrics): void {
    const [clicks, impressions, ctr, position] = this.metrics;
    const isShown = sums.impressions > 0;
    const hasSum = known === 'all' && hasPosition(sums);
    clicks[row] = sums.clicks;
    impressions[row] = sums.impressions;
    ctr[row] =
      isShown && known !== 'counts' ? roundRatio(sums.clicks, sums.impressions, METRIC_SCALES.ctr) : Number.NaN;
    position[row] = isShown && hasSum ? positionOf(sums) : Number.NaN;
    this.sumPosition[row] = hasSum ? exactSum(sums) : Number.NaN;
  }

  forget(row: number): void {
    for (const column of this.metrics) column[row] = Number.NaN;
    this.sumPosition[row] = Number.NaN;
  }
}

function positionOf(sums: ExactMeasures): number {
  const { impressions, sumPosition, fraction } = sums;
  if (fraction !== undefined) return toMetrics(sums).position!;
  return roundRatio(sumPosition + impressions, impressions, METRIC_SCALES.position);
}

/** The sum of positions, rounded to a double. */
export function exactSum({ sumPosition, fraction }: ExactMeasures): number {
  return fraction === undefined ? sumPosition : sumPosition + Number(fraction.numerator) / Number(fraction.denominator);
}

/** Factors of the results of `Comparer.changes`. */
const SCALES = [...METRIC_NAMES.map((name) => METRIC_SCALES[name]), ...METRIC_NAMES.map(() => RATIO_SCALE)];

/** The numbers of some rows. The next ones overwrite them. */
class Numbers {
  readonly rows: number;
  readonly now: SumColumns;
  /** Undefined without a comparison. */
  readonly base: SumColumns | undefined;
  /** As from `Comparer.changes`, with decimals. */
  readonly changes: readonly Float64Array[];
  /** Null for rows that are not compared. */
  readonly unsafe: (Unsafe | null)[] = [];
  readonly #scaled = new Float64Array(CHANGES);

  constructor(rows: number, isCompared: boolean) {
    this.rows = rows;
    this.now = new SumColumns(rows);
    this.base = isCompared ? new SumColumns(rows) : undefined;
    this.changes = Array.from({ length: isCompared ? CHANGES : 0 }, () => new Float64Array(rows));
  }

  /** Takes rows of a set from `first` on. Asks for the comparer of each row once. */
  fill(set: RowSet, first: number, length: number): void {
    const { known, counts } = set;
    if (counts) return;
    for (let row = 0; row < length; row++) {
      const now = set.now(first + row);
      this.now.set(row, now, known);
      if (this.base !== undefined) this.#compare(set, first + row, now, row);
    }
  }

  #compare(set: RowSet, at: number, now: ExactMeasures, row: number): void {
    const comparer = set.comparer?.(at);
    const base = comparer ? set.base!(at) : null;
    if (!comparer || base === null || !isKnown(now) || !isKnown(base)) {
      this.base!.forget(row);
      for (const column of this.changes) column[row] = Number.NaN;
      this.unsafe[row] = comparer === undefined ? null : NOT_COMPARED.unsafe;
      return;
    }
    this.base!.set(row, base, set.known);
    this.unsafe[row] = comparer.changes(now, base, this.#scaled);
    const shown = metricsIn(set.known).length;
    for (let at = 0; at < CHANGES; at++) {
      this.changes[at]![row] = at % RATIOS < shown ? this.#scaled[at]! / SCALES[at]! : Number.NaN;
    }
  }
}
