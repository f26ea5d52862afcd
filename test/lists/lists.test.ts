import { readdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { buildApp } from '../../server/app.ts';
import { removeConnection } from '../../server/catalog/connections.ts';
import { listKeptLists } from '../../server/catalog/kept-lists.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { Engine } from '../../server/facts/engine.ts';
import { type ConnectedWorld, connectedWorld } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { facts, PROJECT } from '../world.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
/** Its last day is younger than any that is final. */
const PROVISIONAL = 'from=2026-03-01&to=2026-03-14';
const HOUR = 3_600_000;

function rowsOf(count: number): FakeRow[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `https://shop.example/page/${String(index).padStart(6, '0')}`,
    clicks: count - index,
    impressions: 2 * count,
    position: 3,
  }));
}

function keptFiles({ dataFolder }: ConnectedWorld): string[] {
  return readdirSync(join(dataFolder, 'lists')).map((name) => join(dataFolder, 'lists', name));
}

t.test('50 clients at once make one fetch; a walk is one list; a restart keeps it', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_PATIENCE: '60' } });
  world.google.pages = rowsOf(12_003);
  world.google.delay = 200;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => world.ask(`/pages?${FINAL}&limit=1000&offset=${index * 1000}`)),
  );
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200]);
  const urls = answers.flatMap(({ body }) => body.pages as { url: string }[]).map(({ url }) => url);
  t.strictSame(
    urls,
    world.google.pages.map(({ key }) => key),
    'all rows, in order',
  );
  t.equal(world.google.requests.length, 1);
  t.equal(world.fetches().length, 1);

  const { settings, catalog } = world;
  const engine = await Engine.open({
    memoryLimit: settings.memoryLimit,
    threads: 1,
    temporaryFolder: join(world.dataFolder, 'temporary-2'),
    folders: [join(world.dataFolder, 'lists')],
  });
  const restarted = await buildApp({
    settings,
    catalog,
    engine,
    logStream: { write: () => {} },
    now: () => world.clock,
  });
  t.teardown(async () => {
    await restarted.close();
    engine.close();
  });
  const headers = { authorization: `Bearer ${world.key}` };
  const url = `/api/v1/projects/Proj1/pages?${FINAL}&limit=3&offset=4999`;
  const { body } = await restarted.inject({ url, headers });
  t.match(JSON.parse(body), { pages: world.google.pages.slice(4999, 5002).map(({ key }) => ({ url: key })) });
  t.equal(world.google.requests.length, 1);
});

t.test('offsets at the edges of what is read at once', async (t) => {
  const { ask, google } = await connectedWorld(t);
  google.pages = rowsOf(10_000);
  for (const [offset, limit] of [
    [0, 5000],
    [5000, 5000],
    [4999, 2],
    [9999, 10],
    [10_000, 1],
    [0, 25_000],
  ] as const) {
    const { body } = await ask(`/pages?${FINAL}&offset=${offset}&limit=${limit}`);
    t.strictSame(body.paging, { total: 10_000, limit, offset });
    t.strictSame(
      body.pages.map(({ url }: { url: string }) => url),
      google.pages.slice(offset, offset + limit).map(({ key }) => key),
      `${offset} ${limit}`,
    );
  }
});

t.test('a list of final days stays; one of provisional days is fetched again after an hour', async (t) => {
  const world = await connectedWorld(t);
  const { ask, google } = world;
  google.pages = rowsOf(3);
  await ask(`/pages?${FINAL}`);
  const first = await ask(`/pages?${PROVISIONAL}`);
  world.clock += HOUR - 1;
  await ask(`/pages?${PROVISIONAL}`);
  t.equal(google.requests.length, 2);
  world.clock += 1;
  google.pages = rowsOf(4);
  t.equal((await ask(`/pages?${PROVISIONAL}&offset=1`)).body.paging.total, 3, 'a walk goes on with its list');
  const second = await ask(`/pages?${PROVISIONAL}`);
  t.equal(second.body.paging.total, 4);
  t.equal(Date.parse(second.body.source.fetchedAt) - Date.parse(first.body.source.fetchedAt), HOUR);
  t.equal((await ask(`/pages?${FINAL}`)).body.paging.total, 3);
  t.equal(google.requests.length, 3);
  const other = createKey(world.catalog, { workspace: 'acme', name: 'other', by: null, at: 0 }).key;
  const headers = { authorization: `Bearer ${other}` };
  world.clock += HOUR;
  google.pages = rowsOf(5);
  const path = `/projects/Proj1/pages?${PROVISIONAL}`;
  t.equal((await world.get(path, headers)).body.paging.total, 5, 'somebody else causes a new list');
  const walked = await ask(`/pages?${PROVISIONAL}&offset=1`);
  t.strictSame([walked.body.paging.total, walked.body.source], [4, second.body.source], 'and a walk is not mixed');
  t.equal((await ask(`/pages?${PROVISIONAL}`)).body.paging.total, 5);
});

t.test('which days are final', async (t) => {
  const { ask, catalog, load } = await connectedWorld(t, { project: { provisional_after: '2026-03-07' } });
  const isFinal = async (to: string) => {
    await ask(`/pages?from=2026-01-01&to=${to}`);
    return listKeptLists(catalog, 'Proj1').find((list) => list.to === to)?.final;
  };
  t.equal(await isFinal('2026-03-11'), true, 'four days before the day that it is for the search engine');
  t.equal(await isFinal('2026-03-12'), false);
  await load({ projects: [{ ...PROJECT, provisional_after: '2026-03-13' }] });
  t.equal(await isFinal('2026-03-13'), true, 'what the project is known to have as final');
  t.equal(await isFinal('2026-03-14'), false);
});

t.test('when a new fetch fails the older list is served, with its own instant', async (t) => {
  const world = await connectedWorld(t);
  const { ask, google } = world;
  google.pages = rowsOf(3);
  const before = await ask(`/pages?${PROVISIONAL}`);
  world.clock += 2 * HOUR;
  for (const how of [FAILURES.forbidden, FAILURES.badRequest]) {
    google.failure = { how, times: 1 };
    t.strictSame((await ask(`/pages?${PROVISIONAL}`)).body, before.body);
  }
  t.equal(google.requests.length, 2, 'the provider is not asked again at once');
});

t.test('patience ends with 503; the fetch goes on and serves the next', async (t) => {
  const { ask, google, fetches } = await connectedWorld(t, { environment: { ORDINATE_LISTS_PATIENCE: '1' } });
  google.pages = rowsOf(3);
  google.delay = 1300;
  const [answer, other] = await Promise.all([ask(`/pages?${FINAL}`), ask(`/pages?${FINAL}`)]);
  for (const { status, headers, body } of [answer, other]) {
    t.strictSame([status, headers['retry-after'], body.error.code], [503, '60', 'unavailable']);
  }
  while (fetches().length === 0) await sleep(10);
  t.equal((await ask(`/pages?${FINAL}`)).status, 200);
  t.equal(google.requests.length, 1);
});

t.test('a client that goes away stops no fetch that others wait for', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_PATIENCE: '60' } });
  world.google.pages = rowsOf(3);
  world.google.delay = 400;
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.app.server.address() as AddressInfo;
  const path = `/api/v1/projects/Proj1/pages?${FINAL}`;
  const leaving = httpRequest({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${world.key}` } });
  leaving.on('error', () => {});
  leaving.end();
  while (world.google.requests.length === 0) await sleep(10);
  const staying = world.ask(`/pages?${FINAL}`);
  leaving.destroy();
  t.equal((await staying).status, 200);
  t.notMatch(world.log.join(''), /request failed/, 'which is no failure of the service');
  t.equal(world.google.requests.length, 1);
});

t.test('some fetches of a property at a time', async (t) => {
  const { ask, google } = await connectedWorld(t, {
    environment: { ORDINATE_LISTS_PATIENCE: '60', ORDINATE_FETCHES_PER_PROPERTY: '2' },
  });
  google.pages = rowsOf(1);
  google.delay = 50;
  await Promise.all(Array.from({ length: 7 }, (_, day) => ask(`/pages?from=2026-01-01&to=2026-02-0${day + 1}`)));
  t.equal(google.requests.length, 7);
  t.equal(google.mostUnderWay, 2);
});

t.test('damaged files are dropped and fetched again; leftovers are swept', async (t) => {
  const world = await connectedWorld(t);
  const { ask, google } = world;
  google.pages = rowsOf(10);
  await ask(`/pages?${FINAL}&limit=1`);
  const [cut = ''] = keptFiles(world);
  truncateSync(cut, 100);
  t.equal((await ask(`/pages?${FINAL}`)).body.pages.length, 10);
  t.equal(google.requests.length, 2, 'a file that was cut');

  const file = keptFiles(world).find((path) => path !== cut) ?? cut;
  await ask('/pages?from=2026-02-02&to=2026-02-28&limit=1');
  const [other = ''] = keptFiles(world).filter((path) => path !== file && path !== cut);
  writeFileSync(other, Buffer.alloc(statSync(other).size, 'x'));
  const noted = await ask('/pages?from=2026-02-02&to=2026-02-28&offset=9');
  t.equal(noted.status, 200, 'what stands ready in memory needs no file');
  t.equal(google.requests.length, 3);

  const leftover = join(world.dataFolder, 'lists', 'leftover.parquet');
  writeFileSync(leftover, 'x');
  utimesSync(leftover, 0, 0);
  const { settings, catalog } = world;
  const engine = await Engine.open({
    memoryLimit: settings.memoryLimit,
    threads: 1,
    temporaryFolder: join(world.dataFolder, 'temporary-2'),
    folders: [join(world.dataFolder, 'lists')],
  });
  const restarted = await buildApp({
    settings,
    catalog,
    engine,
    logStream: { write: () => {} },
    now: () => world.clock,
  });
  t.notOk(keptFiles(world).includes(leftover));
  const url = '/api/v1/projects/Proj1/pages?from=2026-02-02&to=2026-02-28';
  const { body } = await restarted.inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  t.equal(JSON.parse(body).pages.length, 10, 'a file whose bytes are wrong');
  t.equal(google.requests.length, 4);
  await restarted.close();
  engine.close();
});

t.test('the least recently used lists make room', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_DISK: '1MB' } });
  world.google.pages = Array.from({ length: 25_000 }, (_, index) => ({
    key: `/${Math.random().toString(36)}${Math.random().toString(36)}`,
    clicks: index,
    impressions: index,
    position: 1,
  }));
  for (const day of [1, 2, 3]) await world.ask(`/pages?from=2026-02-0${day}&to=2026-02-28&limit=1`);
  const kept = listKeptLists(world.catalog, null);
  t.equal(kept.length, 1);
  t.equal(kept[0]?.from, '2026-02-03');
  t.equal(keptFiles(world).length, 1);
});

t.test('hits are counted; a connection that is gone takes its lists along; own facts serve then', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(2);
  await world.load({
    page_daily: facts('date url country', ['2026-02-03', 'https://shop.example/own', 'deu', 1, 5, 0]),
  });
  t.equal((await world.ask(`/pages?${FINAL}`)).body.source.kind, 'gsc');
  await world.ask(`/pages?${FINAL}`);
  t.equal(world.google.requests.length, 1);
  removeConnection(world.catalog, 'Proj1', 'search-console');
  const own = await world.ask(`/pages?${FINAL}`);
  t.match(own.body, { source: { kind: 'bigquery' }, pages: [{ url: 'https://shop.example/own', clicks: 1 }] });
  await world.ask(`/pages?${FINAL}`);
  await world.app.close();
  t.match(listKeptLists(world.catalog, 'Proj1'), [{ hits: 2, rows: 1, source: 'bigquery', final: true }]);
});

t.test('a project without any source answers 503', async (t) => {
  const world = await connectedWorld(t);
  removeConnection(world.catalog, 'Proj1', 'search-console');
  const { status, headers, body } = await world.ask('/queries');
  t.strictSame([status, headers['retry-after'], body.error.code], [503, '60', 'unavailable']);
});

t.test('a server that stops does not wait for providers', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_PATIENCE: '60' } });
  world.google.failure = { how: 'hang', times: 1 };
  const waiting = world.ask(`/pages?${FINAL}`);
  while (world.google.requests.length === 0) await sleep(10);
  await world.app.close();
  t.equal((await waiting).status, 503);
  t.strictSame(keptFiles(world), []);
});
