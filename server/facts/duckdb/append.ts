import type { DuckDBAppender } from '@duckdb/node-api';

/** A value of an appended row. */
type Appended = string | boolean | number | null;
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
