// Days that were stored before a query was tracked are unknown of it, and never zeros, until something brings them.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { eachKeywordGap } from '../../server/catalog/keyword-gaps.ts';
import { addDays } from '../../server/domain/dates.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { pruneProject } from '../../server/load/prune.ts';
import { archiveKeywords, changeKeyword, trackQueries } from '../../server/projects/keywords.ts';
import { evaluate, factsOf, KEYWORDS, NOW, projectUntil, START } from '../alerts/world.ts';
import { writeParquetRows } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import {
  facts,
  keyword,
  makeLazyWorld,
  PROJECT,
  type Row,
  sharedEngine,
  type Tables,
  temporaryFolder,
} from '../world.ts';
import { readRebuilt } from './rebuilt.ts';

const PROPERTY = String(PROJECT['property']);
const BY = { by: 'ada@acme.example', at: 0 };

/** A row of a bulk export; a query of null is an anonymised one. */
function row(day: number, query: string | null, clicks: number): Row {
  return {
    data_date: `2026-03-0${day}`,
    site_url: PROPERTY,
    url: 'https://shop.example/a',
    query,
    is_anonymized_query: query === null,
    country: 'usa',
    search_type: 'WEB',
    device: 'DESKTOP',
    impressions: 10,
    clicks,
    sum_position: 20,
  };
}

async function makeExports(t: Test, tables: Tables = {}) {
  const world = await makeLazyWorld(t, tables);
  const { settings, catalog } = world;
  const stores = { settings, catalog };
  const bring = async (rows: readonly Row[], trackTop = 0) => {
    const folder = temporaryFolder(t);
    await writeParquetRows(join(folder, 'part.parquet'), rows, { query: 'VARCHAR' });
    return importBulkExport(stores, { paths: [folder], workspace: 'acme', property: PROPERTY, trackTop });
  };
  const track = (query: string) =>
    trackQueries(stores, { project: 'Proj1', queries: [query], source: 'manual' }, BY, {});
  return { ...world, stores, bring, track };
}

const UNKNOWN = { clicks: null, impressions: null, ctr: null, position: null };
const TWO_DAYS = [row(1, 'boots', 5), row(1, 'hats', 3), row(2, 'boots', 4), row(2, 'hats', 2)];
const THIRD_DAY = [row(3, 'boots', 2), row(3, 'hats', 1)];

/** `boots` has three days, `hats` has its first two only as a query of the site. */
async function makeGap(t: Test) {
  const world = await makeExports(t);
  await world.bring(TWO_DAYS, 1);
  await world.bring(THIRD_DAY, 2);
  return world;
}

/** The unknown days of each keyword by its query, as text. */
async function gapsOf(catalog: Catalog): Promise<Record<string, string>> {
  const gaps: Record<string, string> = {};
  const keywords = await catalog.statements.all<{ id: string; query: string }>(
    {
      template: 'state_of_project',
      fills: { table: 'keywords', columns: 'id, query' },
    },
    { project: 'Proj1' },
  );
  const queries = new Map(keywords.map(({ id, query }) => [id, query]));
  for await (const { keyword: id, ranges } of eachKeywordGap(catalog)) {
    gaps[queries.get(id)!] = ranges.map(({ from, to }) => `${from}..${to}`).join(' ');
  }
  return gaps;
}

const DAYS = 'from=2026-03-01&to=2026-03-03';

t.test('a keyword that a later import adds has no totals of days before', async (t) => {
  const { ask, bring, catalog, key, served } = await makeGap(t);
  t.strictSame(await gapsOf(catalog), { hats: '2026-03-01..2026-03-02' });
  const totalsOf = async (query: string): Promise<unknown> =>
    (await ask(`/keywords?${query}`)).body.keywords.map(({ query: text, metrics }: Row) => [text, metrics]);
  const boots = ['boots', { clicks: 11, impressions: 30, ctr: 0.3667, position: 3 }];
  t.strictSame(await totalsOf(DAYS), [boots, ['hats', UNKNOWN]]);
  t.match((await ask(`/queries?${DAYS}`)).body.queries, [{ clicks: 11 }, { query: 'hats', clicks: 6 }]);
  t.match(await totalsOf('from=2026-03-03&to=2026-03-03'), [
    ['boots', { clicks: 2 }],
    ['hats', { clicks: 1 }],
  ]);
  t.strictSame(await totalsOf(`${DAYS}&device=desktop`), [boots, ['hats', UNKNOWN]]);

  t.strictSame(await totalsOf(`${DAYS}&filter=clicks:lt:5`), [], 'no condition on numbers finds it');
  t.strictSame(await totalsOf(`${DAYS}&filter=clicks:neq:5`), [boots]);
  for (const sort of ['clicks', '-clicks', 'position']) {
    t.strictSame(await totalsOf(`${DAYS}&sort=${sort}`), [boots, ['hats', UNKNOWN]], sort);
  }
  const [, { daily }] = (await ask(`/keywords?${DAYS}&daily=1`)).body.keywords;
  t.match(daily, [{ date: '2026-03-03', clicks: 1 }]);
  t.equal(daily.length, 1);
  const [, weekly] = (await ask(`/keywords?${DAYS}&daily=1&interval=month`)).body.keywords;
  t.strictSame(weekly.daily, [], 'a month with an unknown day');
  const headers = { authorization: `Bearer ${key}` };
  const csv = await (await served()).inject({ url: `/api/v1/projects/Proj1/keywords.csv?${DAYS}`, headers });
  t.match(csv.body.split('\r\n')[2], /^\w{5},hats,.*,,,,$/, 'empty cells');

  await bring(TWO_DAYS);
  t.strictSame(await gapsOf(catalog), {});
  t.match(await totalsOf(DAYS), [boots, ['hats', { clicks: 6 }]]);
});

t.test('what is unknown is not compared, in totals and days', async (t) => {
  const { ask } = await makeGap(t);
  const compared = async (query: string) => (await ask(`/keywords?${query}`)).body.keywords as Row[];
  const [boots, hats] = await compared('from=2026-03-03&to=2026-03-03&compare=previous&daily=1');
  t.match(boots, { metrics: { clicks: 2 }, comparison: { clicks: 4 }, daily: [{ comparison: { clicks: 4 } }] });
  const uncompared = { comparison: null, change: null, unsafe: { clicks: ['missing_days'] } };
  t.match(hats, { metrics: { clicks: 1 }, ...uncompared, daily: [{ clicks: 1, ...uncompared }] });
  const [, before] = await compared('from=2026-03-02&to=2026-03-02&compare=2026-03-03..2026-03-03');
  t.match(before, { query: 'hats', metrics: UNKNOWN, ...uncompared });
});

t.test('questions, explanations and groups do not count it as zero', async (t) => {
  const group = { project_id: 'Proj1', id: 'Grp01', name: 'Few', kind: 'rule', position: 0 };
  const rule = { match: 'all', conditions: [{ field: 'clicks', op: 'lt', value: 5 }] };
  const { ask, load } = await makeGap(t);
  await load({ groups: [{ ...group, rule }] });
  t.match((await ask(`/keywords?${DAYS}&group=Grp01`)).body.keywords, []);
  const asked = (range: Row, more: Row = {}) =>
    ask(
      `/query?q=${encodeURIComponent(JSON.stringify({ range, metrics: ['clicks'], dimensions: ['keyword'], ...more }))}`,
    );
  const all = { from: '2026-03-01', to: '2026-03-03' };
  const refused = await asked(all);
  t.match(refused, { status: 400, body: { error: { message: /^range: 1 of the keywords \('hats'\) lack days/ } } });
  t.match((await asked(all, { filters: [['not', ['equals', 'keyword', ['hats']]]] })).body.rows, [
    { keyword: 'boots', clicks: 11 },
  ]);
  t.match((await asked({ from: '2026-03-03', to: '2026-03-03' })).status, 200);
  const explained = (await ask('/explain?from=2026-03-03&to=2026-03-03&compare=previous&by=keyword')).body;
  t.match(explained.rows, [{ keyword: { query: 'boots' } }]);
  t.equal(explained.rows.length, 1, 'hats would look new');
  t.ok(explained.unsafe.some(({ what, reason }: Row) => what === 'rows' && reason === 'missing_days'));
});

t.test('a query that is tracked by hand, archived and tracked again', async (t) => {
  const { catalog, stores, bring, track, load, ask } = await makeExports(t);
  await track('first');
  t.strictSame(await gapsOf(catalog), {}, 'nothing is stored yet');
  await bring([row(1, 'first', 1)]);
  const { added } = await track('second');
  t.strictSame(await gapsOf(catalog), { second: '2026-03-01..2026-03-01' });
  await bring([row(2, 'first', 1)]);
  t.match((await ask('/keywords?from=2026-03-02&to=2026-03-02')).body.keywords[1], { metrics: { clicks: 0 } });
  const id = added[0]!.id;
  await archiveKeywords(stores, { project: 'Proj1', ids: [id], queries: [] }, BY, {});
  await bring([row(3, 'first', 1), row(3, 'second', 7)]);
  await changeKeyword(stores, { project: 'Proj1', id }, { archived: false }, BY, {});
  t.strictSame(await gapsOf(catalog), { second: '2026-03-01..2026-03-01 2026-03-03..2026-03-03' });
  await bring([row(4, 'first', 1), row(4, 'second', 2)]);
  t.match((await ask('/keywords?from=2026-03-04&to=2026-03-04')).body.keywords[1], { metrics: { clicks: 2 } });
  t.match((await ask('/keywords?from=2026-03-03&to=2026-03-04')).body.keywords[1], { metrics: UNKNOWN });

  const days = facts('keyword_id date device', [id, '2026-03-03', 'desktop', 7, 10, 20]);
  await load({ keyword_daily: days });
  t.strictSame(await gapsOf(catalog), { second: '2026-03-01..2026-03-01' }, 'a snapshot says all about its days');
});

t.test('keywords that a snapshot adds have zeros: its author knows them', async (t) => {
  const { catalog, bring, load, ask } = await makeExports(t);
  await bring(TWO_DAYS, 1);
  await load({ keywords: [keyword('Kw009', 'new')] });
  t.strictSame(await gapsOf(catalog), {});
  t.match((await ask(`/keywords?${DAYS}`)).body.keywords[1], { query: 'new', metrics: { clicks: 0 } });
});

t.test('retention forgets unknown days with the stored ones', async (t) => {
  const { catalog, settings } = await makeGap(t);
  await pruneProject({ settings, catalog, engine: () => sharedEngine(settings) }, 'Proj1', '2026-03-02');
  t.strictSame(await gapsOf(catalog), { hats: '2026-03-02..2026-03-02' });
});

t.test('a rebuilt catalog knows them, from changes and from a checkpoint', localOnly, async (t) => {
  const { catalog, dataFolder } = await makeGap(t);
  const before = await gapsOf(catalog);
  await catalog.close();
  t.strictSame(await readRebuilt(t, dataFolder, gapsOf), { fromChanges: before, fromCheckpoint: before });
});

t.test('alerts say nothing about unknown days', localOnly, async (t) => {
  const last = addDays(START, 104);
  const world = await makeLazyWorld(
    t,
    { projects: [projectUntil(last)], keywords: KEYWORDS, ...factsOf(0, 100) },
    { now: NOW },
  );
  const { settings, catalog, load } = world;
  const tracked = { project: 'Proj1', queries: ['sandals'], source: 'manual' } as const;
  const { added } = await trackQueries({ settings, catalog }, tracked, BY, {});
  const id = added[0]!.id;
  const shown = (from: number, to: number): Row[] => {
    const { keyword_daily: days } = factsOf(from, to);
    const own = days.filter((day) => day['keyword_id'] === 'KwAaa').map((day) => ({ ...day, keyword_id: id }));
    return [...days, ...own];
  };
  const rule = { scope: 'keyword', id, metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 1 };
  await load({
    alert_rules: [{ id: '00000000-0000-4000-8000-000000000001', project_id: 'Proj1', name: 'Gone', rule }],
    keyword_daily: shown(0, 59),
  });
  await load(factsOf(101, 104));
  t.match(await gapsOf(catalog), { sandals: `${addDays(START, 60)}..${addDays(START, 100)}` });
  const opened = async (): Promise<unknown[]> =>
    (await evaluate(world, { dryRun: true }))!.alerts
      .filter(({ type, keywordId }) => type === 'rule' || keywordId === id)
      .map(({ type }) => type);
  t.strictSame(await opened(), [], 'seven weeks without impressions are unknown');
  await load({ keyword_daily: factsOf(60, 100).keyword_daily });
  t.strictSame(new Set(await opened()), new Set(['keyword_lost', 'rule']), 'and known once a load has them');
});
