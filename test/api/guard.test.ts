// Only a valid key within its plan and rate limit gets data, and every other request gets the documented error.
import { globSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { createKey, listKeys, revokeKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { until } from '../process.ts';
import { facts, makeWorld, NOW, PROJECT, WORKSPACE } from '../world.ts';

const SITE = facts('date device', ['2026-03-01', 'mobile', 1, 2, 0]);

/** A clock that only tests move. */
const clock = { at: NOW };
const TABLES = {
  workspaces: [WORKSPACE, { id: 'gratis', name: 'Gratis', plan: 'free', keyword_history_days: 30 }],
  projects: [PROJECT, { ...PROJECT, id: 'Free1', workspace_id: 'gratis' }, { ...PROJECT, id: 'Broke' }],
  site_daily: [...SITE, ...SITE.map((row) => ({ ...row, project_id: 'Broke' }))],
};
const world = await makeWorld(t, TABLES, { now: () => clock.at });
const { app, catalog } = world;

async function makeKey(workspace = 'acme', name = 'test'): Promise<string> {
  return (await createKey(catalog, { workspace, name, by: null, at: 0 })).key;
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const freeKey = await makeKey('gratis');
const UNKNOWN = `ord_live_${'x'.repeat(32)}`;

let address = 0;
/** Sends a request from a new address unless one is given, so that tests do not count each other's failures. */
async function send(url: string, headers: InjectOptions['headers'] = {}, more: InjectOptions = {}) {
  const remoteAddress = `198.51.${100 + Math.floor(++address / 250)}.${address % 250}`;
  const response = await app.inject({ method: 'GET', url, headers, remoteAddress, ...more });
  const text = response.body;
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  const body = isJson && text !== '' ? (JSON.parse(text) as { error?: { code: string; message: string } }) : null;
  return { status: response.statusCode, headers: response.headers, text, body, code: body?.error?.code };
}

const SITE_PATH = '/api/v1/projects/Proj1/site';

t.test('a missing, malformed, unknown or misplaced key', async (t) => {
  const { key } = world;
  const wrong: readonly (readonly [string, Record<string, string>, string?])[] = [
    ['missing', {}],
    ['empty', { authorization: '' }],
    ['no scheme', { authorization: key }],
    ['no key', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${key}` }],
    ['two keys', { authorization: `Bearer ${key} ${key}` }],
    ['too short', bearer(key.slice(0, -1))],
    ['too long', bearer(`${key}a`)],
    ['another prefix', bearer(key.replace('live', 'test'))],
    ['other letters', bearer(`${key.slice(0, -1)}-`)],
    ['unknown', bearer(UNKNOWN)],
    ['other case', bearer(key.toUpperCase())],
    ['another header', { 'x-api-key': key }],
    ['in a cookie', { cookie: `key=${key}` }],
    ['in the query', {}, `?key=${key}&api_key=${key}&access_token=${key}&authorization=Bearer%20${key}`],
    ['unknown in the header, valid in the query', bearer(UNKNOWN), `?key=${key}`],
  ];
  for (const [name, headers, query = ''] of wrong) {
    const answer = await send(`${SITE_PATH}${query}`, headers);
    t.equal(answer.status, 401, name);
    t.equal(answer.code, 'unauthorized', name);
    t.equal(answer.headers['www-authenticate'], 'Bearer', name);
    t.notOk(answer.text.includes(key), 'the answer repeats no key');
  }
});

t.test('the scheme is case-insensitive', async (t) => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    t.equal((await send(SITE_PATH, { authorization: `${scheme} ${world.key}` })).status, 200, scheme);
  }
});

t.test('a key is revoked at once, by this process and by another', async (t) => {
  const here = await createKey(catalog, { workspace: 'acme', name: 'here', by: null, at: 0 });
  const there = await createKey(catalog, { workspace: 'acme', name: 'there', by: null, at: 0 });
  t.equal((await send(SITE_PATH, bearer(here.key))).status, 200);
  t.equal((await send(SITE_PATH, bearer(there.key))).status, 200);
  await revokeKey(catalog, { id: here.id, workspace: 'acme', by: null, at: 1 });
  t.equal((await send(SITE_PATH, bearer(here.key))).status, 401);
  const other = await openCatalog(sqliteIn(world.dataFolder));
  await revokeKey(other, { id: there.id, workspace: 'acme', by: null, at: 1 });
  // Another process is not heard within one turn of this one's event loop.
  await new Promise(setImmediate);
  const { key: made } = await createKey(other, { workspace: 'acme', name: 'made there', by: null, at: 0 });
  await other.close();
  const { status, code, headers } = await send(SITE_PATH, bearer(there.key));
  t.strictSame([status, code, headers['www-authenticate']], [401, 'unauthorized', 'Bearer']);
  t.equal((await send(SITE_PATH, bearer(made))).status, 200, 'a key made by another process counts at once too');
});

t.test('the Free plan has no access to any path until it is upgraded', async (t) => {
  for (const path of [
    '/projects',
    '/projects/Free1/site',
    '/projects/Free1/site?from=never',
    '/projects/nosuc/notes',
    '/nothing',
    '/',
    '',
  ]) {
    const { status, code, headers } = await send(`/api/v1${path}`, bearer(freeKey));
    t.strictSame([status, code], [403, 'plan_required'], path);
    t.ok(headers['x-ratelimit-remaining'], path);
  }
  const post = await send('/api/v1/projects', bearer(freeKey), { method: 'POST' });
  t.equal(post.status, 403, 'POST');
  await world.load({ workspaces: [{ id: 'gratis', name: 'Gratis', plan: 'solo', keyword_history_days: 30 }] });
  t.equal((await send('/api/v1/projects/Free1/site', bearer(freeKey))).status, 200);
  await world.load({ workspaces: [{ id: 'gratis', name: 'Gratis', plan: 'free', keyword_history_days: 30 }] });
  t.equal((await send('/api/v1/projects/Free1/site', bearer(freeKey))).status, 403);
});

t.test('of 150 requests at once with one key 120 are served', async (t) => {
  const key = await makeKey();
  const answers = await Promise.all(Array.from({ length: 150 }, () => send('/api/v1/projects', bearer(key))));
  const served = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  t.strictSame([served.length, refused.length], [120, 30]);
  t.strictSame(
    served.map(({ headers }) => Number(headers['x-ratelimit-remaining'])).sort((a, b) => b - a),
    Array.from({ length: 120 }, (_, index) => 119 - index),
  );
  for (const { headers, code } of refused) {
    t.equal(code, 'rate_limited');
    t.match(headers['retry-after'], /^[1-9]\d*$/);
    t.ok(Number(headers['retry-after']) <= 60);
    t.equal(Number(headers['x-ratelimit-remaining']), 0);
  }
  t.equal(
    (await send('/api/v1/projects', bearer(await makeKey()))).status,
    200,
    'another key of the workspace is served',
  );
});

t.test('key before rate limit before plan before path before parameters', async (t) => {
  const { id, key } = await createKey(catalog, { workspace: 'gratis', name: 'order', by: null, at: 0 });
  const all = '/api/v1/projects/nosuc/site?from=never';
  t.equal((await send(all, bearer(key))).status, 403);
  await Promise.all(Array.from({ length: 119 }, () => send(all, bearer(key))));
  t.equal((await send(all, bearer(key))).status, 429, 'the limit is spent, the plan not looked at');
  await revokeKey(catalog, { id, workspace: 'gratis', by: null, at: 1 });
  t.equal((await send(all, bearer(key))).status, 401);
  t.equal((await send(all, bearer(world.key))).status, 404);
  t.equal((await send('/api/v1/projects/nosuc/keywords?group=nosuc&limit=0', bearer(world.key))).status, 404);
  t.equal((await send('/api/v1/projects/Proj1/site?from=never', bearer(world.key))).status, 400);
});

t.test('the rate-limit headers stand on every authenticated answer, and only there', async (t) => {
  const key = await makeKey();
  const cases: readonly (readonly [number, string, InjectOptions['method']?])[] = [
    [200, '/projects'],
    [200, '/projects', 'HEAD'],
    [400, '/projects/Proj1/site?from=never'],
    [400, '/projects/%zz/site'],
    [404, '/projects/nosuc/site'],
    [404, '/nothing'],
    [404, '/projects', 'POST'],
    [503, '/projects/Proj1/pages'],
  ];
  let remaining = 120;
  for (const [expected, path, method = 'GET'] of cases) {
    const { status, headers } = await send(`/api/v1${path}`, bearer(key), { method });
    t.equal(status, expected, `${method} ${path}`);
    t.equal(Number(headers['x-ratelimit-limit']), 120, path);
    t.equal(Number(headers['x-ratelimit-remaining']), --remaining, path);
    const reset = Number(headers['x-ratelimit-reset']);
    t.ok(Number.isInteger(reset) && reset >= 1 && reset <= 60, `reset ${reset}`);
  }
  for (const url of ['/api/v1/projects', '/nothing', '/livez']) {
    t.equal((await send(url)).headers['x-ratelimit-limit'], undefined, url);
  }
});

t.test('an address may fail 30 times a minute; its valid keys are still served', async (t) => {
  const from = { remoteAddress: '203.0.113.1' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => send(SITE_PATH, index % 2 ? bearer(UNKNOWN) : {}, from)),
  );
  // Those without a key are counted first, for nothing is looked up.
  const refused = answers.filter(({ status }) => status === 429);
  t.equal(refused.length, 20);
  t.equal(answers.filter(({ status }) => status === 401).length, 30);
  for (const { headers, code } of refused) {
    t.equal(code, 'rate_limited');
    t.match(headers['retry-after'], /^[1-9]\d?$/);
  }
  t.equal((await send(SITE_PATH, bearer(world.key), from)).status, 200);
  t.equal((await send('/api/v1/nothing', {}, from)).status, 429);
  t.equal((await send(SITE_PATH, {}, { remoteAddress: '203.0.113.2' })).status, 401, 'another address');
  const spoofed = { 'x-forwarded-for': '203.0.113.99', forwarded: 'for=203.0.113.99', 'x-real-ip': '203.0.113.99' };
  t.equal((await send(SITE_PATH, spoofed, from)).status, 429, 'the address is that of the socket');
});

t.test('a minute starts with the first request', async (t) => {
  t.teardown(() => {
    clock.at = NOW;
  });
  const key = await makeKey();
  const limits = async (seconds: number) => {
    clock.at = NOW + seconds * 1000;
    const { status, headers } = await send('/api/v1/projects', bearer(key));
    return [status, headers['x-ratelimit-remaining'], headers['x-ratelimit-reset']].map(Number);
  };
  t.strictSame(await limits(0), [200, 119, 60]);
  t.strictSame(await limits(30), [200, 118, 30]);
  t.strictSame(await limits(59.9), [200, 117, 1]);
  for (let time = 0; time < 117; time++) await limits(59.9);
  t.strictSame(await limits(59.9), [429, 0, 1]);
  t.strictSame(await limits(60.1), [200, 119, 60]);
  t.strictSame(await limits(100.1), [200, 118, 20]);
  t.strictSame(await limits(-3600), [200, 119, 60], 'a clock that was set back starts a new minute');

  const fail = async (seconds: number) => {
    clock.at = NOW + seconds * 1000;
    return (await send(SITE_PATH, {}, { remoteAddress: '203.0.113.50' })).status;
  };
  for (let time = 0; time < 30; time++) await fail(0);
  t.equal(await fail(1), 429);
  for (const [seconds, left] of [
    [10, '50'],
    [30, '30'],
    [59.9, '1'],
  ] as const) {
    clock.at = NOW + seconds * 1000;
    const refused = await send(SITE_PATH, {}, { remoteAddress: '203.0.113.50' });
    t.strictSame([refused.status, refused.headers['retry-after']], [429, left], 'seconds until the minute ends');
  }
  t.equal(await fail(59), 429, 'failures do not make the minute longer');
  t.equal(await fail(60.1), 401);
});

t.test('X-Forwarded-For counts only from a trusted proxy', async (t) => {
  const { app: proxied } = await makeWorld(
    t,
    {},
    { environment: { ORDINATE_TRUSTED_PROXIES: '10.0.0.1,10.1.0.0/16' } },
  );
  const fail = async (remoteAddress: string, forwarded: string) => {
    const headers = { 'x-forwarded-for': forwarded };
    return (await proxied.inject({ method: 'GET', url: SITE_PATH, headers, remoteAddress })).statusCode;
  };
  for (let time = 0; time < 30; time++) await fail('10.0.0.1', '203.0.113.7');
  t.equal(await fail('10.0.0.1', '203.0.113.7'), 429);
  t.equal(await fail('10.1.2.3', '203.0.113.7'), 429, 'through another trusted proxy');
  t.equal(await fail('10.0.0.1', '198.51.100.1, 203.0.113.7'), 429, 'what a client puts before it does not count');
  t.equal(await fail('10.0.0.1', '203.0.113.8'), 401);
  for (let time = 0; time < 30; time++) await fail('192.0.2.1', `203.0.113.${100 + time}`);
  t.equal(await fail('192.0.2.1', '203.0.113.8'), 429, 'an address that is not trusted speaks for itself');
});

t.test('other methods and unknown paths', async (t) => {
  const { key } = world;
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'MKCOL'] as const) {
    for (const path of ['/projects', '/nothing']) {
      const answer = await send(`/api/v1${path}`, bearer(key), { method: method as 'POST' });
      t.strictSame([answer.status, answer.code], [404, 'not_found'], `${method} ${path}`);
      const without = await send(`/api/v1${path}`, {}, { method: method as 'POST' });
      t.strictSame([without.status, without.code], [401, 'unauthorized'], `${method} ${path} without a key`);
    }
  }
  for (const path of ['', '/', '/nothing', '/projects/', '/Projects', '/projects/Proj1/', '//projects']) {
    const answer = await send(`/api/v1${path}`, bearer(key));
    t.strictSame([answer.status, answer.code], [404, 'not_found'], path);
    t.equal((await send(`/api/v1${path}`)).status, 401, `${path} without a key`);
  }
  for (const url of ['/nothing', '/api', '/api/v2/projects', '/api/v10', '/API/v1/projects', '/favicon.ico']) {
    const answer = await send(url);
    t.strictSame([answer.status, answer.code], [404, 'not_found'], url);
    t.equal((await send(url, {}, { method: 'DELETE' })).status, 404, `DELETE ${url}`);
  }
});

t.test('a request body is ignored', async (t) => {
  for (const [type, payload] of [
    ['application/json', '{"broken'],
    ['text/plain', 'text'],
    ['nonsense', 'x'],
  ] as const) {
    const headers = { ...bearer(world.key), 'content-type': type };
    t.equal((await send('/api/v1/projects', headers, { method: 'POST', payload })).status, 404, type);
    t.equal((await send('/api/v1/projects', headers, { method: 'GET', payload })).status, 200, type);
  }
});

t.test('HEAD is GET without the body', async (t) => {
  const get = await send(SITE_PATH, bearer(world.key));
  const head = await send(SITE_PATH, bearer(world.key), { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.text, '');
  t.equal(head.headers['content-type'], get.headers['content-type']);
  t.equal(head.headers['content-length'], get.headers['content-length']);
  t.equal((await send('/api/v1/projects/nosuc/site', bearer(world.key), { method: 'HEAD' })).status, 404);
  const without = await send(SITE_PATH, {}, { method: 'HEAD' });
  t.strictSame([without.status, without.text], [401, '']);
});

t.test('an address that cannot be decoded', async (t) => {
  for (const path of ['/projects/%zz/site', '/projects/%C3%28/site', '/%']) {
    const { status, code } = await send(`/api/v1${path}`, bearer(world.key));
    t.strictSame([status, code], [400, 'invalid_request'], path);
    t.strictSame((await send(`/api/v1${path}`)).status, 401, `${path} without a key`);
    t.strictSame((await send(`/api/v1${path}`, bearer(freeKey))).status, 403, `${path} on the Free plan`);
  }
  t.strictSame((await send('/nothing/%zz')).code, 'invalid_request');
  t.not((await send('/api/v1x/%zz')).status, 401, 'outside of the API no key is asked for');
});

t.test('very long ids and queries', async (t) => {
  const long = await send(`/api/v1/projects/${'x'.repeat(12_000)}/site`, bearer(world.key));
  t.strictSame([long.status, long.code], [404, 'not_found']);
  const query = await send(`${SITE_PATH}?from=${'1'.repeat(12_000)}`, bearer(world.key));
  t.strictSame([query.status, query.code], [400, 'invalid_request']);
  t.ok(query.text.length < 500, 'the message does not repeat all of it');
});

t.test('Cache-Control: no-store on every answer but the documentation', async (t) => {
  const { key } = world;
  const answers: readonly (readonly [number, string, Record<string, string>?, InjectOptions['method']?])[] = [
    [200, '/api/v1/projects', bearer(key)],
    [200, '/api/v1/projects', bearer(key), 'HEAD'],
    [400, `${SITE_PATH}?from=never`, bearer(key)],
    [400, '/api/v1/%zz', bearer(key)],
    [400, '/%zz'],
    [401, '/api/v1/projects'],
    [401, '/api/v1/%zz'],
    [403, '/api/v1/projects', bearer(freeKey)],
    [404, '/api/v1/nothing', bearer(key)],
    [404, '/nothing'],
    [404, '/nothing', {}, 'POST'],
    [503, '/api/v1/projects/Proj1/queries', bearer(key)],
    [200, '/livez'],
    [200, '/readyz'],
    [404, '/docs/nothing'],
    [404, '/docs/static/nothing/reference.js'],
  ];
  for (const [expected, url, headers = {}, method = 'GET'] of answers) {
    const answer = await send(url, headers, { method });
    t.equal(answer.status, expected, url);
    t.equal(answer.headers['cache-control'], 'no-store', `${expected} ${url}`);
    if (expected >= 400) t.type(answer.code, 'string', `${url} has the envelope`);
  }
});

t.test('a server whose data a newer version has migrated says so', async (t) => {
  const { app, dataFolder } = await makeWorld(t);
  using db = new DatabaseSync(join(dataFolder, 'catalog.sqlite'));
  db.exec('pragma user_version = 999');
  const ready = await app.inject({ method: 'GET', url: '/readyz' });
  const message = 'The service is not ready: its data is used by a newer version of the service.';
  t.match(ready.json(), { error: { code: 'unavailable', message }, components: { catalog: 'away' } });
});

t.test('livez and readyz need no key; without its catalog the service is not ready', async (t) => {
  t.strictSame((await send('/livez')).body, { status: 'ok' });
  t.match((await send('/readyz')).body, {
    status: 'ok',
    components: { catalog: 'ok', secretsKey: 'ok', engine: 'ok', dataFolder: 'ok', files: 'ok', disk: 'ok' },
    answers: { answers: Number, bytes: Number, hits: Number, misses: Number },
  });
  const broken = await makeWorld(t);
  await broken.catalog.close();
  const ready = await broken.app.inject({ method: 'GET', url: '/readyz' });
  t.equal(ready.statusCode, 503);
  t.match(ready.headers, { 'retry-after': '60', 'cache-control': 'no-store' });
  t.match(ready.json(), { error: { code: 'unavailable', message: /not ready: its catalog does not answer/ } });
  const unknown = { secretsKey: 'unknown', files: 'unknown' };
  const components = { catalog: 'away', engine: 'ok', dataFolder: 'ok', disk: 'ok', ...unknown };
  t.strictSame(ready.json().components, components);
  t.equal((await broken.app.inject({ method: 'GET', url: '/livez' })).statusCode, 200);
  const api = await broken.get('/projects');
  t.strictSame([api.status, api.body.error.code], [500, 'server_error']);
  t.notMatch(api.body.error.message, /database|sqlite|open/i);
});

t.test('internal errors go to the log and not to the client', async (t) => {
  const files = globSync(join(world.dataFolder, 'facts/**/*.parquet')).filter((name) => name.includes('Broke'));
  t.equal(files.length, 1);
  for (const file of files) writeFileSync(file, 'broken');
  const logged = world.log.length;
  const { status, headers, body } = await send('/api/v1/projects/Broke/site', bearer(world.key));
  t.equal(status, 500);
  t.strictSame(Object.keys(body ?? {}), ['error']);
  t.equal(body?.error?.code, 'server_error');
  t.notMatch(body?.error?.message, /parquet|duckdb|facts|select|broken|Broke|\//i);
  t.equal(headers['cache-control'], 'no-store');
  t.ok(headers['x-ratelimit-remaining']);
  t.match(world.log.slice(logged).join(''), /parquet/i);
  t.equal((await send(SITE_PATH, bearer(world.key))).status, 200, 'other projects are served');
});

t.test('the last use of a key is noted', async (t) => {
  const used = await createKey(catalog, { workspace: 'acme', name: 'used', by: null, at: 0 });
  const unused = await createKey(catalog, { workspace: 'acme', name: 'unused', by: null, at: 0 });
  const usage = openUsage(sqliteIn(world.dataFolder), (error) => t.error(error));
  t.teardown(() => usage.close());
  const lastUse = async (id: string) =>
    (await listKeys(catalog, usage, 'acme')).find((key) => key.id === id)?.lastUsedAt;
  const before = catalog.version();
  t.equal(await lastUse(used.id), null);
  await send('/api/v1/nothing', bearer(used.key));
  t.equal(await until('the use of the key', async () => (await lastUse(used.id)) ?? undefined), NOW * 1000);
  t.equal(await lastUse(unused.id), null);
  t.equal(catalog.version(), before, 'and nothing is written to the catalog for it');
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
      socket.on('end', () => resolve(text));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
  const get = (path: string, ...headers: string[]): string =>
    [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');

  const served = await talk(get('/api/v1/projects', `Authorization: Bearer ${key}`));
  t.match(served, /^HTTP\/1\.1 200 OK\r\n/);
  t.match(served, /cache-control: no-store/i);

  const refused = async (request: string, status: string, name: string): Promise<void> => {
    const [head = '', ...rest] = (await talk(request)).split('\r\n\r\n');
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), name);
    t.match(head, /cache-control: no-store/i, name);
    t.match(head, /content-type: application\/json/i, name);
    const envelope = { error: { code: 'invalid_request', message: String } };
    t.match(rest[0]?.startsWith('{') ? JSON.parse(rest[0]) : rest[0], envelope, name);
  };
  await refused('nonsense\r\n\r\n', '400', 'no HTTP');
  await refused('GET / HTTP/1.1\r\nbroken header\r\n\r\n', '400', 'a broken header');
  await refused(get('/api/v1/projects', 'Content-Length: 1', 'Transfer-Encoding: chunked'), '400', 'two lengths');
  await refused('FOO / HTTP/1.1\r\nHost: x\r\n\r\n', '400', 'no method');
  await refused(get('/', `X-Large: ${'x'.repeat(20_000)}`), '431', 'too large headers');
  await refused(get(`/${'x'.repeat(20_000)}`), '431', 'a too long address');
  await refused('GET /api/v1/projects HTTP/1.1\r\nConnection: close\r\n\r\n', '400', 'no host');
  await refused(get('/api/v1/projects', 'Host: localhost'), '400', 'two hosts');
  await refused(get('/api/v1/projects', 'hOST: other.example', `Authorization: Bearer ${key}`), '400', 'other hosts');
  await refused(get('/livez', 'Host:'), '400', 'an empty second host');
  await refused('GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n', '400', 'two hosts of an older client');
  // An unsupported expectation is ignored, like unknown headers.
  const expecting = await talk(get('/api/v1/projects', 'Expect: nonsense', `Authorization: Bearer ${key}`));
  t.match(expecting, /^HTTP\/1\.1 200 OK\r\n/);
});

t.test('no key is ever in the log', async (t) => {
  const { key } = world;
  const encoded = key.replaceAll('_', '%5F');
  for (const url of [
    `${SITE_PATH}?key=${key}&again=${key}`,
    `/api/v1/projects/${key}/site`,
    `/api/v1/${key}`,
    `/${key}`,
    `/api/v1/%zz?key=${key}`,
    `${SITE_PATH}?limit=${key}&from=${key}`,
    `${SITE_PATH}?key=${encoded}`,
    `/api/v1/projects/Broke/site?key=${key}`,
    `/${key}?x=%zz`,
    `/api/v1/${key}?x=%zz`,
    `${SITE_PATH}?key=${key.toUpperCase()}`,
    `${SITE_PATH}?key=${key.replace('live_', 'live%255F')}`,
    `${SITE_PATH}?key=${key.replace(/(.)$/, (last) => `%${last.charCodeAt(0).toString(16)}`)}`,
  ]) {
    await send(url, bearer(key));
    await send(url, bearer(`${key}a`));
    await send(url);
  }
  await send(SITE_PATH, { authorization: `Basic ${key}` });
  const log = world.log.join('');
  t.match(log, /"url":"\/api\/v1\/projects\/Proj1\/site\?key=ord_live_…/, 'the requests are logged');
  const secret = key.slice('ord_live_'.length);
  t.notOk(log.includes(key), 'the key');
  t.notOk(log.includes(secret), 'the key behind an encoded prefix');
  t.notOk(log.toLowerCase().includes(secret.slice(0, 8).toLowerCase()), 'a part of the key');
});

t.test('after a newer version has migrated the data, nothing is served from it', async (t) => {
  const world = await makeWorld(t);
  t.equal((await world.ask('/site')).status, 200);
  const other = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  const shape = Number(other.prepare('pragma user_version').get()!['user_version']);
  other.exec(`pragma user_version = ${shape + 1}`);
  other.close();
  // Changes by other processes are checked once per turn of the event loop.
  await new Promise(setImmediate);
  const refused = await world.ask('/site');
  t.equal(refused.status, 503);
  t.match(refused.body, { error: { code: 'unavailable', message: /a newer version/ } });
  t.equal((await world.app.inject('/readyz')).statusCode, 503);
  await t.rejects(openCatalog(sqliteIn(world.dataFolder)), /Install that version again/);
});
