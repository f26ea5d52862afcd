import { type DuckDBAppender, type DuckDBType, type DuckDBValue, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import type { FactsValues } from '../reader.ts';

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

/** Lists carry their type: the driver cannot guess that of an empty one. */
export function bind(parameters: FactsValues): {
  values: Record<string, DuckDBValue>;
  types: Record<string, DuckDBType>;
} {
  const values: Record<string, DuckDBValue> = {};
  const types: Record<string, DuckDBType> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'object' && value !== null) {
      values[name] = listValue(value);
      types[name] = LIST(VARCHAR);
    } else {
      values[name] = value;
    }
  }
  return { values, types };
}
