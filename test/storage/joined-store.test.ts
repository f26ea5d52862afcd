// A catalog and its file store know each other: no process reads or writes another store.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listNewestFactFiles } from '../../server/catalog/fact-files.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { JoinedStore, openJoinedStore, readStoreIdentity, WrongStore } from '../../server/catalog/store.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { copyStorage } from '../../server/maintenance/copy-storage.ts';
import { verify } from '../../server/maintenance/verify.ts';
import type { StoredFile } from '../../server/storage/file-store.ts';
import type { FileCache } from '../../server/storage/s3/file-cache.ts';
import { S3Store } from '../../server/storage/s3/s3-store.ts';
import { MARK_FILE } from '../../server/storage/store-mark.ts';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { filesIn } from '../maintenance/scene.ts';
import { changeCatalog, localOnly } from '../stores.ts';
import { facts, type LazyWorld, makeLazyWorld, temporaryFolder, type World, writeSnapshot } from '../world.ts';
import { RemoteInMemory } from './remote-in-memory.ts';

const MORE = facts('date device', ['2026-03-09', 'mobile', 7, 100, 900]);
const UNJOINED = 'update store_identity set store = null, address = null';

/** The settings of a process whose files would be in another folder than its catalog. */
function elsewhere({ settings }: LazyWorld, dataFolder: string): World['settings'] {
  return { ...settings, dataFolder, catalogUrl: 'postgres://not-in-this-folder' };
}

async function opening(t: Test, settings: World['settings'], { catalog }: LazyWorld): Promise<JoinedStore> {
  const store = await openJoinedStore(settings, catalog);
  t.teardown(() => store[Symbol.asyncDispose]());
  return store;
}

async function newestFile({ catalog }: LazyWorld): Promise<string> {
  return (await listNewestFactFiles(catalog, 1))[0]!;
}

/** A world whose store is a copy of its folder from now on. */
async function movedWorld(t: Test): Promise<{ world: LazyWorld; copy: string }> {
  const world = await makeLazyWorld(t, EVERYTHING);
  const copy = join(temporaryFolder(t), 'copy');
  await copyStorage(world, { to: copy });
  return { world, copy };
}

t.test('a process with another store changes nothing and says which one it expected', localOnly, async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const { store } = await readStoreIdentity(world.catalog);
  t.match(JSON.parse(readFileSync(join(world.dataFolder, MARK_FILE), 'utf8')), { id: store });
  const folder = join(temporaryFolder(t), 'forgotten');
  const settings = elsewhere(world, folder);
  const before = await world.catalog.statements.all('fact-files.all');
  const snapshot = writeSnapshot(t, { site_daily: MORE });
  const message = new RegExp(`in the store ${store} .*but '${folder}' is not marked as a store of Ordinate`);
  const refused = { name: 'WrongStore', message };
  await t.rejects(loadSnapshot({ ...world, settings }, { folder: snapshot }), refused);
  await t.rejects(verify({ ...world, settings }, { repair: true }), refused);
  t.strictSame(await world.catalog.statements.all('fact-files.all'), before);
  t.strictSame(existsSync(folder) ? filesIn(folder) : [], [], 'nothing was written there');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, MARK_FILE), JSON.stringify({ ordinateStore: 1, id: 'another', catalog: 'x' }));
  await t.rejects(opening(t, settings, world), { message: /is the store another\. Nothing was read or written/ });
});

t.test('a catalog that is not joined yet joins only the store of its files', localOnly, async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  await changeCatalog(world.settings, UNJOINED);
  rmSync(join(world.dataFolder, MARK_FILE));
  const settings = elsewhere(world, temporaryFolder(t));
  await t.rejects(opening(t, settings, world), { message: /has none of the newest ones: it is another store/ });
  const file = await newestFile(world);
  rmSync(join(world.dataFolder, file));
  await opening(t, world.settings, world);
  t.ok((await readStoreIdentity(world.catalog)).store, 'one lost file does not keep it from joining');
});

t.test('of processes that join at once with several stores, one store wins', localOnly, async (t) => {
  const world = await makeLazyWorld(t, {});
  await changeCatalog(world.settings, UNJOINED);
  rmSync(join(world.dataFolder, MARK_FILE), { force: true });
  const folders = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)];
  const results = await Promise.allSettled(
    [...folders, ...folders].map(async (dataFolder) => {
      await using catalog = await openCatalog(world.settings);
      await using store = await openJoinedStore(elsewhere(world, dataFolder), catalog);
      await store.requireCurrent();
      return dataFolder;
    }),
  );
  const { store, address } = await readStoreIdentity(world.catalog);
  const joined = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.strictSame(joined, [address, address], 'both processes of one store');
  for (const one of results) if (one.status === 'rejected') t.type(one.reason, WrongStore);
  const marks = folders.filter((folder) => existsSync(join(folder, MARK_FILE)));
  t.strictSame(marks, [address], 'the others are not marked');
  t.match(JSON.parse(readFileSync(join(address!, MARK_FILE), 'utf8')), { id: store });
});

t.test('a killed join goes on, and a store of another catalog is refused', localOnly, async (t) => {
  const world = await makeLazyWorld(t, {});
  const { store, catalog } = await readStoreIdentity(world.catalog);
  await changeCatalog(world.settings, UNJOINED);
  const folder = temporaryFolder(t);
  // As if the process had ended between both.
  writeFileSync(join(folder, MARK_FILE), JSON.stringify({ ordinateStore: 1, id: 'mine', catalog }));
  await opening(t, elsewhere(world, folder), world);
  t.match(await readStoreIdentity(world.catalog), { store: 'mine' });
  await changeCatalog(world.settings, UNJOINED);
  const other = temporaryFolder(t);
  writeFileSync(join(other, MARK_FILE), JSON.stringify({ ordinateStore: 1, id: 'theirs', catalog: 'another' }));
  const settings = elsewhere(world, other);
  await t.rejects(opening(t, settings, world), { message: /is the store of another catalog \(theirs\)/ });
  writeFileSync(join(other, MARK_FILE), '{"ordinateStore":2}');
  await t.rejects(opening(t, settings, world), { message: /is damaged, or a newer version of Ordinate wrote it/ });
  await changeCatalog(world.settings, `update store_identity set store = '${store}'`);
});

t.test('the catalog goes over to a complete copy, and the old store is refused from then on', localOnly, async (t) => {
  const { world, copy } = await movedWorld(t);
  const before = await readStoreIdentity(world.catalog);
  const old = await opening(t, world.settings, world);
  await world.load({ site_daily: MORE });
  const settings = elsewhere(world, copy);
  await t.rejects(opening(t, settings, world), {
    message: /files were added after .* was copied.*storage copy' again/,
  });
  t.match(await copyStorage(world, { to: copy }), { copied: Number });
  const store = await opening(t, settings, world);
  await store.requireCurrent();
  const after = await readStoreIdentity(world.catalog);
  t.not(after.store, before.store);
  t.equal(after.address, copy);
  const refused = { name: 'WrongStore', message: new RegExp(`in the store ${after.store}`) };
  await t.rejects(opening(t, world.settings, world), refused);
  await t.rejects(old.reach('facts'), refused, 'also in a process that runs: it is not ready');
  await t.rejects(old.seal('facts/x'), refused, 'and writes nothing');
  const lost = [{ file: 'facts/not-there.parquet', bytes: 1, sha256: '' }];
  await t.rejects(old.open(lost), refused, 'what the old store lacks is not a damaged file');
  await t.rejects(copyStorage(world, { to: join(temporaryFolder(t), 'x') }), refused);
  // And back: the mark of the folder is that of an earlier store of this catalog.
  await copyStorage({ ...world, settings }, { to: world.dataFolder });
  await (await opening(t, world.settings, world)).requireCurrent();
  await t.rejects(store.requireCurrent(), { name: 'WrongStore' });
});

t.test('a load that runs while the catalog goes over publishes nothing', localOnly, async (t) => {
  const { world, copy } = await movedWorld(t);
  const before = await world.catalog.statements.all('fact-files.all');
  const report = async (step: string): Promise<void> => {
    if (step.startsWith('writing')) moving ??= opening(t, elsewhere(world, copy), world);
  };
  let moving: Promise<JoinedStore> | undefined;
  const loading = loadSnapshot(world, {
    folder: writeSnapshot(t, { site_daily: MORE }),
    acceptImplausible: true,
    report: (step) => void report(step),
  });
  await t.rejects(loading, { name: 'WrongStore' });
  await moving;
  t.strictSame(await world.catalog.statements.all('fact-files.all'), before);
});

t.test('an interrupted copy is no store of the catalog', localOnly, async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const file = await newestFile(world);
  rmSync(join(world.dataFolder, file));
  const copy = join(temporaryFolder(t), 'copy');
  await t.rejects(copyStorage(world, { to: copy }), /Not all files could be copied/);
  await t.rejects(opening(t, elsewhere(world, copy), world), { name: 'WrongStore' });
  const other = temporaryFolder(t);
  writeFileSync(join(other, MARK_FILE), JSON.stringify({ ordinateStore: 1, id: 'theirs', catalog: 'another' }));
  await t.rejects(copyStorage(world, { to: other }), /is the store of another catalog/);
});

t.test('a catalog that takes no changes is read without joining', localOnly, async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  await changeCatalog(world.settings, UNJOINED);
  rmSync(join(world.dataFolder, MARK_FILE));
  writeFileSync(join(world.dataFolder, 'catalog-was-copied'), 'elsewhere\n');
  const store = await opening(t, world.settings, world);
  const [file] = await world.catalog.statements.all<{ file: string; bytes: number; sha256: string }>('fact-files.all');
  using opened = await store.open([file!]);
  t.equal(opened.paths.length, 1);
  t.match(await readStoreIdentity(world.catalog), { store: null });
  rmSync(join(world.dataFolder, 'catalog-was-copied'));
});

t.test(
  'a node that may only read an object store reads without joining, and says what it may not do',
  localOnly,
  async (t) => {
    const world = await makeLazyWorld(t, EVERYTHING);
    const [file] = await world.catalog.statements.all<StoredFile>('fact-files.all');
    await changeCatalog(world.settings, UNJOINED);
    const remote = new RemoteInMemory();
    remote.isReadOnly = true;
    const held = { paths: ['there'], [Symbol.dispose]: () => {} };
    const cache = { hold: async () => held, check: async () => {} } as unknown as FileCache;
    const store = new JoinedStore(new S3Store(remote, cache, async () => {}), world.catalog, false);
    await t.rejects(store.compare(), { message: /has none of the newest ones: it is another store/ });
    remote.files.set(await newestFile(world), Buffer.from('x'));
    using opened = await store.open([file!]);
    t.equal(opened.paths.length, 1);
    t.match(await readStoreIdentity(world.catalog), { store: null });
    remote.isReadOnly = false;
    await store.compare();
    const { store: id } = await readStoreIdentity(world.catalog);
    t.match(JSON.parse(String(remote.files.get(MARK_FILE))), { id }, 'one that may write joins them');
    await changeCatalog(world.settings, UNJOINED);
  },
);

t.test('a restored folder has an identity of its own', localOnly, async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const environment = { ORDINATE_DATA: world.dataFolder };
  const [target, folder] = [join(temporaryFolder(t), 'backup'), join(temporaryFolder(t), 'restored')];
  t.match(await command(environment, 'backup', target), { code: 0 });
  t.match(await command({}, 'restore', target, '--data', folder), { code: 0 });
  t.match(await command({ ORDINATE_DATA: folder }, 'verify'), { code: 0, stdout: /All is in order/ });
  await using catalog = await openCatalog({ dataFolder: folder, catalogUrl: '' });
  const [restored, original] = [await readStoreIdentity(catalog), await readStoreIdentity(world.catalog)];
  t.not(restored.store, original.store);
  t.not(restored.catalog, original.catalog);
  t.equal(restored.address, folder);
  await t.rejects(openJoinedStore(world.settings, catalog), { name: 'WrongStore' });
});
