/** The type of a column. Ratios are rounded as in JSON; days are `YYYY-MM-DD`; instants are ISO 8601 in UTC; ids are joined by spaces. */
type CellType = 'text' | 'ids' | 'day' | 'instant' | 'count' | 'ratio' | 'boolean';

type Cell = string | number | boolean | null;

export interface Column {
  /** As in the JSON answer, without the path of enclosing objects. */
  readonly name: string;
  readonly type: CellType;
}

/** Some of the rows of an answer. Cells are read by column, so that no format needs an object for each row. */
export interface Batch {
  readonly length: number;
  /** The cell of a row (counted from 0 in the batch) in each column. */
  readonly cells: readonly ((row: number) => Cell)[];
}

/** An answer as flat rows. Batches are made one at a time, on demand. */
export interface Rows {
  readonly columns: readonly Column[];
  readonly batches: Iterable<Batch> | AsyncIterable<Batch>;
}

/** Writes flat rows in chunks of some kilobytes. */
export interface RowFormat {
  readonly contentType: string;
  readonly write: (rows: Rows) => AsyncGenerator<Buffer, void>;
}
