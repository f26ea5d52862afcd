// A node is ready while it can answer something, and says which of its parts do not work.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { logOf, run, startServer } from '../process.ts';
import { facts, makeWorld, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';
import { makeCluster, skip as skipCluster } from './nodes.ts';
import { Bucket } from './servers/object-store.ts';

const { ORDINATE_TEST_S3: endpoint = '', ORDINATE_TEST_TRINO: trino = '' } = process.env;
const skip = endpoint === '' ? 'ORDINATE_TEST_S3 names no object store' : false;
const TABLES = { site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]) };
const OTHERS = { catalog: 'ok', secretsKey: 'ok', engine: 'ok', dataFolder: 'ok', files: 'ok', disk: 'ok' };

/** What `/readyz` answers of a server with files in a bucket. */
async function readyWith(t: Parameters<typeof makeWorld>[0], environment: NodeJS.ProcessEnv) {
  const bucket = await Bucket.create(t, endpoint);
  const { app, log } = await makeWorld(t, TABLES, { environment: { ...bucket.settings(endpoint), ...environment } });
  const { statusCode: status, body } = await app.inject('/readyz');
  return { status, body: JSON.parse(body) as unknown, text: body, log: log.join('') };
}

for (const engine of ['auto', 'trino']) {
  t.test(`without Trino and ORDINATE_ENGINE=${engine} it is degraded`, { skip }, async (t) => {
    const address = 'http://user-of-trino@127.0.0.1:1/hive/ordinate';
    const ready = await readyWith(t, { ORDINATE_ENGINE: engine, ORDINATE_TRINO: address });
    t.match(ready, { status: 200, body: { status: 'degraded', components: { ...OTHERS, trino: 'away' } } });
    t.notMatch(ready.text, /user-of-trino|127\.0\.0\.1/, 'addresses are not for everybody');
    t.match(ready.body, { problems: ['Trino does not answer'] });
  });
}

t.test(
  'with Trino it is ready',
  { skip: skip || (trino === '' && 'ORDINATE_TEST_TRINO names no Trino') },
  async (t) => {
    const ready = await readyWith(t, { ORDINATE_ENGINE: 'trino', ORDINATE_TRINO: `${trino}/hive/ordinate` });
    t.match(ready, { status: 200, body: { status: 'ok' } });
    t.strictSame((ready.body as { components: object }).components, { ...OTHERS, trino: 'ok' });
  },
);

t.test('without the objects of its facts it is degraded', { skip }, async (t) => {
  const bucket = await Bucket.create(t, endpoint);
  const { app, settings } = await makeWorld(t, TABLES, { environment: bucket.settings(endpoint) });
  t.equal((await app.inject('/readyz')).statusCode, 200);
  t.match(settings, { storageEndpoint: endpoint });
  for (const key of await bucket.keys()) await bucket.remove(key);
  const ready = await app.inject('/readyz');
  t.equal(ready.statusCode, 200);
  t.match(ready.json(), {
    status: 'degraded',
    problems: ['its fact files cannot be opened'],
    components: { ...OTHERS, files: 'away' },
  });
});

t.test('folders of a node that somebody removes are made again', { skip: skipCluster }, async (t) => {
  const { node } = await makeCluster(t);
  const settings = node();
  const folder = settings.ORDINATE_DATA;
  const snapshot = writeSnapshot(t, { workspaces: [WORKSPACE], projects: [PROJECT], ...TABLES });
  t.match(await run(t, settings, 'load', snapshot, '--accept-implausible'), { code: 0 });
  const made = await run(t, settings, 'keys', 'create', '--workspace', 'acme', '--name', 'test', '--json');
  const { key } = JSON.parse(made.stdout) as { key: string };
  const server = await startServer(t, settings);
  const { address, get } = server;
  const ask = async () => {
    const { status, body } = await get('/projects/Proj1/site?from=2026-03-09&to=2026-03-09', key);
    const ready = (await (await fetch(`${address}/readyz`)).json()) as { status: string };
    return { status, body, ready: ready.status };
  };
  const answered = { status: 200, body: { totals: { clicks: 1, impressions: 10 } }, ready: 'ok' };
  t.match(await ask(), answered);
  for (const removed of ['cache', 'temporary', '.']) {
    rmSync(join(folder, removed), { recursive: true });
    t.match(await ask(), answered, removed);
  }
  for (const place of [join(folder, 'cache'), folder]) {
    rmSync(place, { recursive: true });
    writeFileSync(place, 'a file in its place');
    t.match(await ask(), { status: 503, body: { error: { code: 'unavailable' } }, ready: 'degraded' });
    rmSync(place);
    t.match(await ask(), answered);
  }
  const log = await logOf(server);
  const [before] = log.split('was removed and cannot be made again');
  t.match(before, /'[^']+cache', $/, 'the log says which folder');
  t.notMatch(before!.slice(0, before!.lastIndexOf('\n')), /"level":(?:40|50)/, 'and nothing before it failed');
});
