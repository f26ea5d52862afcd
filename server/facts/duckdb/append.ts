import type { DuckDBAppender } from '@duckdb/node-api';

/** As many as DuckDB takes at a time. */
export const ROWS_PER_CHUNK = 2048;

export type NumberOrText = number | string | null;

/** Some rows: a cell by its row in each column. */
export interface ColumnBatch {
  readonly length: number;
  readonly cells: readonly ((row: number) => NumberOrText)[];
}

/** A value of an appended row. */
type Appended = string | boolean | number | null;
/** Some rows. */
export type Batch = Iterable<readonly Appended[]>;

/** Appends a row to a table. */
export function appendRow(appender: DuckDBAppender, row: readonly Appended[]): void {
  for (const value of row) {
    if (value === null) appender.appendNull();
    else if (typeof value === 'boolean') appender.appendBoolean(value);
    else if (typeof value === 'number') appender.appendBigInt(BigInt(value));
    else appender.appendVarchar(value);
  }
  appender.endRow();
}
