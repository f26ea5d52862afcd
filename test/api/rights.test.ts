// A key that is limited to projects reads no other on any path, and ends with its time, as its feeds and sessions do.
import t, { type Test } from 'tap';
import { perform } from '../../cli/operations.ts';
import { ROUTES } from '../../server/api/api.ts';
import { listAudit } from '../../server/catalog/audit.ts';
import { createFeed, KeyUse, type NewKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { createKey, keyRotation } from '../../server/operations/keys.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, WORKSPACE } from '../world.ts';

// What the dialogue `keys` cannot ask: of every route, and at the instant.

const clock = { at: NOW };
const SITE = facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]);
const world = await makeWorld(
  t,
  {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
    projects: [PROJECT, { ...PROJECT, id: 'Proj2' }],
    keywords: [keyword('Kw001', 'shoes'), ...ofProject('Proj2', [keyword('Kw002', 'boots')])],
    site_daily: [...SITE, ...ofProject('Proj2', SITE)],
  },
  { now: () => clock.at, environment: { ORDINATE_FEEDS: 'on' } },
);
const { app, catalog, dataFolder } = world;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const SECOND = 1e6;
const MICROSECONDS = NOW * 1000;

const makeKey = (more: Partial<NewKey> = {}) =>
  createKey(catalog, { workspace: 'acme', name: 'test', at: MICROSECONDS, ...more });
const rotate = async (id: string, overlap: number, workspace = 'acme') => {
  const input = { overlapEndsAt: MICROSECONDS + overlap * SECOND };
  return (await perform({ catalog }, keyRotation, { workspace, id, input, at: MICROSECONDS })).made;
};
const resetLater = (t: Test): void => t.teardown(() => Object.assign(clock, { at: NOW }));

/** The statuses of requests with keys, by a feed of the first one, and with its session. */
async function credentialsOf(...keys: readonly { readonly id: string; readonly key: string }[]) {
  const feed = { keyId: keys[0]!.id, path: '/projects/Proj1/site.csv', at: MICROSECONDS };
  const { token } = await catalog.transaction((tx) => createFeed(tx, feed));
  const page = { 'sec-fetch-site': 'same-origin' };
  const headers = { ...bearer(keys[0]!.key), ...page };
  const signedIn = await app.inject({ method: 'POST', url: '/app/session', headers });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
  return async (newKey?: string): Promise<number[]> => [
    (await world.get('/projects', bearer(keys[0]!.key))).status,
    ...(newKey === undefined ? [] : [(await world.get('/projects', bearer(newKey))).status]),
    (await app.inject({ url: `/feeds/${token}.csv` })).statusCode,
    (await app.inject({ url: '/app/api/projects', headers: { cookie, ...page } })).statusCode,
  ];
}

t.test('another project of the workspace is as unknown as one that does not exist, on every path', async (t) => {
  const headers = bearer((await makeKey({ projects: ['Proj1'] })).key);
  const unknown = await app.inject({ url: '/api/v1/projects/Nope1/site', headers });
  const wrong: string[] = [];
  for (const { path } of ROUTES.filter((route) => route.path.includes(':id'))) {
    const url = `/api/v1${path.replace(':id', 'Proj2').replace(':file', 'keyword_daily.2026-03.1.parquet')}`;
    // Fills the caches with the answer for a key that may read it.
    await app.inject({ url, headers: bearer(world.key) });
    const { statusCode, body } = await app.inject({ url, headers });
    if (statusCode !== 404 || body !== unknown.body) wrong.push(`${path}: ${statusCode} ${body}`);
  }
  t.strictSame(wrong, []);
});

t.test('a key ends at the instant when it expires, with its feeds and sessions', async (t) => {
  resetLater(t);
  const key = await makeKey({ expiresAt: MICROSECONDS + 3600 * SECOND });
  const statuses = await credentialsOf(key);
  clock.at = NOW + 3600_000 - 1;
  t.strictSame(await statuses(), [200, 200, 200]);
  clock.at = NOW + 3600_000;
  t.strictSame(await statuses(), [401, 404, 401]);
  t.match((await world.get('/projects', bearer(key.key))).body, {
    error: { code: 'unauthorized', message: /expired/ },
  });
  await t.rejects(makeKey({ expiresAt: MICROSECONDS }), { message: /future/ });
});

t.test('a rotated key is valid for its overlap, and never beyond its own end; feeds move to the new one', async (t) => {
  resetLater(t);
  // Seconds: the life of the old key, the overlap, and how long the old one is valid.
  for (const [life, overlap, valid] of [
    [null, 60, 60],
    [90, 60, 60],
    [60, 60, 60],
    [59, 60, 59],
    [null, 0, 0],
  ] as const) {
    clock.at = NOW;
    const name = `of ${life}, rotated with ${overlap}`;
    const expiresAt = life === null ? null : MICROSECONDS + life * SECOND;
    const old = await makeKey({ name, projects: ['Proj1'], expiresAt, at: MICROSECONDS - 20 * SECOND });
    const statuses = await credentialsOf(old);
    const { id: _, key, prefix, createdAt, ...rest } = await rotate(old.id, overlap);
    // It lives as long as the old one did, from now on.
    const end = expiresAt && expiresAt + 20 * SECOND;
    t.strictSame(rest, { name, expiresAt: end, projects: ['Proj1'], scope: null });
    t.strictSame([key.startsWith(prefix), key === old.key, createdAt], [true, false, MICROSECONDS]);
    clock.at = NOW + valid * 1000 - 1;
    if (valid > 0) t.strictSame((await statuses(key)).slice(0, 3), [200, 200, 200], name);
    clock.at = NOW + valid * 1000;
    t.strictSame((await statuses(key)).slice(0, 3), [401, 200, 200], name);
    clock.at = NOW + (life ?? 0) * 1000 + 20_000;
    if (life !== null) t.strictSame((await statuses(key)).slice(0, 3), [401, 401, 404], name);
    clock.at = NOW;
    t.equal((await world.get('/projects/Proj2/site', bearer(key))).status, 404, 'it is limited like the old one');
  }
  await t.rejects(rotate('nope', 0), { message: /no key/ });
});

t.test('a workspace that has all of its keys can rotate each of them', async (t) => {
  const keys = [];
  for (let number = 0; number < 20; number++) keys.push(await makeKey({ workspace: 'other' }));
  await t.rejects(makeKey({ workspace: 'other' }), { message: /20 active keys/ });
  for (const { id } of keys) await rotate(id, 1, 'other');
  await t.rejects(makeKey({ workspace: 'other' }), { message: /20 active keys/ });
});

t.test('the audit trail adds up what processes counted of a key, whichever comes first', async (t) => {
  const { id } = await makeKey({ name: 'counted' });
  const usage = openUsage(sqliteIn(dataFolder), (error) => {
    throw error;
  });
  t.teardown(() => usage.close());
  const keyUse = new KeyUse(usage);
  const found: unknown[] = [];
  for (const instants of [
    [0, 1, 2],
    [0, 0],
    [0, 1, 2, 4],
  ]) {
    for (const at of instants) keyUse.note(id, NOW + at);
    await keyUse.flush();
    const used = await listAudit(catalog, usage, { workspace: 'acme', action: 'key.used', since: 0, limit: 100 });
    for (const { subject, actor, details, at } of used) if (subject === id) found.push({ actor, details, at });
  }
  const made: string[] = [];
  for (const name of ['second', 'third', 'first']) made.push((await makeKey({ name })).id);
  const keys = await listAudit(catalog, usage, { workspace: 'acme', action: 'key.created', since: 0, limit: 3 });
  t.strictSame(
    keys.map(({ subject }) => subject),
    made.toReversed(),
    'of the same instant, the one that was written last comes first',
  );
  t.strictSame(
    found,
    [
      [3, 2],
      [5, 2],
      [9, 4],
    ].map(([requests, last]) => ({ actor: 'key counted', details: { requests }, at: MICROSECONDS + last! * 1000 })),
  );
});
