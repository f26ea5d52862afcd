import { Engine, type Parameters } from '../../server/facts/duckdb/engine.ts';
import { sqlText } from '../../server/runtime/sql.ts';
import { startBareRoute } from './bare-route.ts';
import { Connection } from './connection.ts';
import { type Sample, timed } from './rounds.ts';

/** DuckDB as a user would run it: all processors, enough memory, limited to its folder only. */
export function openEngine(folder: string, threads: number): Promise<Engine> {
  return Engine.open({ memoryLimit: '4GB', threads, temporaryFolder: `${folder}/memory`, folders: [folder] });
}

/** Times a query until DuckDB has its result in memory; no row is converted to JavaScript. */
export async function timeQuery(engine: Engine, name: string, parameters: Parameters): Promise<Sample> {
  using session = await engine.session();
  return await timed(() => session.runFile(`bench/${name}`, parameters));
}

/** Times a query until every row is a JavaScript object. */
export async function timeRows(engine: Engine, name: string, parameters: Parameters): Promise<Sample> {
  using session = await engine.session();
  return await timed(() => session.rows(sqlText(`bench/${name}`), parameters));
}

/** The least that any server needs for an answer: writing JSON, and sending its bytes. */
export interface AnswerBaselines {
  readonly stringify: () => Promise<Sample>;
  readonly bare: () => Promise<Sample>;
  close(): Promise<void>;
}

/** @param part the part of the answer to write as JSON; `body`, all of it, is sent */
export async function answerBaselines(folder: string, body: Buffer, part: unknown): Promise<AnswerBaselines> {
  const route = await startBareRoute(folder, body);
  const connection = await Connection.open(route.address);
  return {
    stringify: () => timed(() => JSON.stringify(part)),
    bare: () => connection.get('/'),
    close: async () => {
      connection.close();
      await route.stop();
    },
  };
}
