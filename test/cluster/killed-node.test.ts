// A node killed during a load loses no data and does not block the other nodes.
import t, { type Test } from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { sweepBetweenLoads } from '../../server/load/sweep-between-loads.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { run, type Server, start, startServer, until } from '../process.ts';
import { facts, ONE_THREAD, type Tables, writeSnapshot } from '../world.ts';
import { query } from './databases.ts';
import { makeCluster, namedKeys, skip } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';

/** Longer than what was sent to the object store may be on its way, in milliseconds. */
const LATER = 4_000_000;
const RANGE = 'from=2025-12-01&to=2026-03-10';
const ASKED = ['site', 'keywords', 'pages', 'queries', 'breakdowns'].map((what) => `/projects/Proj1/${what}?${RANGE}`);

const siteOf = (clicks: number): Tables => ({
  site_daily: facts('date device', ['2026-03-09', 'mobile', clicks, 100, 900]),
});
const { workspaces: _, projects: __, ...onlyFacts } = EVERYTHING;

async function answers({ get }: Server, key: string): Promise<unknown[]> {
  const all = await Promise.all(ASKED.map((path) => get(path, key)));
  return all.map(({ status, body }) => ({ status, body }));
}

async function loadOn(t: Test, node: NodeJS.ProcessEnv, tables: Tables): Promise<void> {
  const { code, stderr } = await run(t, node, 'load', writeSnapshot(t, tables), '--accept-implausible');
  if (code !== 0) throw new Error(stderr);
}

t.test('a node that is killed in the middle of a load', { skip }, async (t) => {
  const { bucket, catalogUrl, node } = await makeCluster(t);
  const proxy = await FaultyProxy.start(t, process.env['ORDINATE_TEST_S3']!);
  const [one, two] = [node({ ORDINATE_STORAGE_ENDPOINT: proxy.url }), node()];
  await loadOn(t, two, EVERYTHING);
  const made = await run(t, two, 'keys', 'create', '--workspace', 'acme', '--name', 'test', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  const other = await startServer(t, two);
  const settings = readSettings({ ...ONE_THREAD, ...two });
  await using catalog = await openCatalog(settings);
  const sweep = (now: number) => sweepBetweenLoads({ settings, catalog }, now, new AbortController().signal);

  // Replaced lists have a sweep of their own.
  const areFacts = (keys: readonly string[]): string[] => keys.filter((key) => key.includes('/facts/'));
  const storedFacts = async () => areFacts(await bucket.keys());
  const namedFacts = async () => areFacts(await namedKeys(catalog));

  for (const [round, { stored, tables }] of [
    { stored: 0, tables: { ...EVERYTHING, ...siteOf(1000) } },
    { stored: 4, tables: { ...EVERYTHING, ...siteOf(1000) } },
    { stored: 2, tables: { ...onlyFacts, ...siteOf(1000) } },
  ].entries()) {
    const before = await answers(other, key);
    for (const answer of before) t.match(answer, { status: 200 });
    let puts = 0;
    proxy.fault = (method) => (method === 'PUT' && puts++ >= stored ? 'held' : undefined);
    const killed = await startServer(t, one);
    const load = start(t, one, 'load', writeSnapshot(t, tables), '--accept-implausible');
    await until('a held request', () => (proxy.held > 0 ? true : undefined));
    for (const { child } of [load, killed]) child.kill('SIGKILL');
    await Promise.all([load.ended, killed.ended]);
    t.strictSame(await answers(other, key), before, 'the other node answers what it answered');
    const started = performance.now();
    await until('the lock of the killed load', async () => {
      await using lock = await catalog.locks.takeLoad('all');
      return lock;
    });
    t.comment(`the lock of the load was free after ${Math.round(performance.now() - started)} ms`);

    await loadOn(t, two, siteOf(round + 1));
    t.match(await other.get('/projects/Proj1/site?from=2026-03-09&to=2026-03-09', key), {
      status: 200,
      body: { totals: { clicks: round + 1 } },
    });
    const after = await answers(other, key);
    t.strictSame(await storedFacts(), await namedFacts(), 'what the killed load had stored is removed');

    // What was on its way arrives after that.
    const named = await namedFacts();
    const late = proxy.held;
    proxy.fault = () => undefined;
    proxy.release();
    await until('the late files', async () => ((await storedFacts()).length >= named.length + late ? true : undefined));
    await sweep(Date.now());
    t.equal((await storedFacts()).length, named.length + late, 'more may be on its way');
    t.strictSame(await answers(other, key), after, 'it is not served');
    await sweep(Date.now() + LATER);
    t.strictSame(await storedFacts(), await namedFacts(), 'a later sweep removes it');
    t.strictSame(await query(catalogUrl, 'select file from planned_files'), []);
  }
  t.equal(await bucket.uploads(), 0);
  t.match(await run(t, two, 'verify'), { code: 0, stdout: /All is in order/ });
});
