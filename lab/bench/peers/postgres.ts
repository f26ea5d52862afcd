import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Engine } from '../../../server/facts/duckdb/engine.ts';
import { sqlText } from '../../../server/runtime/sql.ts';
import { type Sample, timed } from '../rounds.ts';
import { LAST_DAY } from '../snapshots.ts';
import { stampOf } from '../stamp.ts';
import { optionalPackage } from './optional.ts';
import type { Peer, PeerSource } from './peer.ts';

/** The part of the package pg that the benchmark uses. */
interface Pg {
  readonly Client: new (options: { connectionString: string }) => PgClient;
}

interface PgClient {
  connect(): Promise<unknown>;
  query(text: string | { name: string; text: string; values: readonly string[] }): Promise<{ rows: unknown[] }>;
  end(): Promise<unknown>;
}

/** PostgreSQL with its best index over a copy of the plain daily file; undefined if its client is not installed. */
export async function openPostgres(engine: Engine, url: string, source: PeerSource): Promise<Peer | undefined> {
  const pg = optionalPackage('pg') as Pg | undefined;
  if (pg === undefined) {
    source.report('PostgreSQL is left out; install its client with: npm install --no-save pg');
    return undefined;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // As a tuned database would have: enough memory for the sums, and both processors.
  await client.query("set work_mem = '64MB'");
  await client.query('set max_parallel_workers_per_gather = 2');
  const stamp = stampOf({ stamp: source.stamp }, ['sql/bench/postgres/*.sql']);
  if ((await readComment(client)) !== stamp) {
    source.report('copying the large project into PostgreSQL');
    await client.query('drop table if exists ordinate_bench');
    await client.query(sqlText('bench/postgres/table'));
    await copyIn(engine, url, source);
    await client.query(sqlText('bench/postgres/index'));
    await client.query('vacuum analyze ordinate_bench');
    await client.query(`comment on table ordinate_bench is '${stamp}'`);
  }
  const totals = (from: string, to: string): Promise<Sample> =>
    timed(() => client.query({ name: 'totals', text: sqlText('bench/postgres/totals'), values: [from, to] }));
  await chooseScan(client, totals);
  return {
    name: 'postgres',
    totals,
    close: async () => {
      await client.end();
    },
  };
}

/** The planner estimates whether to read the table or the index; the benchmark uses the faster one. */
async function chooseScan(client: PgClient, totals: (from: string, to: string) => Promise<Sample>): Promise<void> {
  const best: Record<string, number> = { on: Number.POSITIVE_INFINITY, off: Number.POSITIVE_INFINITY };
  for (const scan of ['on', 'off', 'on', 'off', 'on', 'off']) {
    await client.query(`set enable_seqscan = ${scan}`);
    // Drops the cached plan.
    await client.query('discard plans');
    best[scan] = Math.min(best[scan]!, (await totals('2000-01-01', LAST_DAY)).ms);
  }
  await client.query(`set enable_seqscan = ${best['off']! < best['on']! ? 'off' : 'on'}`);
  await client.query('discard plans');
}

/** The comment on the table identifies the rows in it. */
async function readComment(client: PgClient): Promise<string | undefined> {
  const { rows } = await client.query("select obj_description(to_regclass('ordinate_bench')) as comment");
  return (rows[0] as { comment: string | null }).comment ?? undefined;
}

/** Uses `psql`, which comes with every PostgreSQL: the client package cannot send a file. */
async function copyIn(engine: Engine, url: string, { folder, file }: PeerSource): Promise<void> {
  const csv = join(folder, 'postgres.csv');
  {
    using session = await engine.session();
    await session.runFile('bench/rows_as_csv', { source: file, target: csv });
  }
  const psql = spawn('psql', [url, '--quiet', '--set=ON_ERROR_STOP=1', '--command', sqlText('bench/postgres/copy')], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const exited = once(psql, 'exit');
  await pipeline(createReadStream(csv), psql.stdin);
  const [code] = (await exited) as [number | null];
  if (code !== 0) throw new Error('psql could not copy the rows into PostgreSQL.');
  rmSync(csv);
}
