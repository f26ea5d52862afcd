// A node is ready while it can answer something, and says which of its parts do not work.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { logOf, type Server, startServer, until } from '../process.ts';
import { facts, makeWorld } from '../world.ts';
import { endpoint, filled, makeCluster, ofDay, SITE, skipStorage as skip, skip as skipCluster } from './nodes.ts';
import { Balancer, noBalancer } from './servers/balancer.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';
import { hasPostgres, Postgres } from './servers/postgres.ts';

const { ORDINATE_TEST_TRINO: trino = '' } = process.env;
const OTHERS = { catalog: 'ok', secretsKey: 'ok', engine: 'ok', dataFolder: 'ok', files: 'ok', disk: 'ok' };
const COLD = '/projects/Proj1/breakdowns?from=2026-03-09&to=2026-03-09';
/** More than the checks after which a balancer takes a node out, over two nodes. */
const CHECKS = 12;

/** A server with files in a bucket. */
async function makeServer(t: Parameters<typeof makeWorld>[0], environment: NodeJS.ProcessEnv) {
  const bucket = await Bucket.create(t, endpoint);
  const world = await makeWorld(t, ofDay(1), { environment: { ...bucket.settings(endpoint), ...environment } });
  return { ...world, bucket };
}

for (const engine of ['auto', 'trino']) {
  t.test(`with ORDINATE_ENGINE=${engine}`, { skip }, async (t) => {
    const away = 'http://user-of-trino@127.0.0.1:1/hive/ordinate';
    const { app } = await makeServer(t, { ORDINATE_ENGINE: engine, ORDINATE_TRINO: away });
    const ready = await app.inject('/readyz');
    t.equal(ready.statusCode, 200);
    const degraded = { status: 'degraded', components: { ...OTHERS, trino: 'away' } };
    t.match(ready.json(), { ...degraded, problems: ['Trino does not answer'] });
    t.notMatch(ready.body, /user-of-trino|127\.0\.0\.1/, 'addresses are not for everybody');
    if (trino === '') return;
    const working = await makeServer(t, { ORDINATE_ENGINE: engine, ORDINATE_TRINO: `${trino}/hive/ordinate` });
    const { status, components } = (await working.app.inject('/readyz')).json<{ status: string; components: object }>();
    t.strictSame([status, components], ['ok', { ...OTHERS, trino: 'ok' }]);
  });
}

t.test('without the objects of its facts it is degraded', { skip }, async (t) => {
  const { app, bucket } = await makeServer(t, {});
  t.equal((await app.inject('/readyz')).statusCode, 200);
  for (const key of await bucket.keys()) await bucket.remove(key);
  const ready = await app.inject('/readyz');
  t.equal(ready.statusCode, 200);
  t.match(ready.json(), {
    status: 'degraded',
    problems: ['its fact files cannot be opened'],
    components: { ...OTHERS, files: 'away' },
  });
});

t.test('folders of a node that somebody removes are made again', { skip: skipCluster }, async (t) => {
  const { node } = await makeCluster(t);
  const settings = node();
  const folder = settings.ORDINATE_DATA;
  const key = await filled(t, settings);
  const server = await startServer(t, settings);
  const ask = async () => {
    const { status, body } = await server.get(SITE, key);
    const ready = (await (await fetch(`${server.address}/readyz`)).json()) as { status: string };
    return { status, body, ready: ready.status };
  };
  const answered = { status: 200, body: { totals: { clicks: 1, impressions: 100 } }, ready: 'ok' };
  t.match(await ask(), answered);
  for (const removed of ['cache', 'temporary', '.']) {
    rmSync(join(folder, removed), { recursive: true });
    t.match(await ask(), answered, removed);
  }
  for (const place of [join(folder, 'cache'), folder]) {
    rmSync(place, { recursive: true });
    writeFileSync(place, 'a file in its place');
    t.match(await ask(), { status: 503, body: { error: { code: 'unavailable' } }, ready: 'degraded' });
    rmSync(place);
    t.match(await ask(), answered);
  }
  const [before] = (await logOf(server)).split('was removed and cannot be made again');
  t.match(before, /'[^']+cache', $/, 'the log says which folder');
  t.notMatch(before!.slice(0, before!.lastIndexOf('\n')), /"level":(?:40|50)/, 'and nothing before it failed');
});

const skipBalancer = skipCluster || noBalancer || (hasPostgres ? false : 'PostgreSQL is not installed');
t.test('a balancer, a store that fails in each way, and a database that is gone', { skip: skipBalancer }, async (t) => {
  const postgres = await Postgres.make('pass-word-of-tests');
  t.teardown(() => postgres.remove());
  const { node } = await makeCluster(t, { server: postgres.url });
  const proxy = await FaultyProxy.start(t, endpoint);
  const nodes = [1, 2].map(() => node({ ORDINATE_STORAGE_ENDPOINT: proxy.url }));
  // Elsewhere, because a load leaves its files in the cache.
  const key = await filled(t, node(), {
    ...ofDay(1),
    country_daily: facts('date country', ['2026-03-09', 'usa', 1, 10, 20]),
  });
  const servers = await Promise.all(nodes.map((settings) => startServer(t, settings)));
  const balancer = await Balancer.make(
    t,
    servers.map(({ address }) => address),
  );
  const ask = async (path: string, { address }: Pick<Server, 'address'> = balancer) => {
    const response = await fetch(`${address}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    return { status: response.status, text: await response.text() };
  };
  const conditions = () =>
    Promise.all(
      servers.map(async ({ address }) => {
        const response = await fetch(`${address}/readyz`);
        const body = (await response.json()) as { status: string; components: { files: string } };
        return `${response.status} ${body.status}, files ${body.components.files}`;
      }),
    );
  const areAll = (condition: string) =>
    until(condition, async () => (await conditions()).every((found) => found === condition) || undefined);
  for (const server of servers) t.equal((await ask(SITE, server)).status, 200);
  t.strictSame(await conditions(), Array(2).fill('200 ok, files ok'));
  for (const [fault, state, checks, refused] of [
    ['error', 'away', CHECKS, 503],
    ['cut', 'away', CHECKS, 503],
    ['wrong', 'damaged', CHECKS, 500],
    ['silent', 'away', 2, undefined],
  ] as const) {
    proxy.fault = (method) => (method === 'GET' ? fault : undefined);
    await areAll(`200 degraded, files ${state}`);
    const before = proxy.requests.length;
    await until('checks of the balancer', () => proxy.requests.length > before + checks || undefined);
    const cached = await Promise.all(Array.from({ length: 8 }, () => ask(SITE)));
    t.strictSame(new Set(cached.map(({ status }) => status)), new Set([200]), `${fault}: all through the balancer`);
    // What is not cached is refused by a node.
    if (refused !== undefined) t.match(await ask(COLD), { status: refused, text: /"error":\{"code":/ });
  }
  proxy.fault = () => undefined;
  await areAll('200 ok, files ok');
  t.equal((await ask(COLD)).status, 200);

  await postgres.stop('SIGINT');
  const areOut = async () => /No server is available/.test((await ask(SITE)).text) || undefined;
  await until('the balancer to take them out', areOut);
  await postgres.start();
  await until('the nodes again', async () => (await ask(SITE)).status === 200 || undefined);
});
