import * as duckdb from '@duckdb/node-api';
import type { Host } from '../host.ts';
import { withParts } from './parts.ts';

/** One database for all processes, because opening one takes longer than most runs. Processes share nothing in it. */
let shared: Promise<duckdb.DuckDBInstance> | undefined;

async function open(): Promise<duckdb.DuckDBInstance> {
  const database = await duckdb.DuckDBInstance.create(':memory:', { threads: '1', preserve_insertion_order: 'false' });
  const connection = await database.connect();
  await connection.run("set global TimeZone = 'UTC'");
  connection.closeSync();
  return database;
}

type Method = (...given: unknown[]) => Promise<unknown>;

/** The package of DuckDB of a process: real queries, which end at simulated instants. */
export function duckdbOf(process: Host) {
  const { simulation } = process;
  const run = <T>(label: string, effect: () => Promise<T>): Promise<T> =>
    simulation.operation(process, label, effect, [0.2, 20]);
  const waits =
    (label: string) =>
    (real: Method): Method =>
    (...given) =>
      run(label, () => real(...given));
  const connected = (connection: duckdb.DuckDBConnection) =>
    withParts(connection, {
      // What a process may read and how much memory it takes are settings of a database that is shared here.
      run: (real: Method): Method => {
        const waiting = waits('duckdb.run')(real);
        return (text, ...given) =>
          String(text).startsWith('set ') ? Promise.resolve({ rowsChanged: 0 }) : waiting(text, ...given);
      },
      prepare: (real: Method): Method => {
        const waiting = waits('duckdb.prepare')(real);
        return async (text) =>
          withParts((await waiting(text)) as duckdb.DuckDBPreparedStatement, { run: waits('prepared.run') });
      },
      createAppender: waits('duckdb.createAppender'),
      closeSync: (real: () => void) => () => {
        process.connections.delete(connection);
        real();
      },
    });
  return {
    ...duckdb,
    DuckDBInstance: {
      create: () =>
        run('duckdb.create', async () => {
          shared ??= open();
          const database = await shared;
          return {
            connect: async () => {
              const connection = await run('duckdb.connect', async () => {
                const opened = await database.connect();
                process.connections.add(opened);
                return opened;
              });
              return connected(connection);
            },
            closeSync: () => {},
          };
        }),
    },
  };
}
