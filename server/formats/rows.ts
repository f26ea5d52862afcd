import type { Metrics } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { Quality } from '../reports/quality.ts';

/**
 * The type of a column. Ratios are rounded as in JSON; a share is a sum that need not be a whole number; days are
 * `YYYY-MM-DD`; instants are ISO 8601 in UTC; ids are lists.
 */
type CellType = 'text' | 'ids' | 'day' | 'instant' | 'count' | 'ratio' | 'share' | 'boolean';

export type Cell = string | number | boolean | readonly string[] | null;

export interface Column {
  /** As in the JSON answer, with the names of enclosing objects before it (`group_id`). */
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
 * Some of the rows of an answer. Cells are read by column, so that no format needs an object for each row. They may change
 * when the next batch is made.
 */
export interface Batch {
  readonly length: number;
  /** Of each column. */
  readonly cells: readonly Cells[];
}

export function cellReader(cells: Cells): ReadCell {
  if (typeof cells === 'function') return cells;
  return (row) => {
    const value = cells[row]!;
    return Number.isNaN(value) ? null : value;
  };
}

/** An answer as flat rows. Batches are made one at a time, on demand. */
export interface Rows {
  readonly columns: readonly Column[];
  readonly batches: Iterable<Batch> | AsyncIterable<Batch>;
}

/** The properties of an answer with flat rows, besides the rows. */
export interface RowsHead {
  /** File name without its ending. */
  readonly name: string;
  /** Number of rows on all pages; for keywords with days, the number of keywords. */
  readonly total: number;
  readonly range?: Range & { readonly provisionalAfter?: string | null; readonly comparison?: Range };
  /** Only where it was asked for. */
  readonly quality?: Quality;
}

/** A whole answer of flat rows. */
export type RowsAnswer = Rows & { readonly head: RowsHead };

export interface RowOptions {
  /** Whether CSV begins with a byte order mark: without one, some spreadsheets do not recognise UTF-8. */
  readonly bom: boolean;
  /** The quality of the data as JSON, for formats that can say more than rows. */
  readonly quality?: string | undefined;
}

/** Writes flat rows in chunks of some kilobytes. */
export interface RowFormat {
  readonly contentType: string;
  readonly write: (rows: Rows, options: RowOptions) => AsyncGenerator<Buffer, void>;
}

/** Columns of a metrics object. */
export const METRICS: readonly Column[] = [
  { name: 'clicks', type: 'count' },
  { name: 'impressions', type: 'count' },
  { name: 'ctr', type: 'ratio' },
  { name: 'position', type: 'ratio' },
];

/** Reads the cells of `METRICS`. */
export function metricReaders<Row>(of: (row: Row) => Metrics): ((row: Row) => Cell)[] {
  return [(row) => of(row).clicks, (row) => of(row).impressions, (row) => of(row).ctr, (row) => of(row).position];
}

/** The sum behind `position`; with a fraction where a month was spread over its days. */
export function sumPositionColumn(isSpread = false): Column {
  return { name: 'sum_position', type: isSpread ? 'share' : 'count', columnarOnly: true };
}

/** Makes one batch of existing rows, with a reader for each column. */
export function batchOf<Row>(rows: readonly Row[], readers: readonly ((row: Row) => Cell)[]): Batch {
  return { length: rows.length, cells: readers.map((read) => (row) => read(rows[row]!)) };
}

/** Columns of a format without exact types, and where their cells are. */
export function plainColumns(columns: readonly Column[]): { column: Column; index: number }[] {
  return columns.map((column, index) => ({ column, index })).filter(({ column }) => column.columnarOnly !== true);
}
