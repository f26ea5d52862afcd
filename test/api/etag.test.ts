// A client with the current answer gets 304, and every change of the answer changes its ETag.
import t from 'tap';
import { putSyncState } from '../../server/catalog/sync-projects.ts';
import { facts, keyword, makeWorld, PROJECT, type World } from '../world.ts';

const DATA = {
  keywords: [keyword('Kw001', 'boots')],
  site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]),
  site_hourly: facts('date hour', ['2026-03-09', '2026-03-09T12:00:00Z', 1, 10, 20]),
  keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-09', 'mobile', 1, 32, 64]),
  page_daily: facts('date url country', ['2026-03-09', 'https://shop.example/', 'gbr', 5, 40, 77]),
};
const PATHS = [
  '',
  '/site',
  '/site.csv',
  '/hours?from=2026-03-01',
  '/surfaces',
  '/breakdowns',
  '/keywords',
  '/keywords?daily=1',
  '/keywords.parquet?daily=1',
  '/pages',
  '/pages.ndjson',
  '/groups',
  '/page-groups',
  '/alerts',
  '/alerts.csv',
  '/notes',
  '/notes.ndjson?clientVisible=1',
];
/** Of the workspace. */
const PROJECTS = ['../../projects', '../../projects.csv', '../../portfolio', '../../portfolio.csv'];

async function ask({ app, key }: World, path: string, headers: Readonly<Record<string, string>> = {}) {
  const url = path.startsWith('../..') ? `/api/v1${path.slice(5)}` : `/api/v1/projects/Proj1${path}`;
  const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}`, ...headers } });
  const { statusCode: status, rawPayload } = answer;
  const remaining = Number(answer.headers['x-ratelimit-remaining']);
  return { status, bytes: rawPayload.length, etag: answer.headers['etag'] as string | undefined, remaining, answer };
}

t.test('an answer that the client has is not sent again, and counts as a request', async (t) => {
  const world = await makeWorld(t, DATA);
  const tags = new Set<string>();
  for (const path of [...PATHS, ...PROJECTS]) {
    const first = await ask(world, path);
    t.equal(first.status, 200, path);
    t.match(first.etag, /^W\/"[\w-]{27}"$/, path);
    const again = await ask(world, path, { 'if-none-match': first.etag! });
    t.match(again, { status: 304, bytes: 0, etag: first.etag, remaining: first.remaining - 1 }, path);
    t.equal(again.answer.headers['cache-control'], 'no-store', path);
    t.equal((await ask(world, path, { 'if-none-match': '"other"' })).status, 200, path);
    tags.add(first.etag!);
  }
  t.equal(tags.size, PATHS.length + PROJECTS.length, 'another question or format has another tag');
});

t.test('If-None-Match as clients send it', async (t) => {
  const world = await makeWorld(t, DATA);
  const { etag = '' } = await ask(world, '/site');
  const status = async (known: string, more = {}) =>
    (await ask(world, '/site', { 'if-none-match': known, ...more })).status;
  t.equal(await status(`"a", ${etag}`), 304);
  t.equal(await status(etag.slice(2)), 304, 'tags are compared as weak ones');
  t.equal(await status('*'), 304);
  t.equal(await status('a'), 200);
  t.equal(await status(etag, { 'accept-encoding': 'gzip' }), 304);
  t.equal(await status(etag, { accept: 'text/csv' }), 200, 'CSV is another answer');
  t.equal(await status(etag, { authorization: 'Bearer wrong' }), 401);
});

t.test('Accept as clients send it: the best known type, the first of equal ones, else JSON', async (t) => {
  const world = await makeWorld(t, DATA);
  const [csv, ndjson] = ['text/csv', 'application/x-ndjson'];
  for (const [accept, expected] of [
    [`${csv}, ${ndjson}`, csv],
    [`${ndjson}, ${csv}`, ndjson],
    [`${ndjson};q=0.5, ${csv};q=0.5`, ndjson],
    [`${csv};q=0.4, ${ndjson};q=0.5`, ndjson],
    [`${csv};q=0.5, application/*;q=0.5`, csv],
    [`${csv};q=0.4, application/*;q=0.5`, 'application/json'],
    ['image/png, TEXT/CSV ; Q=0.1', csv],
    ...['0', '2', '-1', 'x'].map((wrong) => [`${csv};q=${wrong}`, 'application/json'] as const),
  ] as const) {
    const { answer } = await ask(world, '/site', { accept });
    t.equal(String(answer.headers['content-type']).split(';')[0], expected, accept);
    t.equal(answer.headers['vary'], 'accept, accept-encoding', accept);
  }
});

t.test('what changes an answer changes its tag, and errors have none', async (t) => {
  let now = Date.parse('2026-03-15T12:00:00Z');
  const world = await makeWorld(t, DATA, { now: () => now });
  const tagsOf = async (): Promise<Record<string, string | undefined>> =>
    Object.fromEntries(await Promise.all(PATHS.map(async (path) => [path, (await ask(world, path)).etag] as const)));
  const before = await tagsOf();
  now += 60_000;
  t.strictSame(await tagsOf(), before, 'time changes none');
  await world.load({ site_daily: facts('date device', ['2026-03-09', 'mobile', 2, 10, 20]) });
  const afterFacts = await tagsOf();
  t.not(afterFacts['/site'], before['/site']);
  t.not(afterFacts['/site.csv'], before['/site.csv']);
  await world.load({ projects: [{ ...PROJECT, domain: 'new.example' }] });
  const afterProject = await tagsOf();
  for (const path of PATHS) t.not(afterProject[path], afterFacts[path], path);
  for (const path of ['/site?period=x', '/alerts?status=x', '/keywords?group=Nope1']) {
    t.equal((await ask(world, path)).etag, undefined, path);
  }
});

t.test('what changes without a revision changes its tags, too', async (t) => {
  let now = Date.parse('2026-03-15T12:00:00Z');
  const ids = { project_id: 'Proj1', id: '0a1b2c3d-0000-4000-8000-000000000001' };
  const alert = { ...ids, type: 'keyword_drop', kind: 'Keyword drop', severity: 'warning', title: 'Fell', body: '' };
  const note = { ...ids, workspace_id: 'acme', scope: 'project', category: 'other', author: 'A', client_visible: true };
  const [created_at, later] = ['2026-03-03T04:05:06Z', '2026-03-04T04:05:06Z'];
  const notes = [{ ...note, date: '2026-03-03', text: 'Launch', created_at, updated_at: created_at }];
  const project = { ...PROJECT, last_synced_at: null, synced_through: null, provisional_after: null };
  const tables = { projects: [project], alerts: [{ ...alert, created_at }], notes };
  const world = await makeWorld(t, tables, { now: () => now });
  const { catalog } = world;
  const paths = ['', ...PROJECTS, '/alerts', '/alerts.csv', '/notes', '/notes.csv'];
  const tagsOf = async (): Promise<Record<string, string | undefined>> =>
    Object.fromEntries(await Promise.all(paths.map(async (path) => [path, (await ask(world, path)).etag] as const)));
  let before = await tagsOf();
  const changed = async (): Promise<string[]> => {
    const after = await tagsOf();
    const differing = paths.filter((path) => after[path] !== before[path]);
    before = after;
    return differing;
  };
  t.strictSame(await changed(), []);
  await world.load({ alerts: [{ ...alert, created_at, resolved_at: later }] });
  t.strictSame(await changed(), ['/alerts', '/alerts.csv']);
  await world.load({ notes: [{ ...notes[0], text: 'Relaunch', updated_at: later }] });
  t.strictSame(await changed(), ['/notes', '/notes.csv']);
  await catalog.transaction((tx) => putSyncState(tx, 'Proj1', { lastSyncedAt: now * 1000 }));
  t.strictSame(await changed(), ['', ...PROJECTS], 'reports do not contain when it was');
  now += 86_400_000;
  t.strictSame(await changed(), ['', ...PROJECTS], 'before the first days, the history moves with the date');
  await world.load({ keywords: [keyword('Kw001', 'boots')] });
  t.match(await changed(), ['', ...PROJECTS]);
});
