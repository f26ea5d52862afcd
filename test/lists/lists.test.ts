// A list is fetched once for all clients and stored, and stays available while the provider fails.
import { readdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { removeConnection } from '../../server/catalog/connections.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { listStoredLists } from '../../server/catalog/stored-lists.ts';
import { type ConnectedWorld, connectedWorld } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { retireBy, startSecondServer, sweep } from '../fakes/second-server.ts';
import { localOnly } from '../stores.ts';
import { facts, PROJECT } from '../world.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
/** Its last day is younger than any that is final. */
const PROVISIONAL = 'from=2026-03-01&to=2026-03-14';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

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

function usesOf({ dataFolder }: ConnectedWorld, file = ''): unknown[] {
  const db = new DatabaseSync(join(dataFolder, 'usage.sqlite'));
  try {
    return db.prepare('select * from list_uses where file = ?').all(file);
  } finally {
    db.close();
  }
}

t.test('50 clients at once make one fetch; a sequence is one list; a restart keeps it', async (t) => {
  const world = await connectedWorld(t);
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

  const restarted = await startSecondServer(t, world);
  const { body } = await restarted.ask(`/pages?${FINAL}&limit=3&offset=4999`);
  t.match(body, { pages: world.google.pages.slice(4999, 5002).map(({ key }) => ({ url: key })) });
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
  t.equal((await ask(`/pages?${PROVISIONAL}&offset=1`)).body.paging.total, 3, 'a sequence goes on with its list');
  const second = await ask(`/pages?${PROVISIONAL}`);
  t.equal(second.body.paging.total, 4);
  t.equal(Date.parse(second.body.source.fetchedAt) - Date.parse(first.body.source.fetchedAt), HOUR);
  t.equal((await ask(`/pages?${FINAL}`)).body.paging.total, 3);
  t.equal(google.requests.length, 3);
  const other = (await createKey(world.catalog, { workspace: 'acme', name: 'other', by: null, at: 0 })).key;
  const headers = { authorization: `Bearer ${other}` };
  world.clock += HOUR - 9 * MINUTE;
  await ask(`/pages?${PROVISIONAL}`);
  world.clock += 9 * MINUTE;
  google.pages = rowsOf(5);
  const path = `/projects/Proj1/pages?${PROVISIONAL}`;
  t.equal((await world.get(path, headers)).body.paging.total, 5, 'somebody else causes a new list');
  const walked = await ask(`/pages?${PROVISIONAL}&offset=1`);
  t.strictSame([walked.body.paging.total, walked.body.source], [4, second.body.source], 'and no sequence is mixed');
  world.clock += 10 * MINUTE + 1;
  t.equal((await ask(`/pages?${PROVISIONAL}&offset=1`)).body.paging.total, 5, 'for ten minutes');
  t.equal((await ask(`/pages?${PROVISIONAL}`)).body.paging.total, 5);
});

/** Whether a list that ends with a day is stored for good. */
function finality({ ask, catalog, google }: ConnectedWorld): (to: string) => Promise<boolean | undefined> {
  google.pages = rowsOf(1);
  return async (to) => {
    await ask(`/pages?from=2026-01-01&to=${to}`);
    return (await listStoredLists(catalog, 'Proj1')).find((list) => list.to === to)?.final;
  };
}

t.test('which days are final: the provider’s word, while it is fresh', async (t) => {
  const world = await connectedWorld(t, { project: { provisional_after: '2026-03-07' } });
  const isFinal = finality(world);
  t.equal(await isFinal('2026-03-07'), true);
  t.equal(await isFinal('2026-03-08'), false, 'though most days are final by now');
  await world.load({ projects: [{ ...PROJECT, provisional_after: '2026-03-13' }] });
  t.equal(await isFinal('2026-03-13'), true);
  t.equal(await isFinal('2026-03-14'), false);
});

t.test('which days are final without word from the provider: three Pacific days', async (t) => {
  const stale = { provisional_after: '2026-02-10', last_synced_at: '2026-02-12T00:00:00Z' };
  for (const project of [{ provisional_after: null }, stale]) {
    const world = await connectedWorld(t, { project });
    const isFinal = finality(world);
    t.equal(await isFinal('2026-03-12'), true);
    t.equal(await isFinal('2026-03-13'), false);
    // The 16th has begun by UTC, and in California it has not.
    world.clock = Date.parse('2026-03-16T06:59:00Z');
    t.equal(await isFinal('2026-03-13'), false, 'still the 15th for the search engine');
    world.clock = Date.parse('2026-03-16T07:01:00Z');
    world.google.pages = rowsOf(2);
    const before = world.google.requests.length;
    t.equal(await isFinal('2026-03-11'), true);
    t.ok(world.google.requests.length > before);
    const { body } = await world.ask('/pages?from=2026-01-02&to=2026-03-13');
    t.equal(body.paging.total, 2);
    t.equal((await listStoredLists(world.catalog, 'Proj1')).find((list) => list.from === '2026-01-02')?.final, true);
  }
});

t.test('when a new fetch fails the older list is served, with its own instant', async (t) => {
  const world = await connectedWorld(t);
  const { ask, google } = world;
  google.pages = rowsOf(3);
  const before = await ask(`/pages?${PROVISIONAL}`);
  world.clock += 2 * HOUR;
  for (const how of [FAILURES.badRequest, FAILURES.loadQuota]) {
    google.failure = { how, times: 1 };
    t.strictSame((await ask(`/pages?${PROVISIONAL}`)).body, before.body);
  }
  t.equal(google.requests.length, 2, 'the provider is not asked again at once');
  google.failure = undefined;
  google.pages = rowsOf(4);
  world.clock += MINUTE - 1;
  t.strictSame((await ask(`/pages?${PROVISIONAL}`)).body, before.body);
  world.clock += 1;
  t.equal((await ask(`/pages?${PROVISIONAL}`)).body.paging.total, 4, 'and is asked again after a minute');
});

t.test('access lost: told as soon as the stored list is no longer valid', async (t) => {
  const world = await connectedWorld(t);
  const { ask, google } = world;
  google.pages = rowsOf(3);
  await ask(`/pages?${PROVISIONAL}`);
  google.failure = { how: FAILURES.forbidden, times: Number.POSITIVE_INFINITY };
  world.clock += HOUR - 1;
  t.equal((await ask(`/pages?${PROVISIONAL}`)).status, 200);
  world.clock += 1;
  for (const _ of [1, 2]) {
    const { status, body } = await ask(`/pages?${PROVISIONAL}`);
    t.strictSame([status, body.error?.code], [409, 'google_access_lost']);
  }
  t.equal(google.requests.length, 2, 'the provider is not asked again at once');
  google.failure = undefined;
  world.clock += MINUTE;
  t.equal((await ask(`/pages?${PROVISIONAL}`)).status, 200, 'and access may come back');
});

t.test('the wait ends with 503; the fetch goes on and serves the next', async (t) => {
  const { ask, google, fetches } = await connectedWorld(t, { environment: { ORDINATE_LISTS_WAIT_SECONDS: '1' } });
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
  const world = await connectedWorld(t);
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
    environment: { ORDINATE_FETCHES_PER_PROPERTY: '2' },
  });
  google.pages = rowsOf(1);
  google.delay = 50;
  await Promise.all(Array.from({ length: 7 }, (_, day) => ask(`/pages?from=2026-01-01&to=2026-02-0${day + 1}`)));
  t.equal(google.requests.length, 7);
  t.equal(google.mostUnderWay, 2);
});

t.test('damaged files are dropped and fetched again; leftovers are swept', localOnly, async (t) => {
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
  const newest = (): string => keptFiles(world).filter((path) => path !== file && path !== cut)[0] ?? '';
  const damage = (path: string): void => writeFileSync(path, Buffer.alloc(statSync(path).size, 'x'));
  damage(newest());
  t.equal((await ask('/pages?from=2026-02-02&to=2026-02-28&offset=9')).status, 200);
  t.equal(google.requests.length, 4, 'a file that was written to since is compared again');

  const leftover = join(world.dataFolder, 'lists', 'leftover.parquet');
  writeFileSync(leftover, 'x');
  utimesSync(leftover, 0, 0);
  damage(newest());
  const restarted = await startSecondServer(t, world);
  await sweep(world);
  t.notOk(keptFiles(world).includes(leftover));
  const { body } = await restarted.ask('/pages?from=2026-02-02&to=2026-02-28');
  t.equal(body.pages.length, 10, 'a file whose bytes are wrong');
  t.equal(google.requests.length, 5);
});

t.test('the least recently used lists make room', localOnly, async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_DISK: '1MB' } });
  world.google.pages = Array.from({ length: 25_000 }, (_, index) => ({
    key: `/${Math.random().toString(36)}${Math.random().toString(36)}`,
    clicks: index,
    impressions: index,
    position: 1,
  }));
  for (const day of [1, 2, 3]) await world.ask(`/pages?from=2026-02-0${day}&to=2026-02-28&limit=1`);
  const stored = await listStoredLists(world.catalog, null);
  t.equal(stored.length, 1);
  t.equal(stored[0]?.from, '2026-02-03');
  t.equal(keptFiles(world).length, 3, 'requests may still read the others');
  await retireBy(world, 16 * MINUTE);
  await sweep(world);
  t.equal(keptFiles(world).length, 3, 'or a page sequence');
  world.clock += 11 * MINUTE;
  await sweep(world);
  t.equal(keptFiles(world).length, 1, 'for ten minutes');
});

t.test(
  'hits are counted; a connection that is gone takes its lists along; own facts serve then',
  localOnly,
  async (t) => {
    const world = await connectedWorld(t);
    world.google.pages = rowsOf(2);
    await world.load({
      page_daily: facts('date url country', ['2026-02-03', 'https://shop.example/own', 'deu', 1, 5, 0]),
    });
    t.equal((await world.ask(`/pages?${FINAL}`)).body.source.kind, 'gsc');
    await world.ask(`/pages?${FINAL}`);
    t.equal(world.google.requests.length, 1);
    await removeConnection(world.catalog, 'Proj1', 'search-console');
    const own = await world.ask(`/pages?${FINAL}`);
    t.match(own.body, { source: { kind: 'bigquery' }, pages: [{ url: 'https://shop.example/own', clicks: 1 }] });
    await world.ask(`/pages?${FINAL}`);
    await world.app.close();
    const [list] = await listStoredLists(world.catalog, 'Proj1');
    t.match(list, { rows: 1, source: 'bigquery', final: true });
    t.match(usesOf(world, list?.file), [{ hits: 2 }]);
  },
);

t.test('a project without any source answers 503', async (t) => {
  const world = await connectedWorld(t);
  await removeConnection(world.catalog, 'Proj1', 'search-console');
  const { status, headers, body } = await world.ask('/queries');
  t.strictSame([status, headers['retry-after'], body.error.code], [503, '60', 'unavailable']);
});

t.test('a server that stops does not wait for providers', localOnly, async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_WAIT_SECONDS: '60' } });
  world.google.failure = { how: 'hang', times: 1 };
  const waiting = world.ask(`/pages?${FINAL}`);
  while (world.google.requests.length === 0) await sleep(10);
  await world.app.close();
  t.equal((await waiting).status, 503);
  t.strictSame(keptFiles(world), []);
});
