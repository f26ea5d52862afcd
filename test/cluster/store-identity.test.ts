// A node with another or forgotten object store changes nothing, wherever the catalog and its files are.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { readStoreIdentity } from '../../server/catalog/store.ts';
import { S3Files } from '../../server/storage/s3/s3-files.ts';
import { remoteMark } from '../../server/storage/s3/s3-store.ts';
import { command } from '../command.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { start, startServer } from '../process.ts';
import { facts, ofProject, PROJECT, type Tables, temporaryFolder } from '../world.ts';
import { newDatabase } from './databases.ts';
import { endpoint, filled, load, makeCluster, SITE, skip } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';

const NEW_PROJECT: Tables = {
  projects: [{ ...PROJECT, id: 'Proj9', property: 'sc-domain:new.example', domain: 'new.example' }],
  site_daily: ofProject('Proj9', facts('date device', ['2026-03-09', 'mobile', 7, 100, 900])),
};
const DONE = { code: 0 };
const refused = (stderr: RegExp) => ({ code: 1, stderr });

/** A cluster with facts, and a key. */
async function filledCluster(t: Test) {
  const cluster = await makeCluster(t);
  const first = cluster.node();
  return { ...cluster, first, key: await filled(t, first, EVERYTHING) };
}

async function identityOf(catalogUrl: string) {
  await using catalog = await openCatalog({ dataFolder: join('/nowhere', 'data'), catalogUrl }, { create: false });
  return await readStoreIdentity(catalog);
}

t.test('a load with a forgotten or another store is refused, and the others go on', { skip }, async (t) => {
  const { first, node, key, catalogUrl } = await filledCluster(t);
  const { store, address } = await identityOf(catalogUrl);
  t.equal(address, first['ORDINATE_STORAGE']);
  const other = await Bucket.create(t, endpoint);
  const server = await startServer(t, node());
  const backup = () => ['backup', join(temporaryFolder(t), 'backup')];
  for (const wrong of [node({ ORDINATE_STORAGE: '' }), node(other.settings(endpoint))]) {
    const expected = refused(new RegExp(`in the store ${store} \\('${address}' when it was joined\\)`));
    t.match(await load(t, wrong, NEW_PROJECT), expected);
    for (const words of [['verify', '--repair'], backup()]) t.match(await command(wrong, ...words), { code: 1 });
    t.match(await command(wrong, 'prune'), DONE);
    t.match(await start(t, wrong, 'serve').ended, expected);
    t.notOk(existsSync(join(wrong.ORDINATE_DATA, 'facts')));
  }
  t.strictSame(await other.keys(), []);
  t.match(await server.get('/portfolio', key), { status: 200 });
  t.match(await command(first, ...backup()), DONE);
  t.match(await load(t, first, NEW_PROJECT), DONE);
  t.match(await command(first, 'verify'), { code: 0, stdout: /All is in order/ });
});

t.test('nodes follow the files to another store, and the old one is refused', { skip }, async (t) => {
  const { first, node, key } = await filledCluster(t);
  const other = await Bucket.create(t, endpoint);
  const moved = node(other.settings(endpoint, 'new'));
  const old = await startServer(t, node());
  const to = moved['ORDINATE_STORAGE']!;
  const copy = () => command(first, 'storage', 'copy', '--to', to);
  t.match(await copy(), DONE);
  t.match(await load(t, first, NEW_PROJECT), DONE, 'the catalog has not gone over yet');
  t.match(await command(moved, 'verify'), refused(/1 files were added after.*storage copy' again/));
  t.match(await copy(), { code: 0, stdout: /1 were copied/ });
  const server = await startServer(t, moved);
  t.match(await server.get('/portfolio', key), { status: 200 });
  t.match(await load(t, first, NEW_PROJECT), refused(new RegExp(`'${to}' when it was joined`)));
  const ready = await fetch(`${old.address}/readyz`);
  t.match(await ready.json(), { components: { files: 'away' } });
  t.match(await load(t, moved, { site_daily: facts('date device', ['2026-03-09', 'mobile', 7, 100, 900]) }), DONE);
  t.match(await old.get(SITE, key), { status: 503 });
});

t.test('a restore joins the store that it restores into, and no store of another catalog', { skip }, async (t) => {
  const { first, node, catalogUrl } = await filledCluster(t);
  const backup = join(temporaryFolder(t), 'backup');
  t.match(await command(first, 'backup', backup), DONE);
  const { store } = await identityOf(catalogUrl);
  const withDatabase = async (more: NodeJS.ProcessEnv = {}) =>
    node({ ORDINATE_CATALOG: await newDatabase(t), ...more });
  const drillStore = { ORDINATE_STORAGE: `${first['ORDINATE_STORAGE']}/drill` };
  // The database was lost, and the bucket was not; then both.
  for (const [lost, isSame] of [
    [await withDatabase(), true],
    [await withDatabase(drillStore), false],
  ] as const) {
    t.match(await command(lost, 'restore', backup), DONE);
    t.equal((await identityOf(lost['ORDINATE_CATALOG']!)).store === store, isSame);
    t.match(await command(lost, 'verify'), DONE);
  }
  const again = await withDatabase(drillStore);
  const taken = refused(/is the store of another catalog .*; nothing was restored/);
  t.match(await command(again, 'restore', backup), taken);
  t.match(await command(again, 'projects', 'list'), refused(/There is no catalog/));
});

t.test('the mark of a bucket is written once, also where stores know no conditions', { skip }, async (t) => {
  const bucket = await Bucket.create(t, endpoint);
  const proxy = await FaultyProxy.start(t, endpoint);
  const address = { bucket: bucket.name, prefix: 'p/' };
  const files = new S3Files({ address, endpoint: proxy.url, region: undefined, pathStyle: true });
  t.teardown(() => files.close());
  const mark = remoteMark(files);
  t.equal(await mark.read(), undefined);
  t.equal(await mark.write('one', { isNew: true }), true);
  t.equal(await mark.write('two', { isNew: true }), false);
  t.equal(await mark.read(), 'one');
  t.equal(await mark.write('three', { isNew: false }), true);
  t.equal(await mark.read(), 'three');
});
