// Stored lists stay within their limit, are never served damaged, and do not depend on a writable catalog.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { listStoredLists } from '../../server/catalog/stored-lists.ts';
import { type ConnectedWorld, connectedWorld } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { startSecondServer } from '../fakes/second-server.ts';
import { localOnly } from '../stores.ts';
import { facts, makeWorld } from '../world.ts';

const MINUTE = 60_000;
const FINAL = 'from=2026-02-01&to=2026-02-28';

function rowsOf(count: number): FakeRow[] {
  return Array.from({ length: count }, (_, n) => ({ key: `/${n}`, clicks: count - n, impressions: 9, position: 1 }));
}

function filesOf({ dataFolder }: { dataFolder: string }): string[] {
  return readdirSync(join(dataFolder, 'lists')).map((name) => join(dataFolder, 'lists', name));
}

/** The first days of the lists that are stored. */
async function storedDays({ catalog }: Pick<ConnectedWorld, 'catalog'>): Promise<string[]> {
  return (await listStoredLists(catalog, null)).map(({ from }) => from.slice(-2)).sort();
}

t.test('so many lists are stored, the most recently used ones', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_MAX: '3' } });
  world.google.pages = rowsOf(2);
  const ask = async (day: number) => {
    t.equal((await world.ask(`/pages?from=2026-02-0${day}&to=2026-02-28`)).status, 200);
    // Uses are noted by the millisecond.
    await new Promise((done) => setTimeout(done, 2));
  };
  for (const day of [1, 2, 3, 1, 4]) await ask(day);
  t.strictSame(await storedDays(world), ['01', '03', '04']);
  await ask(2);
  t.strictSame(await storedDays(world), ['01', '02', '04']);
  t.strictSame(
    { ...(await world.catalog.statements.get<object>('list_totals')) },
    {
      lists: 3,
      bytes: (await listStoredLists(world.catalog, null)).reduce((sum, { bytes }) => sum + bytes, 0),
    },
  );
  await world.app.close();

  // Without the database of uses the age decides.
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(world.dataFolder, `usage.sqlite${suffix}`), { force: true });
  const other = await startSecondServer(t, world);
  t.equal((await other.ask('/pages?from=2026-02-05&to=2026-02-28')).status, 200);
  t.equal((await storedDays(world)).length, 3);
  t.ok((await storedDays(world)).includes('05'));
});

t.test('an empty list is stored like any other, and asked for again later', localOnly, async (t) => {
  const world = await connectedWorld(t, { project: { country: 'deu' } });
  const other = await startSecondServer(t, world);
  // The second can have no rows, whatever the provider says.
  for (const path of [`/pages?${FINAL}`, `/pages?${FINAL}&country=usa`]) {
    const first = await world.ask(path);
    t.strictSame([first.status, first.body.pages, first.body.source.kind], [200, [], 'gsc']);
    world.clock += 10 * MINUTE;
    for (const again of [await world.ask(path), await other.ask(path)]) {
      t.strictSame(again.body, first.body);
      t.equal(again.headers['etag'], first.headers['etag']);
    }
    for (const selected of ['&sort=-impressions', '&filter=url:contains:x', '&compare=previous'])
      t.strictSame((await world.ask(`${path}${selected}`)).body.pages, [], selected);
  }
  t.equal(world.google.requests.length, 2, 'that of the range, and that before it');
  world.google.pages = rowsOf(1).map((row) => ({ ...row, country: 'deu' }));
  world.clock += 61 * MINUTE;
  t.equal((await world.ask(`/pages?${FINAL}`)).body.pages.length, 1, 'days without rows may get some');
});

t.test('a list that became empty takes the place of the one before', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(3);
  const path = '/pages?from=2026-03-01&to=2026-03-14';
  await world.ask(path);
  world.clock += 61 * MINUTE;
  world.google.pages = [];
  t.strictSame((await world.ask(path)).body.pages, []);
  world.clock += 2 * MINUTE;
  t.strictSame((await world.ask(path)).body.pages, []);
  t.equal(world.google.requests.length, 2);
});

t.test('a load drops the lists of what it replaced, and not those of other projects', localOnly, async (t) => {
  const page = ['2026-03-01', 'https://shop.example/', 'usa', 1, 2, 0];
  const world = await makeWorld(t, { page_daily: facts('date url country', page) });
  const paths = [1, 2, 3].map((day) => `/pages?from=2026-03-0${day}&to=2026-03-05`);
  for (const path of ['/pages?from=2026-02-01&to=2026-03-05', '/pages?from=2026-02-02&to=2026-03-05'])
    await world.ask(path);
  t.strictSame(await storedDays(world), ['01', '02']);
  await world.load({ page_daily: facts('date url country', page) });
  await world.ask(paths[0]!);
  t.strictSame(await storedDays(world), ['01']);
  t.equal(filesOf(world).length, 3, 'whose files requests may still read');
});

t.test('a list whose bytes are wrong is never answered', localOnly, async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(200);
  const before = await world.ask(`/pages?${FINAL}`);
  // One bit, which the query engine may not notice.
  for (const part of [0.1, 0.5, 0.9]) {
    const [current = ''] = filesOf(world);
    const damaged = readFileSync(current);
    damaged[Math.floor(part * damaged.length)]! ^= 1;
    writeFileSync(current, damaged);
    const other = await startSecondServer(t, world);
    const { status, body } = await other.ask(`/pages?${FINAL}`);
    t.strictSame([status, body.pages], [200, before.body.pages]);
    t.match(other.log.join(''), /a stored list is damaged or missing/);
    t.notOk(filesOf(world).includes(current), 'the damaged file is gone');
    await other.stop();
  }
  t.equal(world.google.requests.length, 4);
});

t.test('what cannot be stored is answered all the same', localOnly, async (t) => {
  for (const folder of ['lists', 'locks']) {
    const world = await connectedWorld(t);
    world.google.pages = rowsOf(2500);
    const path = join(world.dataFolder, folder);
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, 'not a folder');
    const urls: string[] = [];
    for (const offset of [0, 1000, 2000]) {
      const { status, body } = await world.ask(`/pages?${FINAL}&offset=${offset}`);
      t.equal(status, 200, folder);
      t.match(body.paging, { total: 2500 });
      urls.push(...(body.pages as { url: string }[]).map(({ url }) => url));
    }
    t.strictSame(
      urls,
      world.google.pages.map(({ key }) => key),
    );
    t.equal(world.google.requests.length, 1, 'from one fetch');
    unlinkSync(path);
    await world.app.close();
  }
});

t.test('a catalog that takes no writes: lists are answered, and pauses are kept', localOnly, async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(3);
  const failure = Object.assign(new Error('attempt to write a readonly database'), { errcode: 8 });
  const { statements } = world.catalog;
  statements.run = () => Promise.reject(failure);
  world.catalog.transaction = () => Promise.reject(failure);
  t.equal((await world.ask(`/pages?${FINAL}`)).body.pages.length, 3);
  t.strictSame(filesOf(world), [], 'no file is left behind');
  world.google.failure = { how: FAILURES.loadQuota, times: 1 };
  const other = '/pages?from=2026-02-02&to=2026-02-28';
  for (const _ of [1, 2]) t.equal((await world.ask(other)).status, 503);
  t.equal(world.google.requests.length, 2, 'the property is left alone');
  Reflect.deleteProperty(statements, 'run');
  Reflect.deleteProperty(world.catalog, 'transaction');
});

t.test('a stored list that cannot be read at the moment is unavailable, and not dropped', localOnly, async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(3);
  await world.ask(`/pages?${FINAL}`);
  const other = await startSecondServer(t, world);
  const [file = ''] = filesOf(world);
  const bytes = readFileSync(file);
  // As many bytes, and no file that can be opened: a folder has a size, too.
  const db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  t.teardown(() => db.close());
  rmSync(file);
  mkdirSync(file);
  db.exec(`update lists set bytes = ${statSync(file).size}`);
  const { status, headers } = await other.ask(`/pages?${FINAL}`);
  t.strictSame([status, headers['retry-after']], [503, '60']);
  rmSync(file, { recursive: true });
  writeFileSync(file, bytes);
  db.exec(`update lists set bytes = ${bytes.length}`);
  t.equal((await other.ask(`/pages?${FINAL}`)).status, 200);
  t.equal(world.google.requests.length, 1);
});

t.test('a damaged database of uses is replaced; without one, lists are answered', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(3);
  await world.app.close();
  const path = join(world.dataFolder, 'usage.sqlite');
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  writeFileSync(path, 'not a database, but long enough to be taken for one '.repeat(50));
  const damaged = await startSecondServer(t, world);
  t.equal((await damaged.ask(`/pages?${FINAL}&limit=1`)).status, 200);
  t.match((await damaged.ask(`/pages?${FINAL}&limit=1&offset=1`)).body.pages, [{ url: '/1' }]);
  await damaged.stop();
  rmSync(path);
  mkdirSync(path);
  const without = await startSecondServer(t, world);
  t.equal((await without.ask(`/pages?${FINAL}&limit=1`)).status, 200);
  t.match((await without.ask(`/pages?${FINAL}&limit=1&offset=1`)).body.pages, [{ url: '/1' }]);
});
