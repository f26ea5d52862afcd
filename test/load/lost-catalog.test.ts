// A lost or outdated catalog is rebuilt from the files beside the facts, and no data is lost silently.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { nameCatalogFailure } from '../../server/catalog/failures.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { copyCatalog, keepCopy } from '../../server/catalog/store.ts';
import { setKeepDays } from '../../server/catalog/workspaces.ts';
import { Journal, openJournal } from '../../server/load/journal.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { journaledTransaction } from '../../server/load/publish.ts';
import { removeProject } from '../../server/load/remove.ts';
import { sweepBetweenLoads } from '../../server/load/sweep-between-loads.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { makeDataFolder, startServer } from '../process.ts';
import {
  facts,
  keyword,
  makeWorld,
  ONE_THREAD,
  sharedEngine,
  type Tables,
  temporaryFolder,
  writeSnapshot,
} from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

const everything = writeSnapshot(t, EVERYTHING);
const FACTS = { site_daily: facts('date device', ['2026-03-02', 'desktop', 5, 100, 900]) };

function removeCatalog(dataFolder: string): void {
  for (const file of globSync(`${dataFolder}/catalog.sqlite*`)) rmSync(file);
}

async function manifestOf(dataFolder: string): Promise<{ file: string }[]> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  return await catalog.statements.all('fact-files.all');
}

async function load(
  dataFolder: string,
  tables: Tables,
  options: { replace?: boolean; confirmDelete?: string[] } = {},
): ReturnType<typeof loadSnapshot> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const folder = writeSnapshot(t, tables);
  const settings = readSettings({ ...ONE_THREAD, ORDINATE_DATA: dataFolder });
  return await loadSnapshot({ settings, catalog }, { folder, engine: () => sharedEngine(settings), ...options });
}

t.test('a killed server leaves its log behind, which is not taken for that of the rebuilt catalog', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const settings = { ORDINATE_DATA: dataFolder };
  const manifest = await manifestOf(dataFolder);
  const server = await startServer(t, settings);
  server.child.kill('SIGKILL');
  await server.ended;
  const readable = globSync('**/*', { cwd: dataFolder }).filter(
    (file) => (statSync(join(dataFolder, file)).mode & 0o077) !== 0,
  );
  t.strictSame(readable, [], "nothing is anybody else's to read, whoever wrote it");
  rmSync(join(dataFolder, 'catalog.sqlite'));
  const { code, stdout } = await command(settings, 'rebuild', '--json');
  const whole = { rebuilt: 'catalog', projects: 2, files: manifest.length, restored: [], damaged: [] };
  t.match({ code, ...JSON.parse(stdout) }, { code: 0, ...whole });
  t.strictSame(await manifestOf(dataFolder), manifest);
});

/** The catalog looks for its file once in each turn of the event loop. */
const nextTurn = (): Promise<void> => new Promise((done) => void setImmediate(done));

t.test('a server whose catalog is gone is not ready, answers nothing and writes nothing', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const path = join(world.dataFolder, 'catalog.sqlite');
  const ready = async (): Promise<number> => (await world.app.inject('/readyz')).statusCode;
  t.equal((await world.ask('/site')).status, 200);
  const ways: Record<string, () => void> = {
    removed: () => {},
    replaced: () => cpSync(`${path}.away`, path),
  };
  for (const [what, lose] of Object.entries(ways)) {
    renameSync(path, `${path}.away`);
    lose();
    await nextTurn();
    t.equal(await ready(), 503, what);
    t.match(await world.ask('/site'), { status: 503, body: { error: { code: 'unavailable' } } });
    t.match(world.log.join(''), new RegExp(`catalog\\.sqlite' was ${what}`), 'the log names it');
    t.notMatch((await world.ask('/site')).body.error.message, /sqlite/, 'the client hears no paths');
    await t.rejects(world.catalog.statements.run('revisions.next'), /catalog\.sqlite' was/);
    await t.rejects(
      world.catalog.transaction(async () => {}),
      /catalog\.sqlite' was/,
    );
    await t.rejects(world.load(FACTS), { message: /catalog\.sqlite' was/ });
    renameSync(`${path}.away`, path);
    await nextTurn();
    t.equal(await ready(), 200, 'it goes on with its own catalog');
    t.equal((await world.ask('/site')).status, 200);
  }
  writeFileSync(path, '');
  await nextTurn();
  t.equal(await ready(), 503, 'emptied');
  t.match(await world.ask('/site'), { status: 503 });
  await t.rejects(world.catalog.statements.run('revisions.next'), /catalog\.sqlite' was emptied/);
  await world.catalog.close();
  t.equal(statSync(path).size, 0, 'nor does its end write to it');
});

t.test('failures of the catalog name its file and say what to do', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  await (await openCatalog(sqliteIn(folder))).close();
  const path = join(folder, 'catalog.sqlite');
  const other = new DatabaseSync(path);
  const writer = new DatabaseSync(path, { timeout: 0 });
  other.exec('begin immediate');
  try {
    writer.exec('begin immediate');
    t.fail('one writer at a time');
  } catch (error) {
    t.match(nameCatalogFailure(error, path), { message: /^The catalog '.*' is locked by another process/, errcode: 5 });
  }
  t.match(nameCatalogFailure(Object.assign(new Error('full'), { errcode: 13 }), path), {
    message: `The catalog '${path}' cannot grow because its disk is full (full). Free some space and try again.`,
  });
  const constraint = new Error('constraint failed');
  t.equal(
    nameCatalogFailure(Object.assign(constraint, { errcode: 19 }), path),
    constraint,
    'others stay what they are',
  );
  writer.close();
  other.close();
});

t.test('a record of the journal that cannot be renamed after its commit counts as committed', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const records = (): string[] =>
    readdirSync(join(dataFolder, 'facts/journal'))
      .map((name) => name.split('.')[1]!)
      .filter((kind) => kind !== 'revoked');
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const own = openJournal(sqliteIn(dataFolder));
  const settle = (): Promise<never> => Promise.reject(new Error('a record cannot be renamed'));
  await using lock = (await catalog.locks.takeLoad('all'))!;
  const publications = { begin: (of: Catalog) => own.begin(of), settle, requireCopy: async () => {}, compact: settle };
  t.equal(await journaledTransaction({ catalog, journal: publications, lock }, async () => 'done'), 'done');
  const before = records();
  await own.settle(catalog);
  t.strictSame([before, records()], [['pending'], ['change']], 'by the next change');
});

t.test('a copy keeps no replaced file for longer than an hour, and is enough all the same', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const named = await manifestOf(dataFolder);
  await load(dataFolder, FACTS);
  const manifest = await manifestOf(dataFolder);
  t.notSame(manifest, named);
  {
    await using catalog = await openCatalog(sqliteIn(dataFolder));
    const settings = readSettings({ ...ONE_THREAD, ORDINATE_DATA: dataFolder });
    await sweepBetweenLoads({ settings, catalog }, Date.now() + 7_200_000, AbortSignal.timeout(60_000));
  }
  const left = globSync('facts/**/*.parquet', { cwd: dataFolder }).sort();
  t.strictSame(left, manifest.map(({ file }) => file).sort());
  removeCatalog(dataFolder);
  t.match(await rebuild(dataFolder), { copy: /^20/, restored: [], damaged: [] });
  t.strictSame(await manifestOf(dataFolder), manifest);
});

/** As if a load had been killed right after its commit. */
function leavePending(dataFolder: string): void {
  const [newest = ''] = globSync(`${dataFolder}/facts/journal/*.change.ndjson`).sort().reverse();
  renameSync(newest, newest.replace('.change.', '.pending.'));
}

t.test('a load that was killed after its commit counts in a rebuild of a whole catalog', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  await load(dataFolder, FACTS);
  const manifest = await manifestOf(dataFolder);
  leavePending(dataFolder);
  t.match(await rebuild(dataFolder), { rebuilt: 'manifest', restored: [], damaged: [] });
  t.strictSame(await manifestOf(dataFolder), manifest);
  removeCatalog(dataFolder);
  await rebuild(dataFolder);
  t.strictSame(await manifestOf(dataFolder), manifest);
});

t.test('so it does over a catalog that lacks the load before it', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const older = readFileSync(join(dataFolder, 'catalog.sqlite'));
  await load(dataFolder, FACTS);
  await load(dataFolder, { site_daily: facts('date device', ['2026-03-04', 'desktop', 5, 100, 900]) });
  const manifest = await manifestOf(dataFolder);
  leavePending(dataFolder);
  writeFileSync(join(dataFolder, 'catalog.sqlite'), older);
  await rebuild(dataFolder);
  t.strictSame(await manifestOf(dataFolder), manifest);
});

t.test('and before verify publishes what it repairs', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  await load(dataFolder, FACTS);
  leavePending(dataFolder);
  const [rollup = ''] = globSync(`${dataFolder}/facts/keyword_cumulative/**/*.parquet`);
  writeFileSync(rollup, 'damaged');
  const { stdout } = await command({ ORDINATE_DATA: dataFolder }, 'verify', '--repair', '--json');
  const kinds = JSON.parse(stdout).problems.map(({ kind }: { kind: string }) => kind);
  t.strictSame([...new Set(kinds)], ['rollup']);
});

/** Lets the commits of publications fail, and, if asked for, also what would remove their records. */
async function withoutCommits(dataFolder: string, keepsRecord: boolean, work: () => Promise<void>): Promise<void> {
  const { prototype } = DatabaseSync;
  const exec = Object.getOwnPropertyDescriptor(prototype, 'exec')!;
  const settle = Object.getOwnPropertyDescriptor(Journal.prototype, 'settle')!;
  const isPending = (): boolean => globSync(`${dataFolder}/facts/journal/*.pending.ndjson`).length > 0;
  const failing = function (this: DatabaseSync, sql: string): void {
    if (sql === 'commit' && isPending()) throw new Error('no commit');
    exec.value.call(this, sql);
  };
  const keeping = async function (this: Journal, catalog: Catalog): Promise<void> {
    if (keepsRecord && isPending()) throw new Error('a record cannot be removed');
    await settle.value.call(this, catalog);
  };
  Object.defineProperty(prototype, 'exec', { ...exec, value: failing });
  Object.defineProperty(Journal.prototype, 'settle', { ...settle, value: keeping });
  try {
    await work();
  } finally {
    Object.defineProperty(prototype, 'exec', exec);
    Object.defineProperty(Journal.prototype, 'settle', settle);
  }
}

t.test('a change whose commit failed is in no rebuilt catalog', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const manifest = await manifestOf(dataFolder);
  const settings = readSettings({ ...ONE_THREAD, ORDINATE_DATA: dataFolder });
  await withoutCommits(dataFolder, false, async () => {
    await t.rejects(load(dataFolder, FACTS), /no commit/);
    await using catalog = await openCatalog(sqliteIn(dataFolder));
    await t.rejects(
      removeProject({ settings, catalog }, 'Proj1', () => {}),
      /no commit/,
    );
  });
  removeCatalog(dataFolder);
  t.equal((await rebuild(dataFolder)).projects, 2);
  t.strictSame(await manifestOf(dataFolder), manifest);
});

t.test('while the record of a failed change is there, so are its files', async (t) => {
  for (const isVerified of [false, true]) {
    const { dataFolder } = await makeDataFolder(t, [everything]);
    await keepCopy(dataFolder);
    const settings = readSettings({ ...ONE_THREAD, ORDINATE_DATA: dataFolder });
    await withoutCommits(dataFolder, true, async () => {
      await t.rejects(load(dataFolder, FACTS), /no commit/);
      await using catalog = await openCatalog(sqliteIn(dataFolder));
      if (isVerified) await t.rejects(verify({ settings, catalog }), /a record cannot be removed/);
    });
    removeCatalog(dataFolder);
    t.strictSame((await rebuild(dataFolder)).damaged, [], isVerified ? 'after it was verified' : 'at once');
  }
});

/** Makes a copy and damages it. */
async function spoilCopy(dataFolder: string): Promise<string> {
  const path = join(dataFolder, (await keepCopy(dataFolder))!.file);
  truncateSync(path, statSync(path).size - 100);
  return path;
}

t.test('an older catalog is brought up to date beside a damaged copy, unless it needs that one', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const path = join(dataFolder, 'catalog.sqlite');
  const older = readFileSync(path);
  const settings = { ORDINATE_DATA: dataFolder };
  {
    await using catalog = await openCatalog(sqliteIn(dataFolder));
    await setKeepDays(catalog, 'acme', 4321);
  }
  const first = await spoilCopy(dataFolder);
  writeFileSync(path, older);
  t.match(await rebuild(dataFolder), { rebuilt: 'catalog', copy: null, damagedCopies: [first] });
  t.match(await command(settings, 'verify'), { code: 0 });
  await load(dataFolder, FACTS);
  const needed = await spoilCopy(dataFolder);
  const [record = ''] = globSync(`${dataFolder}/facts/journal/*.change.ndjson`).sort().reverse();
  rmSync(record);
  writeFileSync(path, older);
  const refused = { message: `'${needed}' is damaged, and only it has publication 2: restore the whole data folder` };
  await t.rejects(rebuild(dataFolder), refused);
  t.strictSame(readFileSync(path), older);
  removeCatalog(dataFolder);
  await t.rejects(rebuild(dataFolder), refused);
});

t.test('a damaged copy is a problem, which the next copy repairs', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  const damaged = await spoilCopy(dataFolder);
  const problems = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await command({ ORDINATE_DATA: dataFolder }, 'verify', '--json', ...words)).stdout).problems;
  t.match(await problems(), [{ kind: 'journal', message: `'${damaged}' is damaged.`, repaired: false }]);
  t.match(await problems('--repair'), [{ kind: 'journal', repaired: true }]);
  t.strictSame(await problems(), []);
});

t.test('a rebuild beside a server that copies the catalog meanwhile has the catalog as the newest', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const report = (step: string): void => {
    if (step !== 'looking for the newest copy') return;
    const path = join(dataFolder, 'catalog.sqlite');
    const copied = join(dataFolder, 'copied');
    using db = new DatabaseSync(path);
    db.exec('update publication set changes = changes + 1');
    copyCatalog(dataFolder, copied);
    const changes = String(db.prepare('select changes from publication').get()!['changes']).padStart(12, '0');
    const digits = createHash('sha256').update(readFileSync(copied)).digest('hex').slice(0, 16);
    renameSync(copied, join(dataFolder, `facts/copies/${changes}-000000000001-${Date.now()}-${digits}.sqlite`));
  };
  t.match(await rebuild(dataFolder, { report }), { rebuilt: 'manifest', copy: null });
});

t.test('a rebuild that cannot make a copy is whole, and one that fails leaves nothing', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const path = join(dataFolder, 'catalog.sqlite');
  const older = readFileSync(path);
  await load(dataFolder, FACTS);
  const manifest = await manifestOf(dataFolder);
  writeFileSync(path, older);
  const [record = ''] = globSync(`${dataFolder}/facts/journal/*.change.ndjson`).sort().reverse();
  const text = readFileSync(record, 'utf8');
  writeFileSync(record, text.replace('site_daily', 'page_daily'));
  await t.rejects(rebuild(dataFolder), /is cut off or damaged/);
  t.notOk(existsSync(join(dataFolder, 'rebuilding')));
  writeFileSync(record, text);
  const copies = join(dataFolder, 'facts/copies');
  rmSync(copies, { recursive: true });
  symlinkSync('nowhere', copies);
  const settings = { ORDINATE_DATA: dataFolder };
  const { code, stderr, stdout } = await command(settings, 'rebuild', '--json');
  t.match({ code, stderr }, { code: 0, stderr: /^Warning: The catalog could not be copied beside the facts/ });
  t.match(JSON.parse(stdout), { rebuilt: 'catalog', files: manifest.length });
  t.strictSame(await manifestOf(dataFolder), manifest);
});

t.test('what records lack is copied after the next load, if it could not be before', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  await keepCopy(dataFolder);
  const copies = join(dataFolder, 'facts/copies');
  renameSync(copies, `${copies}.away`);
  // As if the load had been killed after its commit.
  symlinkSync('nowhere', copies);
  await load(dataFolder, { keywords: [keyword('Added', 'added later')] });
  rmSync(copies);
  renameSync(`${copies}.away`, copies);
  await load(dataFolder, FACTS);
  removeCatalog(dataFolder);
  await rebuild(dataFolder);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const added = { template: 'rows.all', fills: { table: 'keywords', columns: 'query' } };
  const queries = await catalog.statements.all<{ query: string }>(added);
  t.ok(queries.some(({ query }) => query === 'added later'));
});

t.test(
  'a rebuild that was killed before it put the catalog in place goes on, and nobody uses the older one',
  async (t) => {
    const { dataFolder } = await makeDataFolder(t, [everything]);
    await keepCopy(dataFolder);
    const path = join(dataFolder, 'catalog.sqlite');
    {
      await using catalog = await openCatalog(sqliteIn(dataFolder));
      // No copy has it.
      await setKeepDays(catalog, 'acme', 4321);
    }
    const older = readFileSync(path);
    await load(dataFolder, FACTS);
    const manifest = await manifestOf(dataFolder);
    writeFileSync(path, older);
    const copies = globSync(`${dataFolder}/facts/copies/*`);
    await rebuild(dataFolder);
    for (const file of globSync(`${dataFolder}/facts/copies/*`)) if (!copies.includes(file)) rmSync(file);
    renameSync(path, join(dataFolder, 'catalog.rebuilt.sqlite'));
    writeFileSync(path, older);
    const settings = { ORDINATE_DATA: dataFolder };
    const refused = { code: 1, stderr: /rebuild of the catalog .* was interrupted. Run 'ordinate rebuild' again/ };
    t.match(await command(settings, 'projects', 'list'), refused);
    // It had moved the older one away already.
    removeCatalog(dataFolder);
    t.match(await command(settings, 'rebuild'), { code: 0 });
    t.strictSame(await manifestOf(dataFolder), manifest);
    t.match(await command(settings, 'verify'), { code: 0 });
    await using catalog = await openCatalog(sqliteIn(dataFolder));
    t.match(await catalog.statements.all('workspaces.all'), [{ keepDays: 4321 }]);
  },
);

t.test('the journal does not grow without end, and a rebuild from the copy in its place loses nothing', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [everything]);
  // Each of these loads makes a copy.
  const keywords = Array.from({ length: 200 }, (_, index) =>
    keyword(index.toString(36).padStart(5, '0'), `query ${index}`),
  );
  for (let round = 0; round < 4; round++) await load(dataFolder, { keywords });
  const records = (): string[] => globSync(`${dataFolder}/facts/journal/*.change.ndjson`);
  t.equal(globSync(`${dataFolder}/facts/copies/*`).length, 3, 'the last ones');
  for (const day of [1, 2, 3]) {
    await load(dataFolder, FACTS);
    await keepCopy(dataFolder, { now: () => Date.now() + day * 86_400_000 });
  }
  await load(dataFolder, FACTS);
  t.ok(records().length < 4, 'records that all copies have are gone');
  const manifest = await manifestOf(dataFolder);
  removeCatalog(dataFolder);
  await rebuild(dataFolder);
  t.strictSame(await manifestOf(dataFolder), manifest);
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const counted = { template: 'rows.all', fills: { table: 'keywords', columns: 'count(*) as count' } };
  t.match(await catalog.statements.get(counted), { count: 200 + 4 });
});
