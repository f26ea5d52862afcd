// A key reads only its projects until it expires, can be rotated without downtime, and its use is in the audit trail.
import t, { type Test } from 'tap';
import { ROUTES } from '../../server/api/api.ts';
import { listAudit } from '../../server/catalog/audit.ts';
import { KeyUse } from '../../server/catalog/key-use.ts';
import { createKey, type NewKey, revokeKey, rotateKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { removeProject } from '../../server/load/remove.ts';
import { command } from '../command.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, WORKSPACE } from '../world.ts';

const clock = { at: NOW };
const SITE = facts('date device', ['2026-03-01', 'mobile', 3, 100, 900]);
const world = await makeWorld(
  t,
  {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
    projects: [
      PROJECT,
      { ...PROJECT, id: 'Proj2' },
      { ...PROJECT, id: 'Gone1' },
      { ...PROJECT, id: 'Other', workspace_id: 'other' },
    ],
    keywords: [keyword('Kw001', 'shoes'), ...ofProject('Proj2', [keyword('Kw002', 'boots')])],
    site_daily: [...SITE, ...ofProject('Proj2', SITE), ...ofProject('Gone1', SITE)],
  },
  { now: () => clock.at, environment: { ORDINATE_FEEDS: 'on' } },
);
const { app, catalog, dataFolder, settings } = world;
const run = (...words: readonly string[]) => command({ ORDINATE_DATA: dataFolder }, ...words);
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const SECOND = 1e6;
const MICROSECONDS = NOW * 1000;

const makeKey = (more: Partial<NewKey> = {}) =>
  createKey(catalog, { workspace: 'acme', name: 'test', by: null, at: MICROSECONDS, ...more });

/** Revokes the keys that a test makes, when it ends: a workspace can have 20. */
async function revokeLater(t: Test): Promise<void> {
  const ids = async (): Promise<string[]> =>
    (JSON.parse((await run('keys', 'list', '--workspace', 'acme', '--json')).stdout) as { id: string }[]).map(
      ({ id }) => id,
    );
  const before = await ids();
  t.teardown(async () => {
    for (const id of await ids()) {
      if (!before.includes(id)) await revokeKey(catalog, { id, workspace: 'acme', by: null, at: MICROSECONDS });
    }
  });
}

/** Calls a tool of the MCP server; its answer. */
async function callTool(
  key: string,
  name: string,
  given: object,
): Promise<{ error?: { code: string }; projects?: { id: string }[] }> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
  const headers = { ...bearer(key), accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const { body } = await app.inject({ method: 'POST', url: '/mcp', headers, payload: JSON.stringify(message) });
  const { result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as { result: { content: { text: string }[] } };
  return JSON.parse(result.content[0]!.text) as object;
}

t.test('a key that is limited to projects reads only them, everywhere', async (t) => {
  const { key, id, projects } = await makeKey({ projects: ['Proj1', 'Proj1'] });
  t.strictSame(projects, ['Proj1']);
  const headers = bearer(key);
  const listed = await world.get('/projects', headers);
  t.strictSame(
    listed.body.projects.map((project: { id: string }) => project.id),
    ['Proj1'],
  );
  t.equal((await world.get('/projects/Proj1/site', headers)).status, 200);
  const portfolioOf = async (sent?: Record<string, string>) => {
    const { body } = await world.get('/portfolio', sent);
    return (body as { projects: { id: string }[] }).projects.map((project) => project.id);
  };
  // The cached answer of one key is not the other's.
  for (let round = 0; round < 2; round++) {
    t.strictSame(await portfolioOf(), ['Gone1', 'Proj1', 'Proj2']);
    t.strictSame(await portfolioOf(headers), ['Proj1']);
  }

  const unknown = await world.get('/projects/Nope1/site', headers);
  const wrong: string[] = [];
  for (const { path } of ROUTES.filter((route) => route.path.includes(':id'))) {
    const url = path.replace(':id', 'Proj2').replace(':file', 'keyword_daily.2026-03.1.parquet');
    // Fills the caches with the answer for a key that may read it.
    await app.inject({ url: `/api/v1${url}`, headers: bearer(world.key) });
    const { statusCode, body } = await app.inject({ url: `/api/v1${url}`, headers });
    if (statusCode !== 404 || body !== JSON.stringify(unknown.body)) wrong.push(`${path}: ${statusCode} ${body}`);
  }
  t.strictSame(wrong, [], 'another project of the workspace is as unknown as one that does not exist');
  t.equal((await app.inject({ url: '/api/v1/projects/Proj2/site.csv', headers })).statusCode, 404);

  const tools = await callTool(key, 'list_projects', {});
  t.strictSame(
    tools.projects?.map((project) => project.id),
    ['Proj1'],
  );
  t.equal((await callTool(key, 'site_performance', { project: 'Proj2' })).error?.code, 'not_found');
  t.equal((await callTool(key, 'site_performance', { project: 'Proj1' })).error, undefined);

  const refused = await run('feeds', 'create', '--key', id, '--path', '/projects/Proj2/site.csv');
  t.match(refused, { code: 1, stderr: /no project 'Proj2'/ });
});

t.test('keys that are limited to other projects are never answered by each other', async (t) => {
  await revokeLater(t);
  const keys = [['Proj1'], ['Proj2'], ['Gone1', 'Proj1'], ['Proj1', 'Proj2']];
  const limited = await Promise.all(
    keys.map(async (projects) => ({ projects, key: (await makeKey({ projects })).key })),
  );
  // Each asks after each other one, of which some may read as many projects.
  for (const { projects, key } of [...limited, ...limited.toReversed()]) {
    for (const path of ['/projects', '/portfolio']) {
      const { body } = await world.get(path, bearer(key));
      t.strictSame((body as { projects: { id: string }[] }).projects.map(({ id }) => id).sort(), projects, path);
    }
    t.strictSame((await callTool(key, 'list_projects', {})).projects?.map(({ id }) => id).sort(), projects);
  }
});

t.test('a feed and a session are limited like their key', async (t) => {
  const { key, id } = await makeKey({ projects: ['Proj1'] });
  const made = await run('feeds', 'create', '--key', id, '--path', '/projects/Proj1/site.csv', '--json');
  const { url } = JSON.parse(made.stdout) as { url: string };
  t.equal((await app.inject({ url: new URL(url).pathname })).statusCode, 200);
  const sameOrigin = { 'sec-fetch-site': 'same-origin' };
  const signedIn = await app.inject({
    method: 'POST',
    url: '/app/session',
    headers: { ...bearer(key), ...sameOrigin },
  });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
  const ask = async (path: string) =>
    (await app.inject({ url: `/app/api${path}`, headers: { cookie, ...sameOrigin } })).statusCode;
  t.equal(await ask('/projects/Proj1/site'), 200);
  t.equal(await ask('/projects/Proj2/site'), 404);
  t.equal(await ask('/projects/Proj2/data'), 404);
});

t.test('a limited key whose projects are gone reads nothing', async (t) => {
  const { key } = await makeKey({ projects: ['Gone1'] });
  t.equal((await world.get('/projects/Gone1/site', bearer(key))).status, 200);
  await removeProject({ settings, catalog }, 'Gone1', () => {});
  t.strictSame((await world.get('/projects', bearer(key))).body, { projects: [] });
  t.equal((await world.get('/projects/Proj1/site', bearer(key))).status, 404);
});

t.test('a key for a project of another workspace is refused', async (t) => {
  await t.rejects(makeKey({ projects: ['Other'] }), { message: /no project 'Other'/ });
  await t.rejects(makeKey({ projects: ['Proj1', 'Nope1'] }), { message: /no project 'Nope1'/ });
});

t.test('a key ends when it expires, with its feeds and sessions', async (t) => {
  t.teardown(() => {
    clock.at = NOW;
  });
  const { key, id } = await makeKey({ expiresAt: MICROSECONDS + 3600 * SECOND });
  const feed = await catalogFeed(id);
  const sameOrigin = { 'sec-fetch-site': 'same-origin' };
  const signedIn = await app.inject({
    method: 'POST',
    url: '/app/session',
    headers: { ...bearer(key), ...sameOrigin },
  });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
  const statuses = async () => [
    (await world.get('/projects', bearer(key))).status,
    (await app.inject({ url: feed })).statusCode,
    (await app.inject({ url: '/app/api/projects', headers: { cookie, ...sameOrigin } })).statusCode,
  ];
  clock.at = NOW + 3600_000 - 1;
  t.strictSame(await statuses(), [200, 200, 200]);
  clock.at = NOW + 3600_000;
  t.strictSame(await statuses(), [401, 404, 401]);
  const { body } = await world.get('/projects', bearer(key));
  t.match(body.error, { code: 'unauthorized', message: /expired/ });
  await t.rejects(makeKey({ expiresAt: MICROSECONDS }), { message: /future/ });
});

async function catalogFeed(keyId: string): Promise<string> {
  const { createFeed } = await import('../../server/catalog/feeds.ts');
  const { token } = await createFeed(catalog, { keyId, path: '/projects/Proj1/site.csv', at: MICROSECONDS });
  return `/feeds/${token}.csv`;
}

t.test('a rotated key is valid for its overlap, and never beyond its own end; feeds move to the new one', async (t) => {
  await revokeLater(t);
  t.teardown(() => {
    clock.at = NOW;
  });
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
    const feed = await catalogFeed(old.id);
    const rotation = { id: old.id, workspace: 'acme', by: null, at: MICROSECONDS };
    const made = await rotateKey(catalog, { ...rotation, overlapEndsAt: MICROSECONDS + overlap * SECOND });
    const { id: _, key, prefix, createdAt, ...rest } = made;
    // It lives as long as the old one did, from now on.
    const end = expiresAt && expiresAt + 20 * SECOND;
    t.strictSame(rest, { name, expiresAt: end, projects: ['Proj1'], scope: null });
    t.strictSame([key.startsWith(prefix), key === old.key, createdAt], [true, false, MICROSECONDS]);
    const statuses = async () => [
      (await world.get('/projects', bearer(old.key))).status,
      (await world.get('/projects', bearer(key))).status,
      (await app.inject({ url: feed })).statusCode,
    ];
    clock.at = NOW + valid * 1000 - 1;
    if (valid > 0) t.strictSame(await statuses(), [200, 200, 200], name);
    clock.at = NOW + valid * 1000;
    t.strictSame(await statuses(), [401, 200, 200], name);
    clock.at = NOW + (life ?? 0) * 1000 + 20_000;
    if (life !== null) t.strictSame(await statuses(), [401, 401, 404], name);
    clock.at = NOW;
    t.equal((await world.get('/projects/Proj2/site', bearer(key))).status, 404, 'it is limited like the old one');
    await t.rejects(rotateKey(catalog, { ...rotation, overlapEndsAt: MICROSECONDS }), { message: new RegExp(made.id) });
  }
  const unknown = { id: 'nope', workspace: 'acme', by: null, at: MICROSECONDS, overlapEndsAt: 0 };
  await t.rejects(rotateKey(catalog, unknown), { message: /no key/ });
});

t.test('owners and admins make, rotate and revoke keys, and nobody else does', async (t) => {
  await revokeLater(t);
  for (const [role, workspace] of [
    ['owner', 'acme'],
    ['admin', 'acme'],
    ['member', 'acme'],
    ['owner', 'other'],
  ] as const) {
    const email = `${role}-${workspace}@acme.example`;
    await run('members', 'add', '--workspace', workspace, '--email', email, '--role', role);
  }
  const refusals = {
    'owner-acme': null,
    'admin-acme': null,
    'member-acme': 'is a member',
    'owner-other': 'is not a member of the workspace',
    nobody: 'is not a member of the workspace',
  };
  for (const [who, refusal] of Object.entries(refusals)) {
    const by = `${who}@acme.example`;
    const [old, gone] = [await makeKey(), await makeKey()];
    const ended = [
      await run('keys', 'create', '--workspace', 'acme', '--name', 'x', '--by', by),
      await run('keys', 'rotate', old.id, '--workspace', 'acme', '--by', by),
      await run('keys', 'revoke', gone.id, '--workspace', 'acme', '--by', by),
    ];
    const said = `Only an owner or admin can create or revoke keys; '${by}' ${refusal}.\n`;
    t.strictSame(
      ended.map(({ code, stderr }) => (code === 0 ? null : stderr)),
      Array(3).fill(refusal === null ? null : said),
      who,
    );
    t.equal((await world.get('/projects', bearer(gone.key))).status, refusal === null ? 401 : 200, who);
  }
});

t.test('a workspace that has all of its keys can rotate each of them', async (t) => {
  const keys = [];
  for (let number = 0; number < 20; number++) keys.push(await makeKey({ workspace: 'other' }));
  await t.rejects(makeKey({ workspace: 'other' }), { message: /20 active keys/ });
  for (const { id } of keys) {
    await rotateKey(catalog, {
      id,
      workspace: 'other',
      by: null,
      at: MICROSECONDS,
      overlapEndsAt: MICROSECONDS + SECOND,
    });
  }
  await t.rejects(makeKey({ workspace: 'other' }), { message: /20 active keys/ });
});

t.test('a workspace has its own limit of requests', async (t) => {
  t.teardown(() => run('workspaces', 'set', 'acme', '--requests-per-minute', 'default'));
  t.match(await run('workspaces', 'set', 'acme', '--requests-per-minute', '3'), {
    code: 0,
    stdout: /3 requests a minute/,
  });
  const { key } = await makeKey();
  const statuses = [];
  for (let sent = 0; sent < 4; sent++) statuses.push((await world.get('/projects', bearer(key))).status);
  t.strictSame(statuses, [200, 200, 200, 429]);
  const last = await world.get('/projects', bearer(key));
  t.match(last.headers, { 'x-ratelimit-limit': 3, 'x-ratelimit-remaining': 0 });
  t.match(last.body.error.message, /the limit is 3 per minute/);
  await run('workspaces', 'set', 'acme', '--requests-per-minute', '5');
  t.match((await world.get('/projects', bearer((await makeKey()).key))).headers, { 'x-ratelimit-remaining': 4 });
  for (const wrong of ['0', '-1', '1.5', 'many', '100001']) {
    t.not((await run('workspaces', 'set', 'acme', `--requests-per-minute=${wrong}`)).code, 0, wrong);
  }
  t.match(await run('workspaces', 'set', 'acme'), { code: 1, stderr: /Nothing to change/ });
  t.match(await run('workspaces', 'set', 'nope', '--requests-per-minute', '5'), {
    code: 1,
    stderr: /no workspace 'nope'/,
  });
});

t.test('the audit trail names who did what', async (t) => {
  const words = (...list: readonly string[]) => run(...list, '--workspace', 'trail');
  const keyIds = () => JSON.parse(listed.stdout).map(({ id }: { id: string }) => id) as string[];
  await run('workspaces', 'create', '--id', 'trail', '--name', 'Trail', '--plan', 'team');
  await words('members', 'add', '--email', 'owner@acme.example', '--role', 'owner');
  await words('keys', 'create', '--name', 'sheets', '--expires', '90d', '--by', 'owner@acme.example');
  const listed = await words('keys', 'list', '--json');
  const [id] = keyIds();
  const rotated = await words('keys', 'rotate', id!, '--overlap', '2d', '--json');
  t.match(JSON.parse(rotated.stdout), { replaces: id, name: 'sheets', oldKeyValidUntil: /Z$/ });
  await words('keys', 'revoke', id!);
  await words('keys', 'revoke', id!);
  const { stdout } = await words('audit', 'list', '--json');
  const entries = JSON.parse(stdout) as { action: string; actor: string; subject: string; details: object }[];
  t.strictSame(
    entries.map(({ action }) => action),
    ['key.revoked', 'key.rotated', 'key.created', 'member.set', 'workspace.created'],
  );
  t.match(entries[2], { actor: 'owner@acme.example', subject: id, details: { name: 'sheets' } });
  t.match(entries[4]?.actor, /^command line \(.+\)$/);
  t.notMatch(stdout, /ord_live_\w{30}/, 'no key is in it');
  const table = await words('audit', 'list', '--action', 'key.revoked');
  t.match(table.stdout, /key\.revoked/);
  t.notMatch(table.stdout, /key\.created/);
  t.match(await run('audit', 'list', '--action', 'nope'), { code: 1, stderr: /Allowed choices/ });
  t.match(await words('audit', 'list', '--since', '2999-01-01'), { code: 0, stdout: 'There are no entries.\n' });
});

t.test('the audit trail shows when keys were used, loads, and what was removed', async (t) => {
  const { id } = await makeKey({ name: 'counted' });
  await world.load({ site_daily: SITE }, { source: 'snapshot' });
  const usage = openUsage(sqliteIn(dataFolder), (error) => {
    throw error;
  });
  t.teardown(() => usage.close());
  const find = async (action: 'key.used' | 'data.loaded' | 'project.removed') =>
    listAudit(catalog, usage, { workspace: 'acme', action, since: 0, limit: 100 });
  const keyUse = new KeyUse(usage);
  for (const [requests, last] of [
    [3, 2],
    [5, 2],
    [9, 4],
  ] as const) {
    // Each process adds what it counted since it last did, whichever comes first.
    for (let sent = requests === 5 ? 1 : 0; sent < 3; sent++) keyUse.note(id, NOW + (requests === 5 ? 0 : sent));
    if (requests === 9) keyUse.note(id, NOW + 4);
    await keyUse.flush();
    const used = (await find('key.used')).filter(({ subject }) => subject === id);
    t.match(used, [{ actor: 'key counted', details: { requests }, at: MICROSECONDS + last * 1000 }]);
    t.equal(used.length, 1);
  }
  t.match((await find('data.loaded'))[0], {
    details: { source: 'snapshot', projects: ['Proj1'], rows: { site_daily: 1 } },
  });
  t.match((await find('project.removed'))[0], { subject: 'Gone1', details: { facts: { site_daily: { rows: 1 } } } });
});

t.test('times of keys are checked', async (t) => {
  const create = (expires: string) =>
    run('keys', 'create', '--workspace', 'acme', '--name', 'x', `--expires=${expires}`);
  for (const wrong of ['90', '0d', '90w', '2026-02-30', 'soon', '-1d', '2020-01-01']) {
    const { code, stderr } = await create(wrong);
    t.not(code, 0, wrong);
    t.match(stderr, /such as 90d|YYYY-MM-DD|in the future/, wrong);
  }
  t.match(await create('36h'), { code: 0, stdout: /It is valid until / });
  t.match(await create('2999-12-31'), { code: 0, stdout: /valid until 3000-01-01T00:00:00\.000Z/ });
});
