import * as duckdb from '@duckdb/node-api';
import type { Host } from '../host.ts';

/** One database for all processes, because opening one takes longer than most runs. Processes share nothing in it. */
let shared: Promise<duckdb.DuckDBInstance> | undefined;

async function open(): Promise<duckdb.DuckDBInstance> {
  const database = await duckdb.DuckDBInstance.create(':memory:', { threads: '1', preserve_insertion_order: 'false' });
  const connection = await database.connect();
  await connection.run("set global TimeZone = 'UTC'");
  connection.closeSync();
  return database;
}

type Method = (...given: never[]) => unknown;

/** The package of DuckDB of a process: real queries, which end at simulated instants. */
export function duckdbOf(process: Host) {
  const { simulation } = process;
  const run = <T>(label: string, effect: () => Promise<T>): Promise<T> =>
    simulation.operation(process, label, effect, [0.2, 20]);
  /** Methods that wait, on something whose other methods are called as they are. */
  const waiting = <T extends object>(
    of: T,
    label: string,
    methods: Readonly<Record<string, (result: never) => unknown>>,
  ): T =>
    new Proxy(of, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const wrap = methods[name as string];
        if (wrap === undefined) return (value as Method).bind(target);
        return async (...given: never[]) =>
          wrap((await run(`${label}.${String(name)}`, async () => (value as Method).apply(target, given))) as never);
      },
    });
  const asIs = (result: never): unknown => result;
  const prepared = (statement: duckdb.DuckDBPreparedStatement): unknown =>
    waiting(statement, 'prepared', { run: asIs });
  const connected = (connection: duckdb.DuckDBConnection): unknown => {
    const wrapped = waiting(connection, 'duckdb', {
      run: asIs,
      prepare: prepared as (result: never) => unknown,
      createAppender: asIs,
    });
    return new Proxy(wrapped, {
      get: (target, name) => {
        // What a process may read and how much memory it takes are settings of a database that is shared here.
        if (name === 'run') {
          return (text: string, ...given: never[]) =>
            text.startsWith('set ')
              ? Promise.resolve({ rowsChanged: 0 })
              : (target.run as Method).call(target, text as never, ...given);
        }
        if (name !== 'closeSync') return Reflect.get(target, name) as unknown;
        return () => {
          process.connections.delete(connection);
          connection.closeSync();
        };
      },
    });
  };
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
