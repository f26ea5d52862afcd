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
import { metricsOf, valuesOf } from '../metrics/scrape-text.ts';
import { start, startServer, until } from '../process.ts';
import {
  type Answer,
  facts,
  makeWorld,
  NOW,
  ONE_THREAD,
  temporaryFolder,
  type World,
  writeSnapshot,
} from '../world.ts';
import { endpoint, fileKeys, json, namedKeys, skipStorage as skip } from './nodes.ts';
import { FaultyProxy } from './servers/faulty-proxy.ts';
import { Bucket } from './servers/object-store.ts';

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
const IN_ORDER = { code: 0, stdout: /All is in order/ };

async function answers(ask: (path: string) => Promise<Answer>): Promise<unknown[]> {
  const all = await Promise.all(ASKED.map(ask));
  return all.map(({ status, body }) => ({ status, body }));
}

/** A world whose files are in a bucket of its own, below a prefix, a proxy before it, and what it answers. */
async function remoteWorld(t: Test, tables = EVERYTHING) {
  const bucket = await Bucket.create(t, endpoint);
  const settings = { ...bucket.settings(endpoint, 'some/prefix'), ...COLD };
  const world = await makeWorld(t, tables, { environment: settings });
  const proxy = await FaultyProxy.start(t, endpoint);
  const environment: NodeJS.ProcessEnv = { ...settings, ORDINATE_DATA: world.dataFolder };
  return { world, bucket, environment, proxy, expected: await answers(world.ask) };
}

/** A copy of a data folder as another node has it, which has fetched nothing yet. */
function otherNode(t: Test, { dataFolder }: World): string {
  const copy = join(temporaryFolder(t), 'data');
  cpSync(dataFolder, copy, { recursive: true, filter: (path) => !/\/(cache|temporary|locks|usage.*)$/.test(path) });
  return copy;
}

/** A server of another node, in this process. */
function secondServer(t: Test, world: World, settings: Partial<World['settings']> = {}) {
  const own = { dataFolder: otherNode(t, world), ...settings };
  return startSecondServer(t, { ...world, now: () => NOW, ...own, settings: { ...world.settings, ...own } });
}

/** Flips a bit. */
function flipped(whole: Buffer): Buffer {
  const other = Buffer.from(whole);
  other[100]! ^= 1;
  return other;
}

/** Starts a command whose files are held after so many, and kills it. */
async function killWhileStoring(
  t: Test,
  proxy: FaultyProxy,
  stored: number,
  node: NodeJS.ProcessEnv,
  ...words: string[]
) {
  let puts = 0;
  proxy.fault = (method) => (method === 'PUT' && puts++ >= stored ? 'held' : undefined);
  const killed = start(t, { ...node, ORDINATE_STORAGE_ENDPOINT: proxy.url }, ...words);
  await until('a held request', () => (proxy.held > 0 ? true : undefined));
  killed.child.kill('SIGKILL');
  // What the dead process had sent may come later, and is held, too.
  await killed.ended;
}

t.test('all answers are those of a data folder, and all files are in the object store', { skip }, async (t) => {
  const { world, bucket, environment, expected } = await remoteWorld(t);
  const local = await makeWorld(t, EVERYTHING, { environment: COLD });
  t.strictSame(expected, await answers(local.ask));
  t.strictSame(await fileKeys(bucket), await namedKeys(world.catalog));
  t.equal((await fileKeys(bucket)).filter((key) => key.includes('/lists/')).length, 2);
  const kept = globSync('**/*.parquet', { cwd: world.dataFolder, exclude: ['cache/**'] });
  t.strictSame(kept, [], 'no file is in the data folder itself');
  for (const one of [world, local]) await one.load({ site_daily: MORE });
  const later = await answers(local.ask);
  t.strictSame(await answers(world.ask), later, 'after a load that reads stored parts');
  const node = await startServer(t, { ...environment, ORDINATE_DATA: otherNode(t, world) });
  const found = await answers((path) => node.get(`/projects/Proj1${path}`, world.key));
  t.strictSame(found, later, 'a node with an empty cache');

  for (const { href, bytes, sha256 } of (await world.ask('/snapshot')).body.files) {
    const headers = { authorization: `Bearer ${world.key}`, range: 'bytes=4-99' };
    const part = await world.app.inject({ url: href, headers });
    t.match(part, { statusCode: 206, headers: { etag: `"${sha256}"`, 'content-range': `bytes 4-99/${bytes}` } });
    t.equal(part.rawPayload.length, 96);
  }
  const exported = async (data: NodeJS.ProcessEnv): Promise<string[]> => {
    const folder = join(temporaryFolder(t), 'out');
    t.match(await command(data, 'export', '--workspace', 'acme', '--out', folder), { code: 0 });
    return globSync('**/*.parquet', { cwd: folder }).sort();
  };
  t.strictSame(await exported(environment), await exported({ ORDINATE_DATA: local.dataFolder }));
  t.match(await command(environment, 'verify'), IN_ORDER);
  t.match(await command(environment, 'verify', '--deep', '--repair'), IN_ORDER);
});

t.test('metrics of a node say what it asked the object store, and how', { skip }, async (t) => {
  // A node that has keywords reads them before anyone asks.
  const { workspaces = [], projects = [], site_daily = [], country_daily = [] } = EVERYTHING;
  const { world, environment, proxy } = await remoteWorld(t, { workspaces, projects, site_daily, country_daily });
  const through = { ORDINATE_STORAGE_ENDPOINT: proxy.url, ORDINATE_METRICS_PORT: '0' };
  const node = await startServer(t, { ...environment, ...through, ORDINATE_DATA: otherNode(t, world) });
  const scrape = await metricsOf(node);
  const counted = async (name: string, labels: Readonly<Record<string, string>>): Promise<number> => {
    const found = valuesOf(await scrape(), `ordinate_storage_${name}_total`, labels);
    return Object.values(found).reduce((sum, value) => sum + value, 0);
  };
  const reads = async () => [
    await counted('reads', { outcome: 'miss' }),
    await counted('reads', { outcome: 'hit' }),
    await counted('requests', { kind: 'get', outcome: 'ok' }),
    await counted('requests', { outcome: 'away' }),
  ];
  const site = () => node.get(`/projects/Proj1${ASKED[0]}`, world.key);
  // The server checks it by itself, which would come between.
  t.equal((await fetch(`${node.address}/readyz`)).status, 200);
  t.strictSame(await reads(), [0, 0, 2, 0], 'which store it is, and a file for its readiness');
  t.match(await site(), { status: 200 });
  const [files = 0, ...more] = await reads();
  t.ok(files > 0, 'an empty disk cache');
  t.strictSame(more, [0, 2 + files, 0]);
  t.match(await site(), { status: 200 });
  t.strictSame(await reads(), [files, files, 2 + files, 0], 'the same files from the disk cache');
  proxy.fault = () => 'error';
  t.match(await node.get(`/projects/Proj1/breakdowns?${RANGE}`, world.key), { status: 503 });
  t.ok((await counted('requests', { kind: 'get', outcome: 'away' })) > 0);
});

t.test('a cache that holds a few files only answers many questions at a time', { skip }, async (t) => {
  const { world, expected } = await remoteWorld(t);
  const node = await secondServer(t, world, { storageCache: 5000 });
  for (let round = 0; round < 2; round++) {
    const all = await Promise.all(Array.from({ length: 6 }, () => answers(node.ask)));
    t.strictSame(all, Array(6).fill(expected));
  }
  t.equal(node.log.filter((line) => line.includes('"level":50')).length, 0);
});

t.test('while the store fails, answers are 503, and it recovers', { skip }, async (t) => {
  const { world, proxy, expected } = await remoteWorld(t);
  for (const fault of ['error', 'cut'] as const) {
    const node = await secondServer(t, world, { storageEndpoint: proxy.url });
    proxy.fault = (method) => (method === 'GET' ? fault : undefined);
    const away = { status: 503, headers: { 'retry-after': '60' }, body: { error: { code: 'unavailable' } } };
    for (const path of [ASKED[0]!, ASKED[7]!]) t.match(await node.ask(path), away, `${fault}: ${path}`);
    t.match(node.log.join(''), /s3:\/\/ordinate-.*site_daily/);
    t.notMatch(node.log.join(''), process.env['AWS_SECRET_ACCESS_KEY']!);
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
  const { world, bucket, proxy, environment, expected } = await remoteWorld(t);
  const node = await secondServer(t, world, { storageEndpoint: proxy.url });
  let faults = 0;
  proxy.fault = () => (faults++ === 0 ? 'wrong' : undefined);
  t.strictSame(await answers(node.ask), expected, 'bytes changed on their way');
  const broken = await secondServer(t, world);
  const key = (await fileKeys(bucket)).find((name) => name.includes('/site_daily/'))!;
  const whole = await bucket.get(key);
  for (const [content, message] of [
    [flipped(whole), /its SHA-256 is/],
    [whole.subarray(0, 50), /it has 50 bytes instead of/],
    [undefined, /it is missing/],
  ] as const) {
    await bucket.set(key, content);
    t.match(await broken.ask(ASKED[0]!), { status: 500, body: { error: { code: 'server_error' } } });
    t.match(broken.log.at(-2)! + broken.log.at(-1)!, message);
    t.match(broken.log.join(''), `s3://${bucket.name}/${key}`);
    const found = await command({ ...environment, ORDINATE_DATA: otherNode(t, world) }, 'verify', '--deep', '--json');
    t.match(JSON.parse(found.stdout), { ok: false, problems: [{ kind: 'file', table: 'site_daily' }] });
  }
  await bucket.set(key, whole);
  t.equal((await broken.ask(ASKED[0]!)).status, 200, 'restored, it is answered from');
  await bucket.set((await fileKeys(bucket)).find((name) => name.includes('/lists/'))!, undefined);
  t.strictSame(await answers(broken.ask), expected, 'a lost list is made again');
});

t.test('verify lists the object store, and reads again only what is new or was replaced', { skip }, async (t) => {
  const { world, bucket, environment, proxy } = await remoteWorld(t);
  let node = { ...environment, ORDINATE_DATA: otherNode(t, world), ORDINATE_STORAGE_ENDPOINT: proxy.url };
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
  const NOTHING_NEW = { problems: [], requests: ['MARK', 'LIST'] };
  const keys = (await fileKeys(bucket)).filter((key) => key.includes('/facts/'));
  const first = await verify();
  t.strictSame(first.problems, []);
  t.equal(new Set(first.requests).size, 2 + keys.length, 'which store it is, a list, and each file once');
  t.equal(first.requests.length, 2 + keys.length);
  t.strictSame(await verify(), NOTHING_NEW);
  t.strictSame(await verify('--project', 'Proj1'), NOTHING_NEW);
  const deep = await verify('--deep');
  t.equal(deep.requests.filter((request) => !['MARK', 'LIST'].includes(request)).length, keys.length);

  node = { ...node, ORDINATE_DATA: world.dataFolder };
  t.equal((await verify()).requests.length, 2 + keys.length, 'another node, which has cached them');
  await world.load({ site_daily: MORE });
  t.match(await verify(), { problems: [], requests: ['MARK', 'LIST', /^HEAD site_daily\//] }, 'the file of the load');
  t.strictSame(await verify(), NOTHING_NEW);
  for (const table of ['site_daily', 'keyword_daily']) {
    const key = (await fileKeys(bucket)).filter((name) => name.includes(`/${table}/`)).at(-1)!;
    const whole = await bucket.get(key);
    for (const [content, isListed] of [
      [flipped(whole), false],
      [whole.subarray(1), true],
      [undefined, true],
    ] as const) {
      await bucket.set(key, content);
      t.match((await verify('--deep')).problems, [{ kind: 'file', table }], table);
      if (isListed) t.match((await verify()).problems, [{ kind: 'file', table }], `${table}, from the list`);
    }
    await bucket.set(key, whole);
    t.strictSame((await verify()).problems, []);
  }
});

t.test('a load that is killed while it stores files leaves nothing', { skip }, async (t) => {
  const { world, bucket, environment, proxy, expected } = await remoteWorld(t);
  const keys = (await fileKeys(bucket)).length;
  const words = ['load', writeSnapshot(t, { ...EVERYTHING, site_daily: MORE }), '--accept-implausible'];
  for (const stored of [0, 1, 4]) {
    await killWhileStoring(t, proxy, stored, environment, ...words);
    // What was on its way arrives after the death of the process.
    proxy.release();
    const isLate = async () => (await fileKeys(bucket)).length >= keys + stored + 1 || undefined;
    await until('the late files', isLate);
    t.strictSame(await answers(world.ask), expected);
  }
  t.match(await command(environment, ...words), { code: 0 });
  t.match((await world.ask(`/site?from=2026-03-09&to=2026-03-09`)).body.totals, { clicks: 7 });
  await until('the late files are removed', async () => {
    t.match(await command(environment, 'verify'), { code: 0 });
    return JSON.stringify(await fileKeys(bucket)) === JSON.stringify(await namedKeys(world.catalog)) || undefined;
  });

  await killWhileStoring(t, proxy, 0, environment, ...words);
  const sweep = (now: number) => sweepBetweenLoads(world, now, new AbortController().signal);
  const { removed } = (await sweep(Date.now()))!;
  t.ok(removed === 1 || removed === 2, 'the files that were on their way, two at most');
  const late = (await fileKeys(bucket)).length + proxy.held;
  proxy.release();
  await until('the late file', async () => (await fileKeys(bucket)).length === late || undefined);
  t.match(await sweep(Date.now()), { removed: 0 });
  await sweep(Date.now() + 4_000_000);
  t.strictSame(await fileKeys(bucket), await namedKeys(world.catalog), 'a later sweep removes what arrived after one');
  t.equal(await bucket.uploads(), 0);
});

t.test('a catalog beside an object store is backed up with its files, or by a copy', { skip }, async (t) => {
  const { world, environment, expected } = await remoteWorld(t);
  const refused = /object store .* for which this command is not made/;
  t.match(await command(environment, 'rebuild'), { code: 1, stderr: refused });
  const [target, restored, folder] = ['backup', 'restored', 'copy'].map((name) => join(temporaryFolder(t), name)) as [
    string,
    string,
    string,
  ];
  t.match(await command(environment, 'backup', target), { code: 0, stdout: /Backed up/ });
  t.match(await command({}, 'restore', target, '--data', restored), { code: 0, stdout: /Restored 2 projects/ });
  const site = `/projects/Proj1${ASKED[0]}`;
  const onFolder = await startServer(t, { ...COLD, ORDINATE_DATA: restored });
  t.strictSame((await onFolder.get(site, world.key)).body, (await world.get(site)).body);
  t.match(await command(environment, 'catalog', 'copy', '--to', folder), { code: 0 });
  await world.load({ site_daily: MORE });
  const node = await startServer(t, { ...environment, ORDINATE_DATA: folder });
  t.strictSame(await answers((path) => node.get(`/projects/Proj1${path}`, world.key)), expected);
});

t.test('without credentials, or with a wrong bucket, it says what to do', { skip }, async (t) => {
  const { environment } = await remoteWorld(t);
  const created = /NoSuchBucket; create the bucket, or correct ORDINATE_STORAGE/;
  for (const [wrong, stderr, ...words] of [
    [{ ORDINATE_STORAGE: 's3://no-such-bucket' }, created],
    [{ ORDINATE_STORAGE: 's3://no-such-bucket' }, created, '--deep'],
    [{ AWS_SECRET_ACCESS_KEY: 'not-this', HOME: temporaryFolder(t) }, /403/],
    [{ ORDINATE_STORAGE_ENDPOINT: 'http://127.0.0.1:1' }, /http:\/\/127.0.0.1:1 cannot be reached \(ECONNREFUSED\)/],
  ] as const) {
    const ended = await start(t, { ...environment, ...wrong }, 'verify', ...words).ended;
    t.match(ended, { code: 1, stdout: '', stderr });
  }
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
  const copy = (environment: NodeJS.ProcessEnv, place = to) => json(environment, 'storage', 'copy', '--to', place);
  await killWhileStoring(t, await FaultyProxy.start(t, endpoint), 3, local, 'storage', 'copy', '--to', to);
  const files = (await namedKeys(world.catalog)).length;
  t.match(await copy(local), { files, copied: files - 3, present: 3, left: [] }, 'goes on after it was killed');
  t.strictSame(await fileKeys(bucket), await namedKeys(world.catalog));
  await bucket.set((await fileKeys(bucket))[0]!, Buffer.from('something else'));
  t.match(await copy(local), { copied: 1, present: files - 1 }, 'a wrong copy is replaced');
  const node = await secondServer(t, { ...world, settings: readSettings({ ...ONE_THREAD, ...settings, ...COLD }) });
  t.strictSame(await answers(node.ask), expected);

  const dataFolder = otherNode(t, world);
  for (const name of ['facts', 'lists']) rmSync(join(dataFolder, name), { recursive: true });
  t.match(await copy({ ...settings, ORDINATE_DATA: dataFolder }, dataFolder), { files, copied: files, present: 0 });
  t.match(await command({ ORDINATE_DATA: dataFolder }, 'verify', '--json'), { code: 0 });
  const own = { dataFolder, settings: { ...world.settings, dataFolder } };
  const back = await startSecondServer(t, { ...world, now: () => NOW, ...own });
  t.strictSame(await answers(back.ask), expected);

  await t.rejects(copy(settings), /already: name another place/);
  await t.rejects(copy(local, 's3:/bucket'), /is no address of an object store/);
  await bucket.set((await fileKeys(bucket)).find((key) => key.includes('/brand_daily/'))!, undefined);
  const lost = copy({ ...settings, ORDINATE_DATA: otherNode(t, world) }, join(temporaryFolder(t), 'new'));
  await t.rejects(lost, /Not all files could be copied; all others were\.\n.*brand_daily.*it is missing/);
});
