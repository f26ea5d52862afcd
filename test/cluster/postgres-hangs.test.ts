// While PostgreSQL hangs, requests get 503 in time, and the service recovers by itself.
import t from 'tap';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { logOf, run, start, startServer, until } from '../process.ts';
import { facts, PROJECT, type Tables, WORKSPACE, writeSnapshot } from '../world.ts';
import { query } from './databases.ts';
import { makeCluster, skip as skipCluster } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { hasPostgres, Postgres } from './servers/postgres.ts';

const skip = skipCluster || (hasPostgres ? false : 'there is no PostgreSQL to start');
const SITE = '/projects/Proj1/site?from=2026-03-01&to=2026-03-01';
const siteOf = (clicks: number): Tables => ({
  site_daily: facts('date device', ['2026-03-01', 'mobile', clicks, 100, 900]),
});
const AWAY = { error: { code: 'unavailable', message: 'The service cannot reach its catalog right now.' } };

t.test('while PostgreSQL hangs, answers are 503; then all goes on by itself', { skip }, async (t) => {
  const postgres = await Postgres.start('pass-word-of-tests');
  t.teardown(() => postgres.remove());
  const { node, catalogUrl } = await makeCluster(t, { server: postgres.url });
  const proxy = await FaultyProxy.start(t, process.env['ORDINATE_TEST_S3']!);
  const settings = node();
  const load = (clicks: number) => {
    const folder = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], ...siteOf(clicks) });
    return start(t, { ...settings, ORDINATE_STORAGE_ENDPOINT: proxy.url }, 'load', folder, '--accept-implausible');
  };
  t.match(await load(1).ended, { code: 0 });
  const made = await run(t, settings, 'keys', 'create', '--workspace', 'acme', '--name', 'test', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  const server = await startServer(t, settings);
  const cached = await startServer(t, { ...settings, ORDINATE_CACHE: '64MB' });
  const clicks = async (): Promise<number | undefined> => {
    const { status, body } = await server.get(SITE, key);
    return status === 200 ? (body as { totals: { clicks: number } }).totals.clicks : undefined;
  };
  t.equal(await clicks(), 1);
  t.match(await cached.get(SITE, key), { status: 200 });

  const leases = openLeases({ dataFolder: '', catalogUrl });
  const lease = (await leases.acquire('a'))!;
  proxy.fault = (method) => (method === 'PUT' ? 'held' : undefined);
  const loading = load(2);
  await until('a held request', () => (proxy.held > 0 ? true : undefined));
  postgres.pause();
  proxy.fault = () => undefined;
  proxy.release();
  const started = performance.now();
  const [ready, ...answers] = await Promise.all([
    fetch(`${server.address}/readyz`),
    ...[server, server, server, cached].map(({ get }) => get(SITE, key)),
    fetch(`${server.address}/livez`).then(({ status }) => t.equal(status, 200, 'the process itself is well')),
  ]);
  t.comment(`503 after ${Math.round(performance.now() - started)} ms`);
  for (const answer of answers.slice(0, 4)) {
    t.match(answer, { status: 503, headers: { 'retry-after': /\d/ }, body: AWAY });
  }
  t.equal(ready.status, 503);
  t.match(await ready.json(), {
    error: { message: 'The service is not ready: its catalog does not answer.' },
    components: { catalog: 'away', engine: 'ok', files: 'unknown' },
  });
  await lease.release();
  t.pass('a job does not wait at its end');
  // A new process cannot begin, and says why.
  t.match(await run(t, settings, 'workspaces', 'list'), { code: 1, stderr: /cannot be reached \(.*time/ });

  postgres.resume();
  await until('an answer', clicks);
  t.equal((await fetch(`${server.address}/readyz`)).status, 200);
  await (await until('the lease', () => leases.acquire('a'))).release();
  const { code, stderr } = await loading.ended;
  t.comment(`the load ended with ${code}: ${stderr}`);
  t.equal(await clicks(), code === 0 ? 2 : 1);
  if (code !== 0) t.match(stderr, /The catalog, the database/);
  t.match(await load(3).ended, { code: 0 });
  t.equal(await clicks(), 3);
  t.match(await run(t, settings, 'verify'), { code: 0 });
  await until('no connection that waits', async () => {
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in%'";
    return (await query(catalogUrl, waiting)).length === 0 || undefined;
  });
  t.notMatch(await logOf(server), /"level":(?:50|60)/);
});
