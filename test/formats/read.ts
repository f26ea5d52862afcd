import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataType, tableFromIPC, type Vector } from 'apache-arrow';
import { duckdb, quoted } from '../parquet.ts';

// Readers of each format that have nothing to do with its writer. Rows come back as plain JSON values.

type PlainRow = Record<string, unknown>;

/** The fields of CSV by line. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quotedField, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy)) {
    if (end === '' && plain === '' && quotedField === undefined) break;
    lines.at(-1)!.push(quotedField === undefined ? plain : quotedField.replaceAll('""', '"'));
    if (end === '\r\n') lines.push([]);
  }
  return lines.slice(0, -1);
}

/** Columns whose numbers have a decimal point in CSV and NDJSON, whole ones too. */
export const AVERAGE = /^(?!parts_)(.*_)?(ctr|position|anonymousClicksShare)$|^changeRatio_|_queryCoverage_|^position_/;

/** A number of a column as CSV has it. */
export function numberText(column: string, value: number): string {
  return AVERAGE.test(column) && Number.isInteger(value) ? `${value}.0` : String(value);
}

export function parseNdjson(text: string): PlainRow[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as PlainRow);
}

/** Rows of an Arrow stream, and the type of each column. */
export function readArrow(bytes: Uint8Array): { types: Record<string, string>; rows: PlainRow[] } {
  const table = tableFromIPC(bytes);
  const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
  const rows = Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(
      table.schema.fields.map(({ name, type }) => [name, plain(type, table.getChild(name)!.get(row) as unknown)]),
    ),
  );
  return { types, rows };
}

function plain(type: DataType, value: unknown): unknown {
  if (value === null) return null;
  if (typeof value === 'bigint') return Number(value);
  if (DataType.isDate(type)) return new Date(Number(value)).toISOString().slice(0, 10);
  if (DataType.isTimestamp(type)) return new Date(Number(value)).toISOString();
  return DataType.isList(type) ? [...(value as Vector)] : value;
}

/** The metadata of an Arrow stream's schema. */
export async function arrowMetadata(bytes: Uint8Array): Promise<Record<string, string>> {
  return Object.fromEntries(tableFromIPC(bytes).schema.metadata);
}

/** The metadata of a Parquet file. */
export function parquetMetadata(bytes: Uint8Array): Promise<Record<string, string>> {
  return withFile(bytes, async (file) => {
    const rows = await duckdb(
      `select decode(key) as key, decode(value) as value from parquet_kv_metadata(${quoted(file)})`,
    );
    return Object.fromEntries(rows.map(({ key, value }) => [String(key), String(value)]));
  });
}

/** Rows of a Parquet file, and the type of each column. */
export function readParquet(bytes: Uint8Array): Promise<{ types: Record<string, string>; rows: PlainRow[] }> {
  return withFile(bytes, async (file) => {
    const described = await duckdb(`describe select * from ${quoted(file)}`);
    const types = Object.fromEntries(described.map((row) => [String(row['column_name']), String(row['column_type'])]));
    const rows = await duckdb(`select * from ${quoted(file)}`);
    return { types, rows: rows.map((row) => Object.fromEntries(Object.entries(row).map(fromDuckdb(types)))) };
  });
}

/** The rows of a query over a Parquet file, in which `answer` stands for it. */
export function queryParquet(bytes: Uint8Array, query: string): Promise<PlainRow[]> {
  return withFile(bytes, (file) => duckdb(`with answer as (select * from ${quoted(file)}) ${query}`));
}

/** The number of rows in each group of a Parquet file. */
export function rowGroups(bytes: Uint8Array): Promise<number[]> {
  return withFile(bytes, async (file) => {
    const select = 'distinct row_group_id, row_group_num_rows as rows';
    const groups = await duckdb(`select ${select} from parquet_metadata(${quoted(file)}) order by row_group_id`);
    return groups.map(({ rows }) => Number(rows));
  });
}

/** The smallest and the largest value of each column of a Parquet file, and its nulls, as the index of its first group says. */
export function bounds(bytes: Uint8Array): Promise<Record<string, readonly unknown[]>> {
  return withFile(bytes, async (file) => {
    const columns =
      'path_in_schema as name, stats_min_value as min, stats_max_value as max, stats_null_count::int as nulls';
    const found = await duckdb(`select ${columns} from parquet_metadata(${quoted(file)}) where row_group_id = 0`);
    return Object.fromEntries(found.map(({ name, min, max, nulls }) => [String(name), [min, max, nulls]]));
  });
}

/** The columns of a Parquet file whose pages refer to distinct values, in the first group. */
export function dictionaries(bytes: Uint8Array): Promise<string[]> {
  return withFile(bytes, async (file) => {
    const where = 'row_group_id = 0 and dictionary_page_offset is not null';
    const found = await duckdb(
      `select path_in_schema as name from parquet_metadata(${quoted(file)}) where ${where} order by column_id`,
    );
    return found.map(({ name }) => String(name));
  });
}

async function withFile<T>(bytes: Uint8Array, read: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-test-'));
  try {
    const file = join(folder, 'answer.parquet');
    writeFileSync(file, bytes);
    return await read(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function fromDuckdb(types: Readonly<Record<string, string>>) {
  return ([name, value]: [string, unknown]): [string, unknown] => {
    if (value === null) return [name, null];
    if (types[name] === 'BIGINT') return [name, Number(value)];
    if (/^TIMESTAMP/.test(types[name]!))
      return [name, new Date((value as string).replace(' ', 'T').replace('+00', 'Z')).toISOString()];
    return [name, value];
  };
}
