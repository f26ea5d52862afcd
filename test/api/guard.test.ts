// Keys are counted whoever asks at the same time; what fails inside, or over a socket, is refused in short words.
import { globSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { listKeys } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { createKey } from '../../server/operations/keys.ts';
import { until } from '../process.ts';
import { facts, makeWorld, NOW, ofProject, PROJECT } from '../world.ts';

// What the dialogue `guard` cannot ask.

const SITE = facts('date device', ['2026-03-01', 'mobile', 1, 2, 0]);
const clock = { at: NOW };
const world = await makeWorld(
  t,
  { projects: [PROJECT, { ...PROJECT, id: 'Broke' }], site_daily: [...SITE, ...ofProject('Broke', SITE)] },
  { now: () => clock.at },
);
const { app, catalog } = world;
const SITE_PATH = '/api/v1/projects/Proj1/site';

const makeKey = (name = 'test') => createKey(catalog, { workspace: 'acme', name, at: 0 });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

let address = 0;
/** Sends a request from a new address, so that tests do not count each other's failures. */
async function send(url: string, headers: InjectOptions['headers'] = {}) {
  const response = await app.inject({ method: 'GET', url, headers, remoteAddress: `198.51.100.${++address}` });
  const { error } = response.body === '' ? {} : response.json<{ error?: { code: string; message: string } }>();
  return { status: response.statusCode, headers: response.headers, text: response.body, error };
}

t.test('a clock that was set back starts a new minute', async (t) => {
  t.teardown(() => Object.assign(clock, { at: NOW }));
  const { key } = await makeKey();
  const limits: unknown[] = [];
  for (const seconds of [0, 59.9, 60.1, 100.1, -3600]) {
    clock.at = NOW + seconds * 1000;
    const { headers } = await send('/api/v1/projects', bearer(key));
    limits.push([seconds, Number(headers['x-ratelimit-remaining']), Number(headers['x-ratelimit-reset'])]);
  }
  t.strictSame(limits, [
    [0, 119, 60],
    [59.9, 118, 1],
    [60.1, 119, 60],
    [100.1, 118, 20],
    [-3600, 119, 60],
  ]);
});

t.test('livez and readyz need no key; without its catalog the service is not ready', async (t) => {
  t.match(JSON.parse((await send('/readyz')).text), {
    status: 'ok',
    components: { catalog: 'ok', secretsKey: 'ok', engine: 'ok', dataFolder: 'ok', files: 'ok', disk: 'ok' },
    answers: { answers: Number, bytes: Number, hits: Number, misses: Number },
  });
  const broken = await makeWorld(t);
  await broken.catalog.close();
  const ready = await broken.app.inject({ method: 'GET', url: '/readyz' });
  const { error, components } = ready.json<{ error: object; components: object }>();
  t.match([ready.statusCode, ready.headers], [503, { 'retry-after': '60', 'cache-control': 'no-store' }]);
  t.match(error, { code: 'unavailable', message: /not ready: its catalog does not answer/ });
  const unknown = { secretsKey: 'unknown', files: 'unknown' };
  t.strictSame(components, { catalog: 'away', engine: 'ok', dataFolder: 'ok', disk: 'ok', ...unknown });
  t.equal((await broken.app.inject({ method: 'GET', url: '/livez' })).statusCode, 200);
  const api = await broken.get('/projects');
  t.strictSame([api.status, api.body.error.code], [500, 'server_error']);
  t.notMatch(api.body.error.message, /database|sqlite|open/i);
});

t.test('after a newer version has migrated the data, nothing is served from it', async (t) => {
  const newer = await makeWorld(t);
  t.equal((await newer.ask('/site')).status, 200);
  using db = new DatabaseSync(join(newer.dataFolder, 'catalog.sqlite'));
  const shape = Number(db.prepare('pragma user_version').get()!['user_version']);
  db.exec(`pragma user_version = ${shape + 1}`);
  await new Promise(setImmediate);
  t.match(await newer.ask('/site'), {
    status: 503,
    body: { error: { code: 'unavailable', message: /a newer version/ } },
  });
  const message = 'The service is not ready: its data is used by a newer version of the service.';
  const ready = await newer.app.inject('/readyz');
  t.match(ready.json(), { error: { code: 'unavailable', message }, components: { catalog: 'away' } });
  await t.rejects(openCatalog(sqliteIn(newer.dataFolder)), /Install that version again/);
});

t.test('internal errors go to the log and not to the client', async (t) => {
  const files = globSync(join(world.dataFolder, 'facts/**/*.parquet')).filter((name) => name.includes('Broke'));
  for (const file of files) writeFileSync(file, 'broken');
  const logged = world.log.length;
  const { status, headers, error } = await send('/api/v1/projects/Broke/site', bearer(world.key));
  t.match([status, error?.code, headers['cache-control']], [500, 'server_error', 'no-store']);
  t.ok(headers['x-ratelimit-remaining']);
  t.notMatch(error?.message, /parquet|duckdb|facts|select|broken|Broke|\//i);
  t.match(world.log.slice(logged).join(''), /parquet/i);
  t.equal((await send(SITE_PATH, bearer(world.key))).status, 200, 'other projects are served');
});

t.test('the last use of a key is noted, without a change of the catalog', async (t) => {
  const [used, unused] = [await makeKey('used'), await makeKey('unused')];
  const usage = openUsage(sqliteIn(world.dataFolder), (error) => t.error(error));
  t.teardown(() => usage.close());
  const lastUse = async (id: string) =>
    (await listKeys(catalog, usage, 'acme')).find((key) => key.id === id)?.lastUsedAt;
  const before = catalog.version();
  t.equal(await lastUse(used.id), null);
  await send('/api/v1/nothing', bearer(used.key));
  t.equal(await until('the use of the key', async () => (await lastUse(used.id)) ?? undefined), NOW * 1000);
  t.equal(await lastUse(unused.id), null);
  t.equal(catalog.version(), before);
});

t.test('over a socket: broken and oversized requests', async (t) => {
  const { app: listening, key } = await makeWorld(t);
  await listening.listen({ port: 0, host: '127.0.0.1' });
  const { port } = listening.server.address() as AddressInfo;
  const talk = (request: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      let text = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
  const get = (path: string, ...headers: string[]): string =>
    [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');
  const authorization = `Authorization: Bearer ${key}`;
  t.match(await talk(get('/api/v1/projects', authorization)), /^HTTP\/1\.1 200 OK\r\n[\s\S]*cache-control: no-store/i);
  // An unsupported expectation is ignored, like unknown headers.
  t.match(await talk(get('/api/v1/projects', 'Expect: nonsense', authorization)), /^HTTP\/1\.1 200 OK\r\n/);

  for (const [name, request, status] of [
    ['no HTTP', 'nonsense\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nbroken header\r\n\r\n', 400],
    ['two lengths', get('/api/v1/projects', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
    ['no method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['too large headers', get('/', `X-Large: ${'x'.repeat(20_000)}`), 431],
    ['a too long address', get(`/${'x'.repeat(20_000)}`), 431],
    ['no host', 'GET /api/v1/projects HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two hosts', get('/api/v1/projects', 'Host: localhost'), 400],
    ['other hosts', get('/api/v1/projects', 'hOST: other.example', authorization), 400],
    ['an empty second host', get('/livez', 'Host:'), 400],
    ['two hosts of an older client', 'GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  ] as const) {
    const [head = '', body = ''] = (await talk(request)).split('\r\n\r\n');
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), name);
    t.match(head, /(?=[\s\S]*cache-control: no-store)[\s\S]*content-type: application\/json/i, name);
    t.match(body, '"code":"invalid_request"', name);
  }
});
