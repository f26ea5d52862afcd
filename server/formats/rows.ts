import { type Compared, METRIC_NAMES, type NotCompared } from '../domain/comparison.ts';
import { type ExactMeasures, hasPosition, type Metrics } from '../domain/metrics.ts';
import type { Quality, Remainder } from '../domain/quality.ts';
import type { Range } from '../domain/range.ts';

/**
 * The type of a column. Ratios are rounded as in JSON; a share is a sum that need not be a whole number; days are
 * `YYYY-MM-DD`; instants are ISO 8601 in UTC; ids are lists.
 */
type CellType = 'text' | 'ids' | 'day' | 'instant' | 'count' | 'ratio' | 'share' | 'boolean';

export type Cell = string | number | boolean | readonly string[] | null;

export interface Column {
  /** As in the JSON response, with the names of enclosing objects before it (`group_id`). */
  readonly name: string;
  readonly type: CellType;
  /** Only formats with exact types have the column. */
  readonly columnarOnly?: boolean;
}

export type ReadCell = (row: number) => Cell;

/**
 * The cells of a column, by row, counted from 0 in the batch. Numbers may be an array, with NaN for null: a function would
 * allocate memory for each fraction that it returns.
 */
export type Cells = ReadCell | Float64Array;

/**
 * A batch of rows. Cells are read by column, so that no format needs an object for each row. The next batch may
 * overwrite them.
 */
export interface Batch {
  readonly length: number;
  /** The cells of each column. */
  readonly cells: readonly Cells[];
}

export function cellReader(cells: Cells): ReadCell {
  if (typeof cells === 'function') return cells;
  return (row) => {
    const value = cells[row]!;
    return Number.isNaN(value) ? null : value;
  };
}

/** A result as flat rows. Batches are made one at a time, on demand. */
export interface Rows {
  readonly columns: readonly Column[];
  readonly batches: Iterable<Batch> | AsyncIterable<Batch>;
}

/** The properties of a result with flat rows, besides the rows. */
export interface RowsHead {
  /** File name without its ending. */
  readonly name: string;
  /** Number of rows on all pages; for keywords with days, the number of keywords. */
  readonly total: number;
  readonly range?: Range & { readonly provisionalAfter?: string | null; readonly comparison?: Range };
  /** Only if requested. */
  readonly quality?: Quality;
  /** Only of questions. */
  readonly remainder?: Remainder;
}

/** A whole result as flat rows. */
export type RowsAnswer = Rows & { readonly head: RowsHead };

export interface RowOptions {
  /** Whether CSV begins with a byte order mark: without one, some spreadsheets do not recognise UTF-8. */
  readonly bom: boolean;
  /** Texts by name, for formats with metadata. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Writes flat rows in chunks of some kilobytes. */
export interface RowFormat {
  /** What a client must know about it, for the documentation. */
  readonly description: string;
  readonly isText: boolean;
  readonly write: (rows: Rows, options: RowOptions) => AsyncGenerator<Buffer, void>;
}

/** The number of days of a week or month. */
export const DAY_COUNT: Column = { name: 'days', type: 'count' };

/** Columns of a metrics object. */
export const METRICS: readonly Column[] = [
  { name: 'clicks', type: 'count' },
  { name: 'impressions', type: 'count' },
  { name: 'ctr', type: 'ratio' },
  { name: 'position', type: 'ratio' },
];

/** Reads the cells of `METRICS`, null for unknown ones. */
export function metricReaders<Row>(
  of: (row: Row) => Readonly<Record<keyof Metrics, number | null>>,
): ((row: Row) => Cell)[] {
  return [(row) => of(row).clicks, (row) => of(row).impressions, (row) => of(row).ctr, (row) => of(row).position];
}

/** The sum behind `position`; with a fraction if a month was spread over its days. */
export function sumPositionColumn(isSpread = false): Column {
  return { name: 'sum_position', type: isSpread ? 'share' : 'count', columnarOnly: true };
}

/** Makes one batch of existing rows, with a reader for each column. */
export function batchOf<Row>(rows: readonly Row[], readers: readonly ((row: Row) => Cell)[]): Batch {
  return { length: rows.length, cells: readers.map((read) => (row) => read(rows[row]!)) };
}

/** Columns of a format without exact types, and the indices of their cells. */
export function plainColumns(columns: readonly Column[]): { column: Column; index: number }[] {
  return columns.map((column, index) => ({ column, index })).filter(({ column }) => column.columnarOnly !== true);
}

/** A row with its comparison. */
export interface ComparedRow {
  /** The sums of the other range; null if positions are unknown, or it has no such days. */
  readonly base: ExactMeasures | null;
  readonly compared: Compared | NotCompared | null;
}

/** The columns of a comparison and their readers; empty without one. */
export interface ComparedColumns<Row> {
  readonly columns: readonly Column[];
  readonly readers: readonly ((row: Row) => Cell)[];
}

const NAMES: readonly Column[] = [
  ...METRICS.map(({ name, type }) => ({ name: `comparison_${name}`, type })),
  ...METRIC_NAMES.flatMap((name): Column[] => [
    { name: `change_${name}`, type: name === 'clicks' || name === 'impressions' ? 'count' : 'ratio' },
    { name: `changeRatio_${name}`, type: 'ratio' },
  ]),
  ...METRIC_NAMES.map((name): Column => ({ name: `unsafe_${name}`, type: 'ids' })),
];

/**
 * The columns of a comparison.
 * @param isCompared whether there is one
 * @param isSpread whether a month was spread over its days
 */
export function comparedColumns<Row>(
  of: (row: Row) => ComparedRow,
  { isCompared, isSpread = false }: { readonly isCompared: boolean; readonly isSpread?: boolean },
): ComparedColumns<Row> {
  if (!isCompared) return { columns: [], readers: [] };
  const read =
    (cell: (compared: Compared | NotCompared) => Cell) =>
    (row: Row): Cell => {
      const { compared } = of(row);
      return compared && cell(compared);
    };
  return {
    columns: [...NAMES, { ...sumPositionColumn(isSpread), name: 'comparison_sum_position' }],
    readers: [
      ...METRIC_NAMES.map((name) => read(({ comparison }) => comparison?.[name] ?? null)),
      ...METRIC_NAMES.flatMap((name) => [
        read(({ change }) => change?.[name].difference ?? null),
        read(({ change }) => change?.[name].ratio ?? null),
      ]),
      ...METRIC_NAMES.map((name) => read(({ unsafe }) => unsafe[name] ?? [])),
      (row) => {
        const { base } = of(row);
        return base && exactSum(base);
      },
    ],
  };
}

/** The position sum, rounded to a double; null if it is unknown. */
export function exactSum({ sumPosition, fraction }: ExactMeasures): number | null {
  if (!hasPosition({ sumPosition })) return null;
  return fraction === undefined ? sumPosition : sumPosition + Number(fraction.numerator) / Number(fraction.denominator);
}
