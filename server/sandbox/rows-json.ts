import {
  DuckDBArrayValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  type DuckDBMaterializedResult,
  DuckDBStructValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { RefusedStatement } from './check-statement.ts';

/** Bytes after which a part of the rows is encoded. */
const PART = 65_536;

interface RowsJson {
  readonly columns: { readonly name: string; readonly type: string }[];
  /** A JSON array of objects. */
  readonly rows: readonly Buffer[];
  readonly count: number;
  /** Whether rows were left out. */
  readonly isCut: boolean;
}

/** Rows as JSON, at most `limit` of them and `maxBytes`. Whole numbers that are too large to be exact are an error. */
export function rowsJson(result: DuckDBMaterializedResult, limit: number, maxBytes: number): RowsJson {
  const names = result.columnNames();
  const columns = names.map((name, index) => ({ name, type: String(result.columnType(index)) }));
  const keys = names.map((name) => `${JSON.stringify(name)}:`);
  const rows: Buffer[] = [];
  let text = '[';
  let count = 0;
  let bytes = 0;
  for (let at = 0; at < result.chunkCount; at++) {
    const chunk = result.getChunk(at);
    const values = names.map((_, index) => chunk.getColumnValues(index));
    for (let row = 0; row < chunk.rowCount; row++) {
      const line = `{${keys.map((key, index) => key + JSON.stringify(jsonOf(values[index]![row]!, names[index]!))).join(',')}}`;
      bytes += Buffer.byteLength(line) + 1;
      if (count === limit || bytes > maxBytes) {
        rows.push(Buffer.from(`${text}]`));
        return { columns, rows, count, isCut: true };
      }
      text += (count === 0 ? '' : ',') + line;
      count += 1;
      if (text.length > PART) {
        rows.push(Buffer.from(text));
        text = '';
      }
    }
  }
  rows.push(Buffer.from(`${text}]`));
  return { columns, rows, count, isCut: false };
}

/** Dates and times are texts as DuckDB writes them; numbers that are not finite are null. */
function jsonOf(value: DuckDBValue, column: string): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    throw new RefusedStatement(
      `'${column}' has ${value}, which is too large to be exact in JSON; cast it to VARCHAR or DOUBLE.`,
    );
  }
  if (value instanceof DuckDBDecimalValue) return Number(value.toString());
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return value.items.map((item) => jsonOf(item, column));
  if (value instanceof DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, item]) => [name, jsonOf(item, column)]));
  }
  if (value instanceof DuckDBMapValue) {
    return value.entries.map(({ key, value: item }) => ({ key: jsonOf(key, column), value: jsonOf(item, column) }));
  }
  return String(value);
}
