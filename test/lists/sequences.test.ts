// All pages of a paged list come from one list, even if it is replaced or the server restarts.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { connectedWorld } from '../fakes/connected.ts';
import { retireBy, startSecondServer, sweep } from '../fakes/second-server.ts';
import { localOnly } from '../stores.ts';
import { facts, makeWorld, NOW, PROJECT, type World } from '../world.ts';

const MINUTE = 60_000;
const MARCH = 'from=2026-03-01&to=2026-03-05';

/** Rows of pages that every load replaces: each has the number of the load in it. */
function pagesOf(load: number, count = 6) {
  const rows = Array.from({ length: count }, (_, n) => [
    '2026-03-01',
    `https://shop.example/${load}/${n}`,
    'usa',
    count - n,
    100,
    0,
  ]);
  return { page_daily: facts('date url country', ...rows) };
}

/** Which loads the rows of an answer come from. */
function loadsOf(body: { pages: { url: string }[] }): string[] {
  return [...new Set(body.pages.map(({ url }) => url.split('/')[3] ?? ''))];
}

function files({ dataFolder }: World): number {
  return readdirSync(join(dataFolder, 'lists')).length;
}

t.test('all pages of a sequence come from one list, although loads replace it', async (t) => {
  const clock = { at: NOW };
  const world = await makeWorld(t, pagesOf(1), { now: () => clock.at });
  const page = async (offset: number, query = MARCH) => {
    const { status, body } = await world.ask(`/pages?${query}&limit=2&offset=${offset}`);
    t.equal(status, 200);
    return [...loadsOf(body), String(body.range.to)];
  };
  t.strictSame(await page(0), ['1', '2026-03-05']);
  await world.load(pagesOf(2));
  t.strictSame(await page(2), ['1', '2026-03-05']);
  // A second sequence of the same key begins while the first one goes on.
  t.strictSame(await page(0), ['2', '2026-03-05']);
  await world.load(pagesOf(3));
  t.strictSame(await page(4), ['1', '2026-03-05'], 'the first sequence');
  t.strictSame(await page(2), ['2', '2026-03-05'], 'the second sequence');
  clock.at += 10 * MINUTE + 1;
  t.strictSame(await page(4), ['3', '2026-03-05'], 'for ten minutes');

  // The range of an open question moves with the last synced day.
  t.strictSame(await page(0, 'period=28d'), ['3', '2026-03-10']);
  await world.load({ ...pagesOf(4), projects: [{ ...PROJECT, synced_through: '2026-03-12' }] });
  t.strictSame(await page(2, 'period=28d'), ['3', '2026-03-10'], 'the range is that of the list');
  t.strictSame(await page(0, 'period=28d'), ['4', '2026-03-12']);
});

t.test('a sequence goes on after its server has ended and its list was replaced', async (t) => {
  const world = await connectedWorld(t);
  const { google } = world;
  const row = (n: number, fetch: number) => ({ key: `/${fetch}/${n}`, clicks: 10 - n, impressions: 10, position: 1 });
  google.pages = [1, 2, 3, 4].map((n) => row(n, 1));
  const path = '/pages?from=2026-03-01&to=2026-03-14&limit=1';
  await world.ask(path);
  await world.app.close();
  world.clock += 9 * MINUTE;
  google.pages = [1, 2, 3, 4].map((n) => row(n, 2));
  await world.catalog.statements.run('lists_delete_of_providers', { project: 'Proj1' });
  const other = await startSecondServer(t, world);
  t.match((await other.ask(`${path}&offset=1`)).body.pages, [{ url: '/1/2' }]);
  t.match((await other.ask(path)).body.pages, [{ url: '/2/1' }]);
});

t.test('pages of one sequence from two processes, while a new fetch replaces the list', localOnly, async (t) => {
  const world = await connectedWorld(t);
  const { google } = world;
  const rows = (fetch: number) =>
    [1, 2, 3, 4].map((n) => ({ key: `/${fetch}/${n}`, clicks: 10 - n, impressions: 10, position: 1 }));
  google.pages = rows(1);
  const path = '/pages?from=2026-03-01&to=2026-03-14&limit=1';
  const other = await startSecondServer(t, world);
  await world.ask(path);
  world.clock += 59 * MINUTE;
  t.match((await world.ask(path)).body.pages, [{ url: '/1/1' }]);
  world.clock += 2 * MINUTE;
  google.pages = rows(2);
  t.match((await other.ask(`${path}&offset=1`)).body.pages, [{ url: '/1/2' }]);
  t.match((await world.ask(`${path}&offset=2`)).body.pages, [{ url: '/1/3' }]);
  t.match((await other.ask(path)).body.pages, [{ url: '/2/1' }]);
  t.match((await world.ask(`${path}&offset=3`)).body.pages, [{ url: '/1/4' }], 'the file is still there');
  t.match((await world.ask(`${path}&offset=1`)).body.pages, [{ url: '/2/2' }]);
  t.equal(google.requests.length, 2);

  t.equal(files(world), 2);
  await retireBy(world, 16 * MINUTE);
  await sweep(world);
  t.equal(files(world), 2, 'not while a sequence reads it');
  world.clock += 11 * MINUTE;
  await sweep(world);
  t.equal(files(world), 1, 'files are removed later, by whichever process');
});

t.test('no request fails while loads replace what lists are made from', async (t) => {
  const world = await makeWorld(t, pagesOf(0));
  let isLoading = true;
  const statuses: number[] = [];
  const mixed: string[][] = [];
  const reader = async (first: number): Promise<void> => {
    for (let day = first; isLoading; day = (day + 1) % 28) {
      const { status, body } = await world.ask(`/pages?from=2026-02-${String(day + 1).padStart(2, '0')}&to=2026-03-05`);
      statuses.push(status);
      if (status === 200) mixed.push(loadsOf(body));
      // The world's key has a limit; this is about other things.
      if (status === 429) return;
    }
  };
  const readers = [reader(0), reader(9), reader(18)];
  for (let load = 1; load <= 6; load++) await world.load(pagesOf(load));
  isLoading = false;
  await Promise.all(readers);
  t.strictSame(
    statuses.filter((status) => status !== 200 && status !== 429),
    [],
  );
  t.ok(mixed.length > 0 && mixed.every((loads) => loads.length === 1));
});

t.test('reading lists commits nothing to the catalog', localOnly, async (t) => {
  const world = await makeWorld(t, pagesOf(1));
  const other = await startSecondServer(t, world);
  // The last use of the key is written there, too, though at most once a second.
  const isUntouched = async (path: string): Promise<boolean> => {
    await world.ask(path);
    await new Promise(setImmediate);
    const before = world.catalog.version();
    for (const offset of [0, 2, 4]) t.equal((await other.ask(`${path}&limit=2&offset=${offset}`)).status, 200);
    await new Promise(setImmediate);
    return world.catalog.version() === before;
  };
  const seen: boolean[] = [];
  for (let day = 10; day < 20 && !seen.includes(true); day++) {
    seen.push(await isUntouched(`/pages?from=2026-02-${day}&to=2026-03-05`));
  }
  t.ok(seen.includes(true));
});
