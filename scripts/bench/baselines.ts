import { Engine, type Parameters } from '../../server/facts/duckdb/engine.ts';
import { sqlText } from '../../server/runtime/sql.ts';
import { startBareRoute } from './bare-route.ts';
import { Connection } from './connection.ts';
import { type Sample, timed } from './rounds.ts';

/** A DuckDB as a user would run it: all processors, room enough, no limits but the folder. */
export function openEngine(folder: string, threads: number): Promise<Engine> {
  return Engine.open({ memoryLimit: '4GB', threads, temporaryFolder: `${folder}/memory`, folders: [folder] });
}

/** Times a query until its result stands in this process as DuckDB has it; nothing is made into JavaScript. */
export async function timeQuery(engine: Engine, name: string, parameters: Parameters): Promise<Sample> {
  using session = await engine.session();
  return await timed(() => session.runFile(`bench/${name}`, parameters));
}

/** Times a query until every row is an object. */
export async function timeRows(engine: Engine, name: string, parameters: Parameters): Promise<Sample> {
  using session = await engine.session();
  return await timed(() => session.rows(sqlText(`bench/${name}`), parameters));
}

/** What costs no less for anyone: writing the answer as JSON, and sending its bytes. */
export interface AnswerFloors {
  readonly stringify: () => Promise<Sample>;
  readonly bare: () => Promise<Sample>;
  close(): Promise<void>;
}

/** `part` of the answer is what is written as JSON; all of it is sent. */
export async function answerFloors(folder: string, body: Buffer, part: unknown): Promise<AnswerFloors> {
  const route = await startBareRoute(folder, body);
  const connection = await Connection.open(route.address);
  return {
    stringify: () => timed(() => JSON.stringify(part)),
    bare: () => connection.ask('/'),
    close: async () => {
      connection.close();
      await route.stop();
    },
  };
}
