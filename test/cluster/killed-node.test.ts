// A node killed during a load loses no data and does not block the other nodes.
import t from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { sweepBetweenLoads } from '../../server/load/sweep-between-loads.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { start, startServer, until } from '../process.ts';
import { facts, ONE_THREAD, type Tables, writeSnapshot } from '../world.ts';
import { query } from './databases.ts';
import { endpoint, filled, json, load, makeCluster, namedKeys, SITE, skip } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';

/** Longer than what was sent to the object store may be on its way, in milliseconds. */
const LATER = 4_000_000;
const RANGE = 'from=2025-12-01&to=2026-03-10';
const ASKED = ['site', 'keywords', 'pages', 'queries', 'breakdowns'].map((what) => `/projects/Proj1/${what}?${RANGE}`);
const siteOf = (clicks: number): Tables => ({
  site_daily: facts('date device', ['2026-03-09', 'mobile', clicks, 100, 900]),
});
const { workspaces: _, projects: __, ...onlyFacts } = EVERYTHING;

t.test('a node that is killed in the middle of a load', { skip }, async (t) => {
  const { bucket, catalogUrl, node } = await makeCluster(t);
  const proxy = await FaultyProxy.start(t, endpoint);
  const [one, two] = [node({ ORDINATE_STORAGE_ENDPOINT: proxy.url }), node()];
  const key = await filled(t, two, EVERYTHING);
  const other = await startServer(t, two);
  const answers = async () =>
    (await Promise.all(ASKED.map((path) => other.get(path, key)))).map(({ status, body }) => ({ status, body }));
  const settings = readSettings({ ...ONE_THREAD, ...two });
  await using catalog = await openCatalog(settings);
  const sweep = (now: number) => sweepBetweenLoads({ settings, catalog }, now, new AbortController().signal);
  // Replaced lists have a sweep of their own.
  const factsOf = (keys: readonly string[]): string[] => keys.filter((name) => name.includes('/facts/'));
  const stored = async () => factsOf(await bucket.keys());
  const named = async () => factsOf(await namedKeys(catalog));

  for (const [round, { puts, tables }] of [
    { puts: 0, tables: { ...EVERYTHING, ...siteOf(1000) } },
    { puts: 4, tables: { ...EVERYTHING, ...siteOf(1000) } },
    { puts: 2, tables: { ...onlyFacts, ...siteOf(1000) } },
  ].entries()) {
    const before = await answers();
    for (const answer of before) t.match(answer, { status: 200 });
    let seen = 0;
    proxy.fault = (method) => (method === 'PUT' && seen++ >= puts ? 'held' : undefined);
    const killed = await startServer(t, one);
    const loading = start(t, one, 'load', writeSnapshot(t, tables), '--accept-implausible');
    await until('a held request', () => (proxy.held > 0 ? true : undefined));
    for (const { child } of [loading, killed]) child.kill('SIGKILL');
    await Promise.all([loading.ended, killed.ended]);
    t.strictSame(await answers(), before, 'the other node answers what it answered');
    await until('the lock of the killed load', async () => {
      await using lock = await catalog.locks.takeLoad('all');
      return lock;
    });
    t.match(await load(t, two, siteOf(round + 1)), { code: 0 });
    t.match(await other.get(SITE, key), { status: 200, body: { totals: { clicks: round + 1 } } });
    const after = await answers();
    const kept = await named();
    t.strictSame(await stored(), kept, 'what the killed load had stored is removed');

    // What was on its way arrives after that.
    const late = kept.length + proxy.held;
    proxy.fault = () => undefined;
    proxy.release();
    await until('the late files', async () => ((await stored()).length >= late ? true : undefined));
    await sweep(Date.now());
    t.equal((await stored()).length, late, 'more may be on its way');
    t.strictSame(await answers(), after, 'it is not served');
    await sweep(Date.now() + LATER);
    t.strictSame(await stored(), await named(), 'a later sweep removes it');
    t.strictSame(await query(catalogUrl, 'select file from planned_files'), []);
  }
  t.equal(await bucket.uploads(), 0);
  t.match(await json(two, 'verify'), { ok: true });
});
