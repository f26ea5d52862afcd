import { DuckDBInstance } from '@duckdb/node-api';

/** Rows of statements over a bulk export, a Parquet file of the table by URL. */
export async function readExport<Row>(path: string, ...statements: readonly string[]): Promise<Row[][]> {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const answers: Row[][] = [];
  for (const text of statements) answers.push((await connection.runAndReadAll(text, { path })).getRows() as Row[]);
  connection.closeSync();
  return answers;
}
