// Stored lists stay within their limit, are never served damaged, and do not depend on a writable catalog.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { listStoredLists } from '../../server/catalog/stored-lists.ts';
import { Blocks, type Rendering } from '../../server/lists/blocks.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { ordinate } from '../fakes/command-line.ts';
import { type ConnectedWorld, connectedWorld } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { retireBy, startSecondServer, sweep } from '../fakes/second-server.ts';
import { localOnly } from '../stores.ts';
import { facts, makeWorld, ONE_THREAD, sharedEngine, temporaryFolder } from '../world.ts';

const MINUTE = 60_000;
const FINAL = 'from=2026-02-01&to=2026-02-28';

function rowsOf(count: number): FakeRow[] {
  return Array.from({ length: count }, (_, n) => ({ key: `/${n}`, clicks: count - n, impressions: 9, position: 1 }));
}

function filesOf({ dataFolder }: { dataFolder: string }): string[] {
  return readdirSync(join(dataFolder, 'lists')).map((name) => join(dataFolder, 'lists', name));
}

/** The first days of the lists that are stored, as the command shows them: the most recently used one first. */
async function storedDays({ dataFolder }: Pick<ConnectedWorld, 'dataFolder'>): Promise<string> {
  const { out } = await ordinate(dataFolder, 'lists', 'status', '--json');
  return (JSON.parse(out) as { kept: { from: string }[] }).kept.map(({ from }) => from.slice(-2)).join(' ');
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
  t.equal(await storedDays(world), '04 01 03');
  await ask(2);
  t.equal(await storedDays(world), '02 04 01');
  const bytes = (await listStoredLists(world.catalog, null)).reduce((sum, list) => sum + list.bytes, 0);
  t.strictSame({ ...(await world.catalog.statements.get<object>('lists.totals')) }, { lists: 3, bytes });
  await world.app.close();

  // Without the database of uses the age decides.
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(world.dataFolder, `usage.sqlite${suffix}`), { force: true });
  const other = await startSecondServer(t, world);
  t.equal((await other.ask('/pages?from=2026-02-05&to=2026-02-28')).status, 200);
  t.match(await storedDays(world), /^05 \d\d \d\d$/);
});

t.test('lists make room on the disk; their files stay while requests or sequences read them', localOnly, async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_LISTS_DISK: '1MB' } });
  world.google.pages = rowsOf(25_000).map((row) => ({ ...row, key: `/${Math.random()}${Math.random()}` }));
  for (const day of [1, 2, 3]) await world.ask(`/pages?from=2026-02-0${day}&to=2026-02-28&limit=1`);
  const files: number[] = [filesOf(world).length];
  await retireBy(world, 16 * MINUTE);
  await sweep(world);
  files.push(filesOf(world).length);
  world.clock += 11 * MINUTE;
  await sweep(world);
  t.strictSame([await storedDays(world), ...files, filesOf(world).length], ['03', 3, 3, 1]);
});

t.test('a load drops the lists of what it replaced, and not those of other days', localOnly, async (t) => {
  const page = ['2026-03-01', 'https://shop.example/', 'usa', 1, 2, 0];
  const world = await makeWorld(t, { page_daily: facts('date url country', page) });
  for (const day of [1, 2]) await world.ask(`/pages?from=2026-02-0${day}&to=2026-03-05`);
  const before = await storedDays(world);
  await world.load({ page_daily: facts('date url country', page) });
  await world.ask('/pages?from=2026-03-03&to=2026-03-05');
  t.strictSame([before, await storedDays(world), filesOf(world).length], ['02 01', '03', 3]);
});

t.test('hits are counted for who looks after lists', localOnly, async (t) => {
  const world = await connectedWorld(t);
  for (let hit = 0; hit < 3; hit++) await world.ask(`/pages?${FINAL}`);
  await world.app.close();
  using db = new DatabaseSync(join(world.dataFolder, 'usage.sqlite'));
  t.match(db.prepare('select hits from list_uses').all(), [{ hits: 3 }]);
});

t.test('a list whose file is cut, changed by a bit or overwritten is fetched again', localOnly, async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(200);
  const before = await world.ask(`/pages?${FINAL}`);
  const flip = (part: number) => (file: string) => {
    const damaged = readFileSync(file);
    damaged[Math.floor(part * damaged.length)]! ^= 1;
    writeFileSync(file, damaged);
  };
  const damages = [
    ...[0.1, 0.5, 0.9].map(flip),
    (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size, 'x')),
    (file: string) => truncateSync(file, 100),
    (file: string) => unlinkSync(file),
  ];
  for (const [at, damage] of damages.entries()) {
    const current = join(world.dataFolder, (await listStoredLists(world.catalog, null))[0]!.file);
    damage(current);
    const other = await startSecondServer(t, world);
    const { status, body } = await other.ask(`/pages?${FINAL}`);
    t.strictSame([status, body.pages, world.google.requests.length], [200, before.body.pages, at + 2]);
    const isTold = other.log.join('').includes('a stored list is damaged or missing');
    // A file of another length is no file of the list.
    t.strictSame([isTold, filesOf(world).includes(current)], at < 4 ? [true, false] : [false, at === 4]);
    await other.stop();
  }
  // A server that has read the file before compares it again, once it was written to.
  damages[3]!(join(world.dataFolder, (await listStoredLists(world.catalog, null))[0]!.file));
  t.equal((await world.ask(`/pages?${FINAL}&offset=9`)).body.pages.length, 191);
  const leftover = join(world.dataFolder, 'lists', 'leftover.parquet');
  writeFileSync(leftover, 'x');
  utimesSync(leftover, 0, 0);
  await sweep(world);
  t.notOk(filesOf(world).includes(leftover));
});

t.test('where one of two compared lists is damaged, it is made again', localOnly, async (t) => {
  const rows = (day: string) => [1, 2].map((n) => [day, `https://shop.example/${n}`, 'usa', 100 * n, 1000, 0]);
  const world = await makeWorld(t, {
    page_daily: facts('date url country', ...rows('2026-03-01'), ...rows('2026-02-24')),
  });
  const path = '/pages?from=2026-03-01&to=2026-03-05&compare=previous';
  const before = (await world.ask(path)).body.pages as { url: string }[];
  const files = filesOf(world);
  t.equal(files.length, 2);
  for (const file of files) {
    writeFileSync(file, Buffer.alloc(statSync(file).size));
    // Other rows than those in memory.
    t.strictSame((await world.ask(`${path}&sort=url`)).body.pages, before.toReversed());
  }
});

t.test('what cannot be stored is answered all the same, from one fetch', localOnly, async (t) => {
  for (const folder of ['lists', 'locks']) {
    const world = await connectedWorld(t);
    world.google.pages = rowsOf(2500);
    const path = join(world.dataFolder, folder);
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, 'not a folder');
    const urls: string[] = [];
    for (const offset of [0, 1000, 2000]) {
      const { body } = await world.ask(`/pages?${FINAL}&offset=${offset}`);
      urls.push(...(body.pages as { url: string }[]).map(({ url }) => url));
    }
    const whole = world.google.pages.map(({ key }) => key);
    t.strictSame([urls, world.google.requests.length], [whole, 1], folder);
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
  for (const _ of [1, 2]) t.equal((await world.ask('/pages?from=2026-02-02&to=2026-02-28')).status, 503);
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
  using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  rmSync(file);
  mkdirSync(file);
  db.exec(`update lists set bytes = ${statSync(file).size}`);
  const { status, headers } = await other.ask(`/pages?${FINAL}`);
  t.strictSame([status, headers['retry-after']], [503, '60']);
  rmSync(file, { recursive: true });
  writeFileSync(file, bytes);
  db.exec(`update lists set bytes = ${bytes.length}`);
  t.strictSame([(await other.ask(`/pages?${FINAL}`)).status, world.google.requests.length], [200, 1]);
});

t.test('a damaged database of uses is replaced; without one, lists are answered', localOnly, async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = rowsOf(3);
  await world.app.close();
  const path = join(world.dataFolder, 'usage.sqlite');
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  for (const damage of [
    () => writeFileSync(path, 'not a database, but long enough to be taken for one '.repeat(50)),
    () => mkdirSync(path),
  ]) {
    rmSync(path);
    damage();
    const server = await startSecondServer(t, world);
    t.equal((await server.ask(`/pages?${FINAL}&limit=1`)).status, 200);
    t.match((await server.ask(`/pages?${FINAL}&limit=1&offset=1`)).body.pages, [{ url: '/1' }]);
    await server.stop();
  }
});

t.test('reading lists commits nothing to the catalog', localOnly, async (t) => {
  const rows = [3, 2, 1].map((clicks) => ['2026-03-01', `https://shop.example/${clicks}`, 'usa', clicks, 100, 0]);
  const world = await makeWorld(t, { page_daily: facts('date url country', ...rows) });
  const other = await startSecondServer(t, world);
  // The last use of the key is written there, too, though at most once a second.
  const isUntouched = async (path: string): Promise<boolean> => {
    await world.ask(path);
    await new Promise(setImmediate);
    const before = world.catalog.version();
    for (const offset of [0, 1, 2]) t.equal((await other.ask(`${path}&limit=1&offset=${offset}`)).status, 200);
    await new Promise(setImmediate);
    return world.catalog.version() === before;
  };
  const seen: boolean[] = [];
  for (let day = 10; day < 20 && !seen.includes(true); day++)
    seen.push(await isUntouched(`/pages?from=2026-02-${day}&to=2026-03-05`));
  t.ok(seen.includes(true));
});

t.test('cached parts of short lists take no more memory than is counted', async (t) => {
  const engine = await sharedEngine(readSettings(ONE_THREAD));
  const file = join(temporaryFolder(t), 'list.parquet');
  using session = await engine.session();
  const row = "select 1 as rank, '/a' as text, 2 as clicks, 3 as impressions, 4.5::double as sum_position";
  await session.run(`copy (${row}) to '${file}' (format parquet)`, {});
  const blocks = new Blocks(engine, 1_000_000);
  const rendering: Rendering = { variant: '', name: 'url', known: 'all', fields: [], textsOf: () => ({}) };
  const [json] = await blocks.json({ name: 'lists/list.parquet', path: file }, 0, 1, rendering);
  t.equal(json!.toString(), '{"url":"/a","clicks":2,"impressions":3,"ctr":0.6667,"position":2.5}');
  // The last row is followed by a comma in the cache.
  t.ok(json!.buffer.byteLength <= blocks.state.bytes, `${json!.buffer.byteLength} bytes of memory`);
});
