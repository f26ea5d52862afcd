// Every answer shows a single state of the catalog, even while another process commits.
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import t from 'tap';
import { catalogText } from '../../server/catalog/entity-rows.ts';
import { putSyncState } from '../../server/catalog/sync-projects.ts';
import { createKey } from '../../server/operations/keys.ts';
import { methodOf } from '../methods.ts';
import { facts, keyword, makeWorld, PROJECT, type Tables } from '../world.ts';

const TABLES: Tables = {
  keywords: [keyword('Kw001', 'red shoes')],
  groups: [{ project_id: 'Proj1', id: 'Group', name: 'old', kind: 'manual', position: 1 }],
  page_groups: [{ project_id: 'Proj1', id: 'Pages', name: 'old', position: 1, rule: { match: 'all', conditions: [] } }],
  site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 2, 0]),
  keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-09', 'mobile', 1, 2, 0]),
  query_daily: facts('date query country', ['2026-03-09', 'red shoes', 'usa', 1, 2, 0]),
};
const AT = '2026-03-01T00:00:00Z';
const NOTE = {
  workspace_id: 'acme',
  scope: 'workspace',
  date: '2026-03-01',
  category: 'other',
  author: 'a',
  created_at: AT,
  updated_at: AT,
};

const ID = '11111111-1111-4111-8111-11111111111';
const ALERT = { project_id: 'Proj1', type: 'a', kind: 'a', severity: 'info', title: 'old', body: '', created_at: AT };

/** The data of a state, with a number that identifies the state; only every other state has facts. */
const CHANGES = (state: number): readonly string[] => [
  `update projects set domain = 'v${state}.example', entities_revision = ${1000 * state}, facts_revision = ${1000 * state}`,
  `update keywords set query = 'v${state}'`,
  `update groups set name = 'v${state}'`,
  `update page_groups set name = 'v${state}'`,
  `update notes set text = 'v${state}'`,
  `update alerts set title = 'v${state}'`,
  state % 2 === 0 ? 'insert into fact_files select * from saved' : 'delete from fact_files',
];

/** The answer itself is not cached then; tracked keywords are, where only facts change. */
const REVISIONS = ['facts_revision', 'entities_revision'];

t.test('an answer comes from one state of the catalog, even if another process commits meanwhile', async (t) => {
  const world = await makeWorld(t, {
    ...TABLES,
    notes: [{ ...NOTE, id: `${ID}1`, text: 'old' }],
    alerts: [{ ...ALERT, id: `${ID}2` }],
  });
  const other = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  t.teardown(() => other.close());
  other.exec('create temp table saved as select * from fact_files');
  const paths = [
    'site',
    'hours',
    'surfaces',
    'breakdowns',
    'keywords',
    'keywords?group=Group',
    'groups',
    'page-groups',
    'notes',
    'alerts',
    'queries',
  ];
  const get = methodOf(StatementSync.prototype, 'get');
  let state = 0;
  const disturbed = new Set<string>();
  for (const path of paths) {
    const { key } = await createKey(world.catalog, { workspace: 'acme', name: path, at: 0 });
    const ask = async (): Promise<string> =>
      JSON.stringify((await world.get(`/projects/Proj1/${path}`, { authorization: `Bearer ${key}` })).body);
    // The project is read to find the cached answer and to compute it, by different connections.
    for (const [moment, revision] of [0, 1, 2].flatMap((at) => REVISIONS.map((each) => [at, each] as const))) {
      const before = await ask();
      other.exec(`update projects set ${revision} = ${revision} + 1`);
      // This process does not notice another one within the same turn of its event loop.
      await new Promise(setImmediate);
      let reads = 0;
      const patched = t.intercept(StatementSync.prototype, 'get', {
        value(this: StatementSync, ...parameters: Parameters<typeof get>) {
          const row = get.apply(this, parameters);
          if (this.sourceSQL === catalogText('catalog/projects.one') && reads++ === moment) {
            other.exec(`begin; ${CHANGES(++state).join(';')}; commit`);
            disturbed.add(path);
          }
          return row;
        },
      });
      const between = await ask();
      patched.restore();
      await new Promise(setImmediate);
      const after = await ask();
      if (between !== before) t.equal(between, after, `${path}: the state before, or the one after`);
    }
  }
  t.strictSame([...disturbed], paths, 'each is committed into the middle of');
});

t.test('answers with days are the same one after the other and side by side', async (t) => {
  const days = Array.from({ length: 40 }, (_, at) => new Date(Date.UTC(2026, 0, 20 + at)).toISOString().slice(0, 10));
  const { ask } = await makeWorld(t, {
    keywords: ['Kw00B', 'kw00a'].map((id) => keyword(id, id)),
    keyword_daily: facts(
      'keyword_id date device',
      ...['Kw00B', 'kw00a'].flatMap((id, of) => days.map((day, at) => [id, day, 'mobile', 15 + at, 100 + of * at, at])),
    ),
  });
  const queries = ['previous', 'year', '2026-02-01..2026-02-28'].flatMap((compare) =>
    ['', '&interval=week', '&device=tablet'].map((more) => `/keywords?to=2026-03-07&compare=${compare}&daily=1${more}`),
  );
  const alone: unknown[] = [];
  for (const query of queries) alone.push((await ask(query)).body);
  const together = await Promise.all(queries.toReversed().map((query) => ask(query)));
  t.strictSame(
    together.toReversed().map(({ body }): unknown => body),
    alone,
  );
});

t.test('a cached answer to an open range expires with its day, even if nothing is loaded', async (t) => {
  let now = Date.parse('2026-03-15T23:30:00Z');
  const world = await makeWorld(t, { projects: [{ ...PROJECT, synced_through: undefined }] }, { now: () => now });
  const rangeOf = async (): Promise<unknown> => (await world.ask('/site?period=7d')).body.range;
  const today = { from: '2026-03-08', to: '2026-03-14' };
  t.match(await rangeOf(), today);
  t.match(await rangeOf(), today, 'cached');
  now += 29 * 60_000;
  t.match(await rangeOf(), today, 'until midnight (UTC)');
  now += 60_000;
  t.match(await rangeOf(), { from: '2026-03-09', to: '2026-03-15' });
});

t.test('a sync, even of no days, changes the tags of the answers that say when it was', async (t) => {
  const { app, key, catalog } = await makeWorld(t);
  const paths = [
    '/projects/Proj1',
    '/projects',
    '/projects.csv',
    '/portfolio',
    '/portfolio.csv',
    '/projects/Proj1/site',
  ];
  const tags = async (): Promise<unknown[]> => {
    const headers = { authorization: `Bearer ${key}` };
    const all = await Promise.all(paths.map((path) => app.inject({ url: `/api/v1${path}`, headers })));
    return all.map((answer) => answer.headers['etag']);
  };
  const before = await tags();
  await catalog.transaction((tx) => putSyncState(tx, 'Proj1', { lastSyncedAt: 1 }));
  const after = await tags();
  t.strictSame(
    paths.filter((_, at) => after[at] === before[at]),
    ['/projects/Proj1/site'],
  );
});
