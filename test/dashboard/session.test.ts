// A dashboard session has exactly the rights of its key, and is safe from theft and cross-site requests.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { createKey, revokeKey } from '../../server/catalog/keys.ts';
import { createLink } from '../../server/catalog/sessions.ts';
import { addMember } from '../../server/catalog/workspaces.ts';
import { command } from '../command.ts';
import { facts, makeWorld, NOW, PROJECT, refusedFor, WORKSPACE } from '../world.ts';

const HOUR = 3_600_000;
const OWNER = 'owner@acme.example';

/** A clock that only tests move. */
const clock = { at: NOW };
const world = await makeWorld(
  t,
  {
    workspaces: [
      WORKSPACE,
      { id: 'gratis', name: 'Gratis', plan: 'free', keyword_history_days: 30 },
      { ...WORKSPACE, id: 'other', name: 'Other' },
    ],
    projects: [PROJECT, { ...PROJECT, id: 'Proj2', workspace_id: 'other', domain: 'other.example' }],
    site_daily: facts('date device', ['2026-03-01', 'mobile', 1, 2, 0]),
  },
  { now: () => clock.at, environment: { ORDINATE_PUBLIC_URL: 'https://reports.acme.example' } },
);
const { app, catalog, key } = world;
await addMember(catalog, 'acme', OWNER, 'owner');
await addMember(catalog, 'acme', 'admin@acme.example', 'admin');

let address = 0;
const DASHBOARD = { 'sec-fetch-site': 'same-origin', host: 'localhost:3000' };

/** Sends a request as the dashboard's page does, from a new address unless one is given. */
async function send(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  more: InjectOptions = {},
) {
  const remoteAddress = `198.51.${100 + Math.floor(++address / 250)}.${address % 250}`;
  const sent = Object.entries({ ...DASHBOARD, ...headers }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const response = await app.inject({ method, url, headers: Object.fromEntries(sent), remoteAddress, ...more });
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  const body: any = isJson && response.body !== '' ? JSON.parse(response.body) : null;
  return { status: response.statusCode, headers: response.headers, text: response.body, body, code: body?.error?.code };
}

const signIn = (secret: string, headers: Record<string, string | undefined> = {}) =>
  send('POST', '/app/session', { authorization: `Bearer ${secret}`, ...headers });

/** What a browser would send back of a `Set-Cookie`. */
function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return String(headers['set-cookie']).split(';')[0]!;
}

async function cookieFor(secret: string): Promise<string> {
  const answer = await signIn(secret);
  t.equal(answer.status, 200, answer.text);
  return cookieOf(answer);
}

const newKey = async (workspace = 'acme') => createKey(catalog, { workspace, name: 'test', by: null, at: 0 });
const newLink = async (email = OWNER) =>
  (await createLink(catalog, { workspace: 'acme', who: { keyId: null, email }, at: clock.at * 1000 })).token;

t.test('a pasted key begins a session that answers as the key does', async (t) => {
  const answer = await signIn(key);
  t.equal(answer.status, 200);
  t.strictSame(answer.body, { expiresAt: new Date(clock.at + 12 * HOUR).toISOString() });
  t.equal(answer.headers['cache-control'], 'no-store');
  const cookie = cookieOf(answer);
  for (const path of [
    '/projects',
    '/projects/Proj1/site',
    '/projects/Proj1/site.csv',
    '/projects/Proj1/notes',
    '/projects/Proj1/site?from=never',
    '/projects/Proj2/site',
  ]) {
    const byKey = await app.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${key}` } });
    const bySession = await send('GET', `/app/api${path}`, { cookie });
    t.strictSame([bySession.status, bySession.text], [byKey.statusCode, byKey.body], path);
    t.equal(bySession.headers['cache-control'], 'no-store');
  }
  t.strictSame((await send('GET', '/app/api/session', { cookie })).body, {
    workspace: { id: 'acme', name: 'Acme' },
    email: null,
    role: 'key',
    owner: null,
    expiresAt: new Date(clock.at + 12 * HOUR).toISOString(),
  });
});

t.test('the cookie: out of reach of scripts, other sites and, over HTTPS, other hosts', async (t) => {
  const SECURE = /^__Host-ordinate=ord_sess_\w{32}; Path=\/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict$/;
  const LOOPBACK = /^ordinate=ord_sess_\w{32}; Path=\/app; Max-Age=43200; HttpOnly; SameSite=Strict$/;
  const cases: readonly (readonly [string, Record<string, string | undefined>, RegExp])[] = [
    ['localhost', {}, LOOPBACK],
    ['127.0.0.1', { host: '127.0.0.1:3000', origin: 'http://127.0.0.1:3000' }, LOOPBACK],
    ['[::1]', { host: '[::1]:3000' }, LOOPBACK],
    ['another host', { host: 'reports.acme.example' }, SECURE],
    ['a name that begins like one', { host: 'localhost.acme.example' }, SECURE],
    [
      'HTTPS at a proxy that hides the name',
      { host: '127.0.0.1:3000', origin: 'https://reports.acme.example' },
      SECURE,
    ],
  ];
  for (const [name, headers, wanted] of cases) {
    t.match((await signIn(key, headers)).headers['set-cookie'], wanted, name);
  }
  const cookie = await cookieFor(key);
  const elsewhere = await send('GET', '/app/api/projects', { cookie, host: 'reports.acme.example' });
  t.equal(elsewhere.status, 401, 'the cookie of plain HTTP counts at a loopback address only');
  const secure = cookieOf(await signIn(key, { host: 'reports.acme.example' }));
  t.equal((await send('GET', '/app/api/projects', { cookie: secure, host: 'reports.acme.example' })).status, 200);
});

t.test('nothing but hashes is stored, and nothing secret is logged', async (t) => {
  const link = await newLink();
  const cookie = await cookieFor(link);
  await send('GET', `/app/api/projects?${cookie}`, { cookie });
  await send('GET', `/app/sign-in?${link}`);
  const secrets = [cookie.split('=')[1]!, link, key];
  const db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'), { readOnly: true });
  const stored = ['sessions', 'login_links', 'keys'].map((table) =>
    JSON.stringify(db.prepare(`select * from ${table}`).all()),
  );
  db.close();
  t.match(stored[0], /"hash":"[0-9a-f]{64}"/);
  for (const secret of secrets) {
    t.notOk(
      stored.some((text) => text.includes(secret)),
      'not stored',
    );
    t.notOk(
      world.log.some((line) => line.includes(secret)),
      'not logged',
    );
  }
});

t.test('a session counts below /app/api/ only, a key everywhere else', async (t) => {
  const cookie = await cookieFor(key);
  for (const url of ['/api/v1/projects', '/api/v1/projects/Proj1/site']) {
    t.equal((await send('GET', url, { cookie })).status, 401, url);
  }
  t.equal((await send('POST', '/app/session', { cookie })).status, 401, 'a session begins no other');
  const byKey = await send('GET', '/app/api/projects', { authorization: `Bearer ${key}` });
  t.strictSame([byKey.status, byKey.code], [401, 'unauthorized'], 'a key is no session');
  const session = cookie.split('=')[1]!;
  t.equal((await send('GET', '/api/v1/projects', { authorization: `Bearer ${session}` })).status, 401);
  t.equal((await send('GET', '/app/api/projects', { authorization: `Bearer ${session}` })).status, 401);
  t.equal((await send('GET', `/app/api/projects?ordinate=${session}`)).status, 401);
});

t.test('requests that no page of this origin has sent are refused, with the cookie too', async (t) => {
  const cookie = await cookieFor(key);
  const owner = await cookieFor(await newLink());
  for (const site of ['cross-site', 'same-site', 'none', '', undefined]) {
    const from = { 'sec-fetch-site': site };
    const read = await send('GET', '/app/api/projects/Proj1/site', { cookie, ...from });
    t.strictSame([read.status, read.code], [403, 'forbidden'], `GET, ${site}`);
    t.notOk(read.text.includes('clicks'));
    const made = await send(
      'POST',
      '/app/api/keys',
      { cookie: owner, 'content-type': 'application/json', ...from },
      { payload: '{"name":"evil"}' },
    );
    t.equal(made.status, 403, `POST, ${site}`);
    t.equal((await send('DELETE', '/app/api/session', { cookie, ...from })).status, 403, `signing out, ${site}`);
    t.equal((await signIn(key, from)).status, 403, `signing in, ${site}`);
    t.equal((await send('GET', '/app/api/%zz', { cookie, ...from })).status, 403, 'an address that cannot be decoded');
  }
  for (const [origin, status] of [
    ['https://reports.acme.example', 200],
    ['http://localhost:3000', 200],
    ['https://reports.acme.example.evil.example', 403],
    ['https://evil.example', 403],
    ['http://localhost:3001', 403],
    ['https://localhost:3000', 403],
    ['http://reports.acme.example', 403],
    ['null', 403],
  ] as const) {
    const signed = await signIn(key, { origin });
    t.equal(signed.status, status, `signing in, Origin: ${origin}`);
    const own = status === 200 ? cookieOf(signed) : cookie;
    t.equal((await send('GET', '/app/api/session', { cookie: own, origin })).status, status, `Origin: ${origin}`);
  }
  // Over HTTPS at the public name, whatever a proxy makes of it.
  const host = 'reports.acme.example';
  for (const [origin, status] of [
    [`https://${host}`, 200],
    [`http://${host}`, 403],
  ] as const) {
    t.equal((await signIn(key, { host, origin })).status, status, `Origin: ${origin} at its own host`);
  }
  t.equal((await send('GET', '/app/api/session', { cookie })).status, 200, 'the session is still there');
  t.strictSame(
    (await send('GET', '/app/api/keys', { cookie: owner })).body.keys.filter(
      ({ name }: { name: string }) => name === 'evil',
    ),
    [],
  );
});

t.test('a session ends after 12 hours, when one signs out, and at once when its key is revoked', async (t) => {
  const expiring = await cookieFor(key);
  clock.at += 12 * HOUR - 1;
  t.equal((await send('GET', '/app/api/projects', { cookie: expiring })).status, 200);
  clock.at += 1;
  const late = await send('GET', '/app/api/projects', { cookie: expiring });
  t.strictSame([late.status, late.code], [401, 'unauthorized']);
  t.match(late.body.error.message, 'Sign in again');

  const left = await cookieFor(key);
  const signedOut = await send('DELETE', '/app/api/session', { cookie: left });
  t.equal(signedOut.status, 204);
  t.match(signedOut.headers['set-cookie'], /^ordinate=; Path=\/app; Max-Age=0;/);
  t.equal((await send('GET', '/app/api/projects', { cookie: left })).status, 401);

  const made = await newKey();
  const revoked = await cookieFor(made.key);
  t.equal((await send('GET', '/app/api/projects', { cookie: revoked })).status, 200);
  await revokeKey(catalog, { id: made.id, workspace: 'acme', by: null, at: 1 });
  t.equal((await send('GET', '/app/api/projects', { cookie: revoked })).status, 401);
  t.equal((await signIn(made.key)).status, 401);
});

t.test('a link signs a member in once, within 10 minutes', async (t) => {
  const link = await newLink();
  const cookie = await cookieFor(link);
  t.equal((await send('GET', '/app/api/session', { cookie })).body.owner, OWNER);
  t.equal((await send('GET', '/app/api/projects', { cookie })).status, 200);
  const again = await signIn(link);
  t.strictSame([again.status, again.code], [401, 'unauthorized']);
  t.match(again.body.error.message, 'already used');
  t.equal(again.headers['set-cookie'], undefined);

  const late = await newLink();
  clock.at += 600_000;
  t.equal((await signIn(late)).status, 401);
  t.equal((await signIn(`ord_link_${'x'.repeat(32)}`)).status, 401);

  const session = async () => (await send('GET', '/app/api/session', { cookie })).body as object;
  t.match(await session(), { email: OWNER, role: 'owner', owner: OWNER });
  await addMember(catalog, 'acme', OWNER, 'member');
  t.match(await session(), { email: OWNER, role: 'member', owner: null }, 'a change of role counts at once');
  t.equal((await send('GET', '/app/api/keys', { cookie })).status, 403);
  await addMember(catalog, 'acme', OWNER, 'owner');
});

t.test('ordinate login makes links for members only', async (t) => {
  const settings = { ORDINATE_DATA: world.dataFolder, PORT: '8080' };
  const login = (...words: string[]) => command(settings, 'login', '--workspace', 'acme', ...words);
  t.match(await login('--by', 'nobody@acme.example'), { code: 1, stderr: /not a member/ });
  t.match(await login('--by', 'admin@acme.example'), { code: 0 });
  const printed = await login('--by', OWNER, '--json');
  t.equal(printed.code, 0, printed.stderr);
  const { url } = JSON.parse(printed.stdout) as { url: string };
  t.match(url, /^http:\/\/127\.0\.0\.1:8080\/app\/sign-in#ord_link_\w{32}$/);
  // The command has the time of the machine.
  const before = clock.at;
  clock.at = Date.now();
  t.equal((await send('GET', '/app/api/session', { cookie: await cookieFor(url.split('#')[1]!) })).body.owner, OWNER);
  clock.at = before;
  const named = await login('--by', OWNER, '--url', 'https://reports.acme.example/');
  t.match(named.stdout, /^ {2}https:\/\/reports\.acme\.example\/app\/sign-in#ord_link_\w+$/m);
  const environment = { ORDINATE_DATA: world.dataFolder, ORDINATE_PUBLIC_URL: 'https://public.acme.example' };
  const known = await command(environment, 'login', '--workspace', 'acme', '--by', OWNER);
  t.match(known.stdout, /^ {2}https:\/\/public\.acme\.example\/app\/sign-in#ord_link_\w+$/m);
  t.match(await login('--by', OWNER, '--url', 'javascript:alert(1)'), { code: 1, stderr: /must be an address/ });
});

t.test('failed attempts count together with failed keys: 30 a minute from one address', async (t) => {
  const from = { remoteAddress: '203.0.113.9' };
  const tries = [
    () => send('POST', '/app/session', { authorization: `Bearer ord_live_${'x'.repeat(32)}` }, from),
    () => send('POST', '/app/session', { authorization: `Bearer ord_link_${'x'.repeat(32)}` }, from),
    () => send('GET', '/app/api/projects', { cookie: `ordinate=ord_sess_${'x'.repeat(32)}` }, from),
    () => send('GET', '/api/v1/projects', {}, from),
    () => send('POST', '/app/session', {}, from),
  ];
  for (let count = 0; count < 30; count++) t.equal((await tries[count % tries.length]!()).status, 401);
  for (const attempt of tries) {
    const { status, code, headers } = await attempt();
    t.strictSame([status, code], [429, 'rate_limited']);
    t.ok(Number(headers['retry-after']) > 0);
  }
  t.equal(
    (await send('POST', '/app/session', { authorization: `Bearer ${key}` }, from)).status,
    200,
    'a right key still works',
  );
  clock.at += 60_001;
});

t.test('a session has a limit of its own, beside that of its key', async (t) => {
  const made = await newKey();
  const cookie = await cookieFor(made.key);
  const first = await send('GET', '/app/api/projects', { cookie });
  t.equal(first.headers['x-ratelimit-limit'], '600');
  t.equal(first.headers['x-content-type-options'], 'nosniff');
  t.equal(first.headers['x-ratelimit-remaining'], '599');
  const byKey = await app.inject({ url: '/api/v1/projects', headers: { authorization: `Bearer ${made.key}` } });
  t.equal(byKey.headers['x-ratelimit-remaining'], '118', 'signing in was the first request of the key');
  for (let count = 0; count < 599; count++) await send('GET', '/app/api/session', { cookie });
  const refused = await send('GET', '/app/api/projects', { cookie });
  t.strictSame([refused.status, refused.code], [429, 'rate_limited']);
  for (const other of [made.key, await newLink()]) {
    const { headers } = await send('GET', '/app/api/projects', { cookie: await cookieFor(other) });
    t.equal(headers['x-ratelimit-remaining'], '599', 'other sessions are not affected');
  }
});

t.test('the Free plan has no access', async (t) => {
  const made = await newKey('gratis');
  const refused = await signIn(made.key);
  t.strictSame([refused.status, refused.code, refused.headers['set-cookie']], [403, 'plan_required', undefined]);
});

t.test('owners and admins manage keys; members and keys do not', async (t) => {
  const reader = await cookieFor(key);
  const json = { 'content-type': 'application/json' };
  for (const [method, url, payload] of [
    ['GET', '/app/api/keys'],
    ['POST', '/app/api/keys', '{"name":"mine"}'],
    ['DELETE', `/app/api/keys/${(await newKey()).id}`],
  ] as const) {
    const refused = await send(method, url, { cookie: reader, ...(payload ? json : {}) }, payload ? { payload } : {});
    t.strictSame([refused.status, refused.code], [403, 'forbidden'], `${method} ${url}`);
  }
  const cookie = await cookieFor(await newLink());
  const post = (payload: string) =>
    send('POST', '/app/api/keys', { cookie, ...json, 'idempotency-key': randomUUID() }, { payload });
  for (const wrong of ['{}', '{"name":""}', '{"name":"  "}', '{"name":5}', `{"name":"${'x'.repeat(101)}"}`, 'null']) {
    refusedFor(t, await post(wrong), 'name', wrong);
  }
  t.equal((await post('{')).status, 400);
  t.equal((await post(`{"name":"${'x'.repeat(5000)}"}`)).status, 400, 'a body of a few kilobytes at most');
  const made = (await post('{"name":"sheet"}')).body as { id: string; key: string };
  t.match(made.key, /^ord_live_\w{32}$/);
  t.equal(
    (await app.inject({ url: '/api/v1/projects', headers: { authorization: `Bearer ${made.key}` } })).statusCode,
    200,
  );
  const listed = await send('GET', '/app/api/keys', { cookie });
  const found = listed.body.keys.find(({ id }: { id: string }) => id === made.id);
  t.match(found, { name: 'sheet', prefix: made.key.slice(0, 13), revokedAt: null });
  t.notOk(listed.text.includes(made.key), 'shown once only');
  t.equal((await send('DELETE', `/app/api/keys/${made.id}`, { cookie })).status, 204);
  t.equal(
    (await app.inject({ url: '/api/v1/projects', headers: { authorization: `Bearer ${made.key}` } })).statusCode,
    401,
  );
  const others = (await newKey('other')).id;
  t.match(await send('DELETE', `/app/api/keys/${others}`, { cookie }), { status: 404, code: 'not_found' });
});

t.test('what the dashboard does not have', async (t) => {
  const cookie = await cookieFor(key);
  for (const url of ['/app/api', '/app/api/', '/app/api/nothing', '/app/api/projects/Proj1/nothing']) {
    t.equal((await send('GET', url)).status, 401, `${url}, nobody signed in`);
    const { status, code } = await send('GET', url, { cookie });
    t.strictSame([status, code], [404, 'not_found'], url);
  }
});

t.test('without a public address a trusted proxy says whether browsers use HTTPS', async (t) => {
  const { app, key } = await makeWorld(t, {}, { environment: { ORDINATE_TRUSTED_PROXIES: '127.0.0.1' } });
  for (const [scheme, proto, status] of [
    ['http', undefined, 200],
    ['https', undefined, 403],
    ['https', 'https', 200],
    ['http', 'https', 403],
  ] as const) {
    const forwarded = proto === undefined ? {} : { 'x-forwarded-proto': proto };
    const from = { host: 'ordinate.example', origin: `${scheme}://ordinate.example`, 'sec-fetch-site': 'same-origin' };
    const headers = { ...from, ...forwarded, authorization: `Bearer ${key}` };
    const response = await app.inject({ method: 'POST', url: '/app/session', headers });
    t.equal(response.statusCode, status, `${scheme}, a proxy that says ${proto}`);
    if (status === 403) t.match(response.body, /ORDINATE_PUBLIC_URL/);
  }
});
