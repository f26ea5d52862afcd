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

/** Columns of a format without exact types, and the indices of their cells. */
export function plainColumns(columns: readonly Column[]): { column: Column; index: number }[] {
  return columns.map((column, index) => ({ column, index })).filter(({ column }) => column.columnarOnly !== true);
}
