import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Row } from './world.ts';

let instance: Promise<DuckDBInstance> | undefined;

/** Runs one statement in a separate DuckDB; rows are JSON values. */
export async function duckdb(statement: string): Promise<Row[]> {
  instance ??= DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await (await instance).connect();
  try {
    return (await connection.runAndReadAll(statement)).getRowObjectsJson();
  } finally {
    connection.closeSync();
  }
}

/** A text as a SQL literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Writes the rows of a SELECT as a Parquet file. */
export async function writeParquet(file: string, select: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  await duckdb(`copy (${select}) to ${quoted(file)} (format parquet)`);
}

/**
 * Writes rows as a Parquet file with the types that DuckDB infers: days are DATE, times TIMESTAMP, lists LIST and objects
 * STRUCT. `columns`: SQL types of columns that should have another type.
 */
export async function writeParquetRows(
  file: string,
  rows: readonly Row[],
  columns: Readonly<Record<string, string>> = {},
): Promise<void> {
  const json = `${file}.source`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(json, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const casts = Object.entries(columns).map(([name, type]) => `"${name}"::${type} as "${name}"`);
  const replaced = casts.length === 0 ? '' : ` replace (${casts.join(', ')})`;
  const source = `read_json(${quoted(json)}, format = 'newline_delimited', sample_size = -1, hive_partitioning = false)`;
  await writeParquet(file, `select *${replaced} from ${source}`);
  rmSync(json);
}
