// An object store serves the same answers as a data folder, and its failures never produce wrong data.
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { sweepBetweenLoads } from '../../server/load/sweep-between-loads.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { MARK_FILE } from '../../server/storage/store-mark.ts';
import { command } from '../command.ts';
import { startSecondServer } from '../fakes/second-server.ts';
import { EVERYTHING } from '../load/snapshots.ts';
import { valuesOf } from '../metrics/scrape-text.ts';
import { start, startServer, until } from '../process.ts';
import {
  type Answer,
  facts,
  makeWorld,
  NOW,
  ONE_THREAD,
  type Tables,
  temporaryFolder,
  type World,
  writeSnapshot,
} from '../world.ts';
import { fileKeys, namedKeys } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';

const { ORDINATE_TEST_S3: endpoint = '' } = process.env;
const skip = endpoint === '' ? 'ORDINATE_TEST_S3 names no object store' : false;

const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read all kinds of files. */
const ASKED = [
  `/site?${RANGE}`,
  `/site?${RANGE}&country=usa`,
  `/breakdowns?${RANGE}`,
  `/keywords?${RANGE}`,
  `/keywords?${RANGE}&daily=1`,
  `/keywords?${RANGE}&device=desktop`,
  `/keywords?${RANGE}&daily=1&device=desktop`,
  `/pages?${RANGE}`,
  `/queries?${RANGE}`,
];
const COLD = { ORDINATE_CACHE: '0MB' };
const MORE = facts('date device', ['2026-03-09', 'mobile', 7, 100, 900]);

async function answers(ask: (path: string) => Promise<Answer>): Promise<unknown[]> {
  const all = await Promise.all(ASKED.map(ask));
  return all.map(({ status, body }) => ({ status, body }));
}

/** A world whose files are in a bucket of its own, below a prefix. */
async function remoteWorld(
  t: Test,
  { environment = {}, tables = EVERYTHING }: { environment?: NodeJS.ProcessEnv; tables?: Tables } = {},
): Promise<{ world: World; bucket: Bucket; settings: NodeJS.ProcessEnv }> {
  const bucket = await Bucket.create(t, endpoint);
  const settings = { ...bucket.settings(endpoint, 'some/prefix'), ...COLD, ...environment };
  return { world: await makeWorld(t, tables, { environment: settings }), bucket, settings };
}

/** A copy of a data folder as another node has it, which has fetched nothing yet. */
function otherNode(t: Test, { dataFolder }: World): string {
  const copy = join(temporaryFolder(t), 'data');
  cpSync(dataFolder, copy, { recursive: true, filter: (path) => !/\/(cache|temporary|locks|usage.*)$/.test(path) });
  return copy;
}

/** A server of another node, in this process. */
function secondServer(t: Test, world: World, settings: Partial<World['settings']> = {}) {
  const dataFolder = otherNode(t, world);
  return startSecondServer(t, {
    ...world,
    now: () => NOW,
    dataFolder,
    settings: { ...world.settings, dataFolder, ...settings },
  });
}

t.test('all answers are those of a data folder, and all files are in the object store', { skip }, async (t) => {
  const { world, bucket, settings } = await remoteWorld(t);
  const local = await makeWorld(t, EVERYTHING, { environment: COLD });
  const expected = await answers(local.ask);
  t.strictSame(await answers(world.ask), expected);
  t.strictSame(await fileKeys(bucket), await namedKeys(world.catalog));
  t.equal((await fileKeys(bucket)).filter((key) => key.includes('/lists/')).length, 2);
  const kept = globSync('**/*.parquet', { cwd: world.dataFolder, exclude: ['cache/**'] });
  t.strictSame(kept, [], 'no file is in the data folder itself');

  await world.load({ site_daily: MORE });
  await local.load({ site_daily: MORE });
  t.strictSame(await answers(world.ask), await answers(local.ask), 'after a load that reads stored parts');
  const node = await startServer(t, { ...settings, ORDINATE_DATA: otherNode(t, world) });
  t.strictSame(
    await answers((path) => node.get(`/projects/Proj1${path}`, world.key)),
    await answers(local.ask),
    'a node with an empty cache',
  );
});

t.test('metrics of a node say what it asked the object store, and how', { skip }, async (t) => {
  // A node that has keywords reads them before anyone asks.
  const { workspaces = [], projects = [], site_daily = [], country_daily = [] } = EVERYTHING;
  const { world, settings } = await remoteWorld(t, { tables: { workspaces, projects, site_daily, country_daily } });
  const proxy = await FaultyProxy.start(t, endpoint);
  const node = await startServer(t, {
    ...settings,
    ORDINATE_DATA: otherNode(t, world),
    ORDINATE_STORAGE_ENDPOINT: proxy.url,
    ORDINATE_METRICS_PORT: '0',
    ORDINATE_JOBS: 'off',
  });
  const address = await until(
    'the address of metrics',
    () => /"address":"([^"]+)","msg":"metrics/.exec(node.printed.stderr)?.[1],
  );
  const counted = async (name: string, labels: Readonly<Record<string, string>>): Promise<number> => {
    const found = valuesOf(await (await fetch(address)).text(), `ordinate_storage_${name}_total`, labels);
    return Object.values(found).reduce((sum, value) => sum + value, 0);
  };
  const site = `/projects/Proj1${ASKED[0]}`;
  // The server checks it by itself, which would come between.
  t.equal((await fetch(`${node.address}/readyz`)).status, 200);
  t.equal(await counted('reads', { outcome: 'miss' }), 0);
  const before = await counted('requests', { kind: 'get', outcome: 'ok' });
  t.equal(before, 2, 'which store it is, and a file for its readiness');
  t.match(await node.get(site, world.key), { status: 200 });
  const fetched = await counted('reads', { outcome: 'miss' });
  t.ok(fetched > 0, 'an empty disk cache');
  t.equal(await counted('reads', { outcome: 'hit' }), 0);
  t.equal(await counted('requests', { kind: 'get', outcome: 'ok' }), before + fetched);
  t.match(await node.get(site, world.key), { status: 200 });
  t.equal(await counted('reads', { outcome: 'hit' }), fetched, 'the same files from the disk cache');
  t.equal(await counted('requests', { outcome: 'away' }), 0);
  proxy.fault = () => 'error';
  t.match(await node.get(`/projects/Proj1/breakdowns?${RANGE}`, world.key), { status: 503 });
  t.ok((await counted('requests', { kind: 'get', outcome: 'away' })) > 0);
});

t.test('a snapshot file, an export and verify read through the cache', { skip }, async (t) => {
  const { world, settings } = await remoteWorld(t);
  const local = await makeWorld(t, EVERYTHING, { environment: COLD });
  const { body } = await world.ask('/snapshot');
  for (const { href, bytes, sha256 } of body.files) {
    const headers = { authorization: `Bearer ${world.key}`, range: 'bytes=4-99' };
    const part = await world.app.inject({ url: href, headers });
    t.match(part, { statusCode: 206, headers: { etag: `"${sha256}"`, 'content-range': `bytes 4-99/${bytes}` } });
    t.equal(part.rawPayload.length, 96);
  }
  const environment = { ...settings, ORDINATE_DATA: world.dataFolder };
  const folders = [join(temporaryFolder(t), 'remote'), join(temporaryFolder(t), 'local')] as const;
  for (const [folder, data] of [
    [folders[0], environment],
    [folders[1], { ORDINATE_DATA: local.dataFolder }],
  ] as const) {
    t.match(await command(data, 'export', '--workspace', 'acme', '--out', folder), { code: 0 });
  }
  const tables = (folder: string): string[] => globSync('**/*.parquet', { cwd: folder }).sort();
  t.strictSame(tables(folders[0]), tables(folders[1]));
  t.match(await command(environment, 'verify'), { code: 0, stdout: /All is in order/ });
  t.match(await command(environment, 'verify', '--deep', '--repair'), { code: 0, stdout: /All is in order/ });
});

t.test('a cache that holds a few files only answers many questions at a time', { skip }, async (t) => {
  const { world } = await remoteWorld(t);
  const expected = await answers(world.ask);
  const storageCache = 5000;
  const node = await secondServer(t, world, { storageCache });
  for (let round = 0; round < 2; round++) {
    const all = await Promise.all(Array.from({ length: 6 }, () => answers(node.ask)));
    for (const found of all) t.strictSame(found, expected);
  }
  t.equal(node.log.filter((line) => line.includes('"level":50')).length, 0);
});

t.test('while the store fails, answers are 503, and it recovers', { skip }, async (t) => {
  const { world } = await remoteWorld(t);
  const expected = await answers(world.ask);
  for (const fault of ['error', 'cut'] as const) {
    const proxy = await FaultyProxy.start(t, endpoint);
    const node = await secondServer(t, world, { storageEndpoint: proxy.url });
    proxy.fault = (method) => (method === 'GET' ? fault : undefined);
    const failed = await node.ask(ASKED[0]!);
    t.match(failed, { status: 503, headers: { 'retry-after': '60' }, body: { error: { code: 'unavailable' } } }, fault);
    t.match(node.log.join(''), /s3:\/\/ordinate-.*site_daily/);
    t.notMatch(node.log.join(''), process.env['AWS_SECRET_ACCESS_KEY']!);
    t.match((await node.ask(ASKED[7]!)).status, 503, 'a list of facts, too');
    proxy.fault = () => undefined;
    t.strictSame(await answers(node.ask), expected);

    let faults = 0;
    const once = await secondServer(t, world, { storageEndpoint: proxy.url });
    proxy.fault = (method) => (method === 'GET' && faults++ === 0 ? fault : undefined);
    t.strictSame(await answers(once.ask), expected, `a single ${fault} is not noticed`);
    t.ok(faults > 1);
  }
});

t.test('wrong bytes are never served: fetched again, or named', { skip }, async (t) => {
  const { world, bucket } = await remoteWorld(t);
  const expected = await answers(world.ask);
  const proxy = await FaultyProxy.start(t, endpoint);
  const node = await secondServer(t, world, { storageEndpoint: proxy.url });
  let faults = 0;
  proxy.fault = () => (faults++ === 0 ? 'wrong' : undefined);
  t.strictSame(await answers(node.ask), expected, 'bytes changed on their way');

  const broken = await secondServer(t, world);
  const key = (await fileKeys(bucket)).find((name) => name.includes('/site_daily/'))!;
  const whole = await bucket.get(key);
  const flipped = Buffer.from(whole);
  flipped[100]! ^= 1;
  for (const [content, message] of [
    [flipped, /its SHA-256 is/],
    [whole.subarray(0, 50), /it has 50 bytes instead of/],
    [undefined, /it is missing/],
  ] as const) {
    if (content === undefined) await bucket.remove(key);
    else await bucket.put(key, content);
    t.match(await broken.ask(ASKED[0]!), { status: 500, body: { error: { code: 'server_error' } } });
    t.match(broken.log.at(-2)! + broken.log.at(-1)!, message);
    t.match(broken.log.join(''), `s3://${bucket.name}/${key}`);
    const data = { ...bucket.settings(endpoint, 'some/prefix'), ORDINATE_DATA: otherNode(t, world) };
    const found = await command(data, 'verify', '--deep', '--json');
    t.match(JSON.parse(found.stdout), { ok: false, problems: [{ kind: 'file', table: 'site_daily' }] });
  }
  await bucket.put(key, whole);
  t.equal((await broken.ask(ASKED[0]!)).status, 200, 'restored, it is answered from');

  const list = (await fileKeys(bucket)).find((name) => name.includes('/lists/'))!;
  await bucket.remove(list);
  t.strictSame(await answers(broken.ask), expected, 'a lost list is made again');
});

t.test('verify lists the object store, and reads again only what is new or was replaced', { skip }, async (t) => {
  const { world, bucket, settings } = await remoteWorld(t);
  const proxy = await FaultyProxy.start(t, endpoint);
  let node = { ...settings, ORDINATE_DATA: otherNode(t, world), ORDINATE_STORAGE_ENDPOINT: proxy.url };
  const verify = async (...words: string[]): Promise<{ problems: unknown[]; requests: string[] }> => {
    const from = proxy.requests.length;
    const { stdout, stderr } = await command(node, 'verify', '--json', ...words);
    if (stderr !== '') throw new Error(stderr);
    const asked = proxy.requests.slice(from).map(({ method, path }) => {
      const url = new URL(path, endpoint);
      if (url.pathname.endsWith(MARK_FILE)) return 'MARK';
      return url.searchParams.has('list-type') ? 'LIST' : `${method} ${url.pathname.split('/facts/')[1] ?? path}`;
    });
    return { problems: (JSON.parse(stdout) as { problems: unknown[] }).problems, requests: asked };
  };
  const keys = (await fileKeys(bucket)).filter((key) => key.includes('/facts/'));
  const first = await verify();
  t.strictSame(first.problems, []);
  t.equal(first.requests.length, 2 + keys.length, 'which store it is, a list, and each file once');
  t.equal(new Set(first.requests).size, first.requests.length);
  t.strictSame(await verify(), { problems: [], requests: ['MARK', 'LIST'] });
  t.strictSame((await verify('--project', 'Proj1')).requests, ['MARK', 'LIST']);
  const deep = await verify('--deep');
  t.strictSame(deep.requests.filter((request) => !['MARK', 'LIST'].includes(request)).length, keys.length);

  node = { ...node, ORDINATE_DATA: world.dataFolder };
  t.equal((await verify()).requests.length, 2 + keys.length, 'another node, which has cached them');
  await world.load({ site_daily: MORE });
  const { requests, problems } = await verify();
  t.strictSame(problems, []);
  t.match(requests, ['MARK', 'LIST', /^HEAD site_daily\//], 'the file of the load');
  t.strictSame((await verify()).requests, ['MARK', 'LIST']);

  for (const table of ['site_daily', 'keyword_daily']) {
    const key = (await fileKeys(bucket)).filter((name) => name.includes(`/${table}/`)).at(-1)!;
    const whole = await bucket.get(key);
    const other = Buffer.from(whole);
    other[100]! ^= 1;
    for (const content of [other, whole.subarray(1), undefined]) {
      if (content === undefined) await bucket.remove(key);
      else await bucket.put(key, content);
      const found = await verify('--deep');
      t.match(found.problems, [{ kind: 'file', table }], table);
      if (content !== other) t.match((await verify()).problems, [{ kind: 'file', table }], `${table}, from the list`);
    }
    await bucket.put(key, whole);
    t.strictSame((await verify()).problems, []);
  }
});

t.test('a load that is killed while it stores files leaves nothing', { skip }, async (t) => {
  const { world, bucket, settings } = await remoteWorld(t);
  const before = await answers(world.ask);
  const keys = await fileKeys(bucket);
  const proxy = await FaultyProxy.start(t, endpoint);
  const snapshot = writeSnapshot(t, { ...EVERYTHING, site_daily: MORE });
  const environment = { ...settings, ORDINATE_DATA: world.dataFolder, ORDINATE_STORAGE_ENDPOINT: proxy.url };
  for (const stored of [0, 1, 4]) {
    let puts = 0;
    proxy.fault = (method) => (method === 'PUT' && puts++ >= stored ? 'held' : undefined);
    const load = start(t, environment, 'load', snapshot, '--accept-implausible');
    await until('a held request', () => (proxy.held > 0 ? true : undefined));
    load.child.kill('SIGKILL');
    await load.ended;
    // What was on its way arrives after the death of the process.
    proxy.release();
    await until('the late files', async () =>
      (await fileKeys(bucket)).length >= keys.length + stored + 1 ? true : undefined,
    );
    t.strictSame(await answers(world.ask), before);
  }
  proxy.fault = () => undefined;
  t.match(await command(environment, 'load', snapshot, '--accept-implausible'), { code: 0 });
  t.match((await world.ask(`/site?from=2026-03-09&to=2026-03-09`)).body.totals, { clicks: 7 });
  await until('the late files are removed', async () => {
    t.match(await command(environment, 'verify'), { code: 0 });
    return JSON.stringify(await fileKeys(bucket)) === JSON.stringify(await namedKeys(world.catalog)) ? true : undefined;
  });

  proxy.fault = (method) => (method === 'PUT' ? 'held' : undefined);
  const load = start(t, environment, 'load', snapshot, '--accept-implausible');
  await until('a held request', () => (proxy.held > 0 ? true : undefined));
  load.child.kill('SIGKILL');
  await load.ended;
  const sweep = (now: number) => sweepBetweenLoads(world, now, new AbortController().signal);
  const { removed } = (await sweep(Date.now()))!;
  t.ok(removed === 1 || removed === 2, 'the files that were on their way, two at most');
  const late = (await fileKeys(bucket)).length + proxy.held;
  proxy.release();
  await until('the late file', async () => ((await fileKeys(bucket)).length === late ? true : undefined));
  t.match(await sweep(Date.now()), { removed: 0 });
  await sweep(Date.now() + 4_000_000);
  t.strictSame(
    await fileKeys(bucket),
    await namedKeys(world.catalog),
    'what arrived after a sweep is removed by a later one',
  );
  t.equal(await bucket.uploads(), 0);
});

t.test('a catalog beside an object store is backed up with its files, or by a copy', { skip }, async (t) => {
  const { world, settings } = await remoteWorld(t);
  const expected = await answers(world.ask);
  const environment = { ...settings, ORDINATE_DATA: world.dataFolder };
  t.match(await command(environment, 'rebuild'), {
    code: 1,
    stderr: /object store .* for which this command is not made/,
  });
  const target = join(temporaryFolder(t), 'backup');
  t.match(await command(environment, 'backup', target), { code: 0, stdout: /Backed up/ });
  const restored = join(temporaryFolder(t), 'restored');
  t.match(await command({}, 'restore', target, '--data', restored), { code: 0, stdout: /Restored 2 projects/ });
  const onFolder = await startServer(t, { ...COLD, ORDINATE_DATA: restored });
  const site = `/projects/Proj1${ASKED[0]}`;
  t.strictSame((await onFolder.get(site, world.key)).body, (await world.get(site)).body);
  const folder = join(temporaryFolder(t), 'copy');
  t.match(await command(environment, 'catalog', 'copy', '--to', folder), { code: 0 });
  await world.load({ site_daily: MORE });
  const node = await startServer(t, { ...settings, ORDINATE_DATA: folder });
  t.strictSame(await answers((path) => node.get(`/projects/Proj1${path}`, world.key)), expected);
});

t.test('without credentials, or with a wrong bucket, it says what to do', { skip }, async (t) => {
  const { world, settings } = await remoteWorld(t);
  const data = { ...settings, ORDINATE_DATA: world.dataFolder };
  for (const words of [['verify'], ['verify', '--deep']]) {
    const wrong = await command({ ...data, ORDINATE_STORAGE: 's3://no-such-bucket' }, ...words);
    t.match(wrong, { code: 1, stdout: '', stderr: /NoSuchBucket; create the bucket, or correct ORDINATE_STORAGE/ });
  }
  const none = await start(t, { ...data, AWS_SECRET_ACCESS_KEY: 'not-this', HOME: temporaryFolder(t) }, 'verify').ended;
  t.match(none, { code: 1, stderr: /403/ });
  const away = await start(t, { ...data, ORDINATE_STORAGE_ENDPOINT: 'http://127.0.0.1:1' }, 'verify').ended;
  t.match(away, { code: 1, stderr: /http:\/\/127.0.0.1:1 cannot be reached \(ECONNREFUSED\)/ });
});

t.test('several uses of a store in a process share it', { skip }, async (t) => {
  const { world } = await remoteWorld(t);
  const stores = await Promise.all([openFileStore(world.settings), openFileStore(world.settings)]);
  writeFileSync(stores[0].prepare('facts/x'), 'x');
  const stored = await stores[0].seal('facts/x');
  await stores[0][Symbol.asyncDispose]();
  using held = await stores[1].open([stored]);
  t.equal(held.paths.length, 1);
  await stores[1].remove('facts/x');
  await stores[1][Symbol.asyncDispose]();
});

t.test('storage copy moves a data folder to a bucket and back', { skip }, async (t) => {
  const world = await makeWorld(t, EVERYTHING, { environment: COLD });
  const expected = await answers(world.ask);
  const bucket = await Bucket.create(t, endpoint);
  const settings = { ...bucket.settings(endpoint, 'some/prefix'), ORDINATE_DATA: world.dataFolder };
  const local = { ...settings, ORDINATE_STORAGE: '' };
  const to = `s3://${bucket.name}/some/prefix`;
  const proxy = await FaultyProxy.start(t, endpoint);
  let puts = 0;
  proxy.fault = (method) => (method === 'PUT' && puts++ >= 3 ? 'held' : undefined);
  const killed = start(t, { ...local, ORDINATE_STORAGE_ENDPOINT: proxy.url }, 'storage', 'copy', '--to', to);
  await until('a held request', () => (proxy.held > 0 ? true : undefined));
  killed.child.kill('SIGKILL');
  await killed.ended;
  const files = (await namedKeys(world.catalog)).length;
  const copy = async (environment: NodeJS.ProcessEnv, place = to) => {
    const { code, stdout, stderr } = await command(environment, 'storage', 'copy', '--to', place, '--json');
    return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : stderr;
  };
  t.match(await copy(local), { files, copied: files - 3, present: 3, left: [] }, 'goes on after it was killed');
  t.strictSame(await fileKeys(bucket), await namedKeys(world.catalog));
  const [first = ''] = await fileKeys(bucket);
  await bucket.put(first, Buffer.from('something else'));
  t.match(await copy(local), { copied: 1, present: files - 1 }, 'a wrong copy is replaced');

  const node = await secondServer(t, { ...world, settings: readSettings({ ...ONE_THREAD, ...settings, ...COLD }) });
  t.strictSame(await answers(node.ask), expected);

  const folder = otherNode(t, world);
  for (const name of ['facts', 'lists']) rmSync(join(folder, name), { recursive: true });
  t.match(await copy({ ...settings, ORDINATE_DATA: folder }, folder), { files, copied: files, present: 0 });
  t.match(await command({ ORDINATE_DATA: folder }, 'verify', '--json'), { stdout: /"kind": "journal"/ });
  const back = await startSecondServer(t, {
    ...world,
    dataFolder: folder,
    now: () => NOW,
    settings: { ...world.settings, dataFolder: folder },
  });
  t.strictSame(await answers(back.ask), expected);

  t.match(await copy(settings), /already: name another place/);
  t.match(await copy(local, 's3:/bucket'), /is no address of an object store/);
  await bucket.remove((await fileKeys(bucket)).find((key) => key.includes('/brand_daily/'))!);
  const lost = await copy({ ...settings, ORDINATE_DATA: otherNode(t, world) }, join(temporaryFolder(t), 'new'));
  t.match(lost, /Not all files could be copied; all others were\.\n.*brand_daily.*it is missing/);
});
