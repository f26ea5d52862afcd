// Requests to the API and to providers are counted by route, status and outcome, in few series.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { createKey } from '../../server/operations/keys.ts';
import { connect, connectedWorld } from '../fakes/connected.ts';
import { facts, keyword, makeWorld, NOW, PROJECT } from '../world.ts';
import { valuesOf } from './scrape-text.ts';

const ROWS = {
  keywords: [keyword('Kw001', 'boots')],
  site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 2, 3]),
};
const SERVER = { process: 'server' };
const api = '/api/v1/projects/:id';

t.test('requests are counted by route, method, status and format, and nothing else is', async (t) => {
  const world = await makeWorld(t, ROWS, { measured: true });
  const requests = async (): Promise<Record<string, number>> =>
    valuesOf(await world.scrape(), 'ordinate_http_requests_total', SERVER);
  t.strictSame(await requests(), {}, 'none yet');
  await world.ask('/site');
  await world.ask('/site?from=2026-03-01&to=2026-03-09');
  await world.ask('/site?period=x');
  await world.get('/projects/Proj1/site', {});
  await world.get('/projects/secret-project/site');
  const headers = { authorization: `Bearer ${world.key}` };
  const send = (method: 'GET' | 'HEAD' | 'PATCH' | 'PROPFIND', url: string) =>
    world.app.inject({ method, url, headers });
  await send('GET', '/api/v1/projects/Proj1/site.csv');
  await send('HEAD', '/api/v1/projects/Proj1/groups');
  const { headers: sent } = await send('GET', '/api/v1/projects/Proj1/site');
  const again = { ...headers, 'if-none-match': String(sent['etag']) };
  await world.app.inject({ method: 'GET', url: '/api/v1/projects/Proj1/site', headers: again });
  for (const url of ['/api/v1/secret-path', '/secret-path', '/%zz', '/livez', '/docs']) await send('GET', url);
  await send('PROPFIND', '/secret-path');
  const text = await world.scrape();
  t.strictSame(valuesOf(text, 'ordinate_http_requests_total', SERVER), {
    [`${api}/site GET 200 json`]: 3,
    [`${api}/site GET 400 json`]: 1,
    [`${api}/site GET 401 json`]: 1,
    [`${api}/site GET 404 json`]: 1,
    [`${api}/site.csv GET 200 csv`]: 1,
    [`${api}/groups HEAD 200 json`]: 1,
    [`${api}/site GET 304 none`]: 1,
    'none GET 404 json': 2,
    'none GET 400 json': 1,
    'none other 404 json': 1,
    '/livez GET 200 json': 1,
    '/docs GET 200 other': 1,
  });
  t.strictSame(valuesOf(text, 'ordinate_http_request_seconds_count', SERVER), {
    [`${api}/site`]: 7,
    [`${api}/site.csv`]: 1,
    [`${api}/groups`]: 1,
    none: 4,
    '/livez': 1,
    '/docs': 1,
  });
  t.strictSame(valuesOf(text, 'ordinate_stage_seconds_count', { ...SERVER, route: `${api}/site` }), {
    parse: 4,
    plan: 2,
    run: 2,
    format: 2,
  });
  t.strictSame(valuesOf(text, 'ordinate_cache_hits_total', { ...SERVER, cache: 'responses' }), { '': 1 });
  t.strictSame(valuesOf(text, 'ordinate_cache_misses_total', { ...SERVER, cache: 'responses' }), { '': 2 });
  t.notMatch(text, /secret-|Proj1|acme|ord_live|boots/, 'no URL, project, workspace, key or query');
});

t.test('responses with 503 are counted by reason', async (t) => {
  const world = await makeWorld(t, ROWS, { measured: true });
  const reasons = async (): Promise<Record<string, number>> => {
    const found = valuesOf(await world.scrape(), 'ordinate_http_unavailable_total', SERVER);
    return Object.fromEntries(Object.entries(found).filter(([, count]) => count > 0));
  };
  t.strictSame(await reasons(), {});
  t.equal((await world.ask('/pages')).status, 503);
  t.equal((await world.ask('/queries')).status, 503);
  // A newer version has migrated the data, for a moment.
  using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  const { user_version: version } = db.prepare('pragma user_version').get()!;
  db.exec('pragma user_version = 999');
  await new Promise(setImmediate);
  t.equal((await world.app.inject('/readyz')).statusCode, 503);
  db.exec(`pragma user_version = ${String(version)}`);
  await new Promise(setImmediate);
  t.strictSame(await reasons(), { 'not-ready': 1, 'list-without-source': 2 });
});

t.test('requests to providers and fetches of lists are counted by outcome', async (t) => {
  const world = await connectedWorld(t, { measured: true });
  world.google.queries = [{ key: 'boots', clicks: 1, impressions: 2, position: 3 }];
  t.equal((await world.ask('/queries')).status, 200);
  t.equal((await world.ask('/queries')).status, 200, 'from the store');
  const text = await world.scrape();
  const asked = valuesOf(text, 'ordinate_provider_requests_total', SERVER);
  t.strictSame(asked, { 'search-console ok': world.google.requests.length });
  t.strictSame(valuesOf(text, 'ordinate_list_fetches_total', SERVER), { 'search-console ok': 1 });
  t.strictSame(valuesOf(text, 'ordinate_lists_stored'), { '': 1 });
  t.ok(valuesOf(text, 'ordinate_lists_stored_bytes')['']! > 0);
  t.strictSame(valuesOf(text, 'ordinate_places_used', { ...SERVER, gate: 'provider' }), { '': 0 });
});

/** What became of statements, by outcome, and how many were timed and wait. */
async function countStatements(t: Test, statement: number, statements: readonly string[]) {
  const options = { measured: true, environment: { ORDINATE_SQL: 'on' }, limits: { statement } };
  const world = await makeWorld(t, ROWS, options);
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'sql', at: 0, scope: 'sql' });
  const headers = { authorization: `Bearer ${key}` };
  for (const sql of statements) {
    await world.app.inject({ method: 'POST', url: '/api/v1/projects/Proj1/sql', headers, payload: { sql, limit: 1 } });
  }
  const text = await world.scrape();
  return {
    ...valuesOf(text, 'ordinate_statements_total', SERVER),
    timed: valuesOf(text, 'ordinate_statement_seconds_count', SERVER)[''],
    waiting: valuesOf(text, 'ordinate_places_waiting', { ...SERVER, gate: 'sql' })[''],
  };
}

t.test('statements in SQL are counted by outcome', async (t) => {
  const none = { complete: 0, truncated: 0, refused: 0, stopped: 0, busy: 0, failed: 0, waiting: 0 };
  const statements = ['select 1', 'from range(2)', `from read_text('/etc/passwd')`, 'select no_column'];
  const counted = await countStatements(t, 60_000, statements);
  t.strictSame(counted, { ...none, complete: 1, truncated: 1, refused: 2, timed: 4 });
  const endless = 'with recursive n as (select 1 as i union all select i + 1 from n) select count(*) from n';
  t.strictSame(await countStatements(t, 500, [endless]), { ...none, stopped: 1, timed: 1 });
});

t.test('few projects have a series of their own: those whose sync is the oldest', async (t) => {
  const ids = Array.from({ length: 25 }, (_, index) => `Pro${String(index + 1).padStart(2, '0')}`);
  const created = (index: number): string => new Date(NOW - (index + 1) * 3_600_000).toISOString();
  const projects = ids.map((id, index) => ({
    ...PROJECT,
    id,
    property: `sc-domain:${id}.example`,
    created_at: created(index),
  }));
  const world = await makeWorld(t, { projects }, { measured: true });
  for (const id of ids) await connect(world.catalog, {}, id);
  const text = await world.scrape();
  const hours = valuesOf(text, 'ordinate_sync_age_seconds');
  t.strictSame(
    hours,
    Object.fromEntries(ids.slice(5).map((id, index) => [id, (index + 6) * 3600])),
    'a project that never synced counts since its creation',
  );
  t.strictSame(valuesOf(text, 'ordinate_sync_age_max_seconds'), { '': 25 * 3600 });
  t.strictSame(valuesOf(text, 'ordinate_sync_projects'), { pending: 0, ok: 25, warning: 0, failed: 0 });
  t.strictSame(valuesOf(text, 'ordinate_sync_projects_due'), { '': 25 });
});
