/** What a cell holds. Ratios are rounded as in JSON; days are `YYYY-MM-DD`; instants are ISO 8601 in UTC; ids are joined by spaces. */
type CellType = 'text' | 'ids' | 'day' | 'instant' | 'count' | 'ratio' | 'boolean';

type Cell = string | number | boolean | null;

export interface Column {
  /** As in the JSON of the answer, without the objects around it. */
  readonly name: string;
  readonly type: CellType;
}

/** Some of the rows of an answer. Cells are read by column, so that no format needs an object for each row. */
export interface Batch {
  readonly length: number;
  /** The cell of a row (counted from 0 in the batch) in each column. */
  readonly cells: readonly ((row: number) => Cell)[];
}

/** An answer as flat rows. Batches are made one at a time, when they are asked for. */
export interface Rows {
  readonly columns: readonly Column[];
  readonly batches: Iterable<Batch> | AsyncIterable<Batch>;
}

/** Writes flat rows, some kilobytes at a time. */
export interface RowFormat {
  readonly contentType: string;
  readonly write: (rows: Rows) => AsyncGenerator<Buffer, void>;
}
