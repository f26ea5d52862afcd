// A new project gets its newest days first, then its history, each day once.
import t from 'tap';
import { KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { facts, type Row } from '../world.ts';
import {
  connection,
  holdsAll,
  limit,
  makeSearches,
  newWorld,
  type OperatorWorld,
  ORIGIN,
  TABLES,
  wanted,
} from './operator-world.ts';
import { syncWorld } from './sync-world.ts';

/** The newest day that has rows. */
const NEWEST = '2026-03-15';
/** Of the longest history here. */
const FROM = '2026-01-05';

t.test('a new project gets its newest 28 days first, then its history, month after month', async (t) => {
  const world = await newWorld(t, { from: null, searches: makeSearches({ since: '2026-01-20' }) });
  world.provider.forget();
  t.match(await world.status(), { status: 'pending', lastRun: null, backfill: { done: 0 } });
  const days = (plan: string): string[] => (plan.match(/\d{4}-\d\d-\d\d/g) ?? []).sort();
  const whole = await world.done('sync', '--dry-run');
  t.equal(days(whole)[0], '2024-11-01', 'two weeks more than 16 months');
  t.equal(days(whole).at(-1), NEWEST);
  limit(world.dataFolder, world.project, FROM);
  const plan = await world.done('sync', '--dry-run');
  t.equal(days(plan)[0], FROM);
  const planned = Number(/(\d+) requests/.exec(plan)?.[1]);
  t.strictSame(world.provider.model.log, [], 'a plan asks nothing');

  const asked = await world.sync();
  t.ok(asked.every(({ request }) => request.rowLimit <= 25_000));
  const [finality] = asked;
  t.match(finality?.request, { dimensions: ['date'], dataState: 'all', aggregation: 'byProperty' });
  const isOfHistory = ({ request }: (typeof asked)[number]): boolean => request.to < addDays(NEWEST, -27);
  const first = asked.findIndex(isOfHistory);
  t.ok(first > 0 && first <= 60, `the first window is in after ${first} requests`);
  const history = asked.filter(isOfHistory).map(({ request }) => request.from);
  const months = history.map((day) => day.slice(0, 7));
  t.strictSame(months, [...months].sort().reverse(), 'newer months come first');
  t.strictSame([...new Set(months)], ['2026-02', '2026-01'], 'to the end of what is wanted');
  t.equal(history.at(-1), FROM);
  // Which appearances there are is not known before.
  const isOfAppearance = ({ request }: (typeof asked)[number]): boolean =>
    request.filters.some(({ dimension }) => dimension === 'searchAppearance');
  const all = world.provider.asked('all');
  t.equal(all.filter((one) => !isOfAppearance(one)).length, planned, 'as many requests as were planned');

  await holdsAll(t, world, wanted(world), 'after the first sync');
  t.strictSame(await world.stored('query_daily'), [], 'no archive');
  const status = await world.status();
  t.match(status, { id: world.project, status: 'ok', lastError: null, tables: { keyword_daily: { pendingDays: 0 } } });
  t.strictSame(status.backfill, { from: FROM, through: NEWEST, done: 70, total: 70 });
  t.ok(status.nextRun > status.lastRun);
  t.match((await world.ordinate('sync', 'status')).stdout, /70 of 70/);
  t.match(await world.ordinate('sync', '--project', 'none0'), { code: 1, stderr: /There is no project 'none0'/ });
  t.equal(status.tables.site_daily.firstDay, '2026-01-20');
  t.equal(status.tables.site_daily.lastDay, NEWEST);
  const [listed] = JSON.parse(await world.done('projects', 'list', '--json')) as Row[];
  t.match(listed, { syncStatus: 'ok', syncedThrough: NEWEST, coverage: { keyword_page_daily: { lastDay: NEWEST } } });
  t.equal(await zeros(world), 0, 'rows of zeros are not stored');
});

async function zeros(world: OperatorWorld): Promise<number> {
  const rows = (await Promise.all(TABLES.map((table) => world.stored(table)))).flat();
  return rows.filter(({ impressions, clicks }) => impressions === 0 && clicks === 0).length;
}

t.test('stored days of 16 months ago and earlier stay where the provider has none, and later ones go', async (t) => {
  const world = await syncWorld(t, { tracked: 0, from: '2024-11-12', since: '2026-02-25' });
  const stored = ['2024-11-13', '2024-11-14', '2024-11-15', '2024-11-16'];
  await world.load({ site_daily: facts('date device', ...stored.map((date) => [date, 'mobile', 1, 2, 3])) });
  const known = { state: 'empty', final: true, cutOff: false, rows: 0, clicks: 0, impressions: 0, digest: '' } as const;
  const fetched = { compared: 30, fetchedAt: 0, attempts: 0, reason: null, nextTry: null };
  // All days between are known, so that the first window and that of November are left.
  for (const table of ['site_daily', 'country_daily', 'brand_daily', 'appearance_daily'] as const) {
    const days = eachDay('2024-12-01', '2026-02-15').map((day) => ({ ...known, ...fetched, table, day }));
    await putSyncDays(world.catalog, 'Proj1', days);
  }
  t.match(await world.sync(), { outcome: 'done' });
  const days = (await world.stored('site_daily')).map(({ date }) => String(date)).filter((date) => date < '2025');
  t.strictSame(days.sort(), ['2024-11-13', '2024-11-14']);
});

t.test('an archive has all queries and pages of each day', async (t) => {
  const world = await newWorld(t, { create: ['--archive', 'queries,pages'], from: '2026-03-09', tracked: [] });
  await world.sync();
  await holdsAll(t, world, wanted(world, { from: '2026-03-09' }), 'archived', ['query_daily', 'page_daily']);
});

t.test('an answer that fills a page is not taken for all rows of its days', async (t) => {
  const world = await newWorld(t, { from: '2026-03-10', tracked: ['boots'] });
  // 26,000 rows by day, query and page, of which an answer has 25,000.
  const results = Array.from({ length: 13_000 }, (_, at) => ({ page: `${ORIGIN}${at}`, position: 1 + at, clicks: 0 }));
  const boots = { query: 'boots', country: 'usa', device: 'MOBILE', count: 1, results } as const;
  const days = ['2026-03-10', '2026-03-11'].map((date) => ({ ...boots, date }));
  world.provider.model.addSite('sc-domain:shop.example', new KnownSearches(days));
  await world.sync();
  t.equal((await world.stored('keyword_page_daily')).length, 26_000);
});

t.test('the queries with most clicks, tracked and synced by one command', async (t) => {
  const world = await newWorld(t);
  // Only the first requests: the history of all 16 months is that of other tests.
  let answered = 0;
  world.provider.fail(FAILURES.badRequest, { which: ({ request }) => request !== undefined && ++answered > 20 });
  const words = ['--track-top', '5', '--sync', '--archive', 'none', '--json'];
  const { stdout } = await world.ordinate('projects', 'create', ...connection(world.provider), ...words);
  const { id } = (JSON.parse(stdout) as { project: { id: string } }).project;
  const listed = JSON.parse(await world.done('projects', 'list', '--json')) as { id: string }[];
  const found = listed.find((each) => each.id === id);
  t.match(found, { trackedKeywords: 5, syncedThrough: '2026-03-15', coverage: { keyword_daily: {} } });
});
