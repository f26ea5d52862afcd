// A new project gets its newest days first, then its history, and every endpoint matches the provider.
import t, { type Test } from 'tap';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { addDays, countDays, eachDay } from '../../server/domain/dates.ts';
import { Oracle } from '../contract/oracle.ts';
import { facts, type Row, type Tables } from '../world.ts';
import {
  BRAND_TERMS,
  holdsAll,
  limit,
  makeSearches,
  NOW,
  newWorld,
  type OperatorWorld,
  openApi,
  syncedWorld,
  TABLES,
  wanted,
} from './operator-world.ts';
import { syncWorld } from './sync-world.ts';

/** The newest day that has rows, and the newest that is final. */
const NEWEST = '2026-03-15';
const FINAL = '2026-03-12';
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
  t.ok(Math.abs(planned - asked.length) <= 3 * 4, `${planned} planned, ${asked.length} asked`);

  await holdsAll(t, world, wanted(world), 'after the first sync');
  t.strictSame(await world.stored('query_daily'), [], 'no archive');
  const status = await world.status();
  t.match(status, { id: world.project, status: 'ok', lastError: null, tables: { keyword_daily: { pendingDays: 0 } } });
  t.equal(status.backfill.done, status.backfill.total);
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

t.test('where nothing has changed a sync publishes nothing and asks for the newest days only', async (t) => {
  const world = await syncedWorld(t);
  const before = world.catalog('select facts_revision, entities_revision from projects where id = :project');
  const files = world.catalog('select * from fact_files order by file');
  const asked = await world.sync();
  t.ok(asked.length > 0);
  const oldest = asked.map(({ request }) => request.from).sort()[0]!;
  t.ok(countDays(oldest, NEWEST) <= 14, `from ${oldest} on`);
  t.strictSame(world.catalog('select facts_revision, entities_revision from projects where id = :project'), before);
  t.strictSame(world.catalog('select * from fact_files order by file'), files);
});

/** Requests of every endpoint but for lists, which come from the provider. */
const PATHS = [
  '',
  '/keywords',
  '/keywords?period=3m&daily=1',
  '/keywords?from=2026-01-05&to=2026-02-11&device=mobile&daily=1',
  '/site',
  '/site?period=12m',
  '/site?from=2025-12-01&to=2026-03-31&device=tablet',
  '/site?period=3m&country=zzz',
  '/site?from=2026-01-20&to=2026-03-15&country=gbr',
  '/breakdowns',
  '/breakdowns?from=2025-12-01&to=2026-03-15',
  '/breakdowns?period=16m',
  '/groups',
];
/** Those that come from the archive where there is no provider. */
const LISTS = ['/queries', '/pages', '/queries?from=2025-12-25&to=2026-02-20&country=zzz', '/pages?period=3m'];

t.test('every endpoint answers what the oracle says, also of old countries and from the archive', async (t) => {
  const searches = makeSearches({ since: '2026-01-03' });
  const settings = { ORDINATE_COUNTRY_DAYS: '30' };
  const create = ['--archive', 'queries,pages'];
  const world = await newWorld(t, { settings, create, searches, from: '2026-01-01' });
  await world.sync();
  const tables = snapshotOf(world);
  await holdsAll(t, world, wanted(world), 'archived', ['query_daily', 'page_daily']);
  // The last whole month before the day 30 days ago is January.
  const isMonthly = ({ date }: Row): boolean => String(date) <= '2026-01-31';
  const sum = (rows: readonly Row[], name: string): number => rows.reduce((all, row) => all + Number(row[name]), 0);
  const countries = Map.groupBy(tables['country_daily']!.filter(isMonthly), ({ country }) => String(country));
  const months = [...countries].map(([country, rows]) => ({
    project_id: world.project,
    month: '2026-01-01',
    country,
    clicks: sum(rows, 'clicks'),
    impressions: sum(rows, 'impressions'),
    sum_position: sum(rows, 'sum_position'),
  }));
  t.ok(months.length > 5 && months.length < 20);
  const days = tables['country_daily']!.filter((row) => !isMonthly(row));
  const expected = { ...tables, country_monthly: months, country_daily: days };
  t.equal((await world.stored('country_daily')).length, days.length);
  t.equal((await world.stored('country_monthly')).length, months.length);
  await same(t, world, PATHS, expected);
  await world.done('connections', 'remove', '--project', world.project, '--kind', 'search-console');
  await same(t, world, LISTS, expected);
});

/** What a snapshot would have that holds what the sync must have stored. */
function snapshotOf(world: OperatorWorld): Tables {
  const [project] = world.catalog('select * from projects where id = :project');
  const keywords = world.catalog('select * from keywords where project_id = :project');
  return {
    workspaces: [{ id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: 486 }],
    projects: [
      {
        ...project,
        brand_terms: BRAND_TERMS,
        setup_finished: true,
        last_synced_at: instant(project?.['last_synced_at']),
        created_at: instant(project?.['created_at']),
        sync_status: 'ok',
        synced_through: NEWEST,
        provisional_after: FINAL,
        history_backfilling: false,
      },
    ],
    keywords: keywords.map((row) => ({
      ...row,
      archived: row['archived'] === 1,
      tracked_since: instant(row['tracked_since']),
    })),
    ...wanted(world),
  };
}

function instant(microseconds: unknown): string {
  return new Date(Number(microseconds) / 1000).toISOString();
}

async function same(t: Test, world: OperatorWorld, paths: readonly string[], tables: Tables): Promise<void> {
  const get = await openApi(t, world, NOW);
  const answers = new Oracle(tables, 'acme', NOW);
  for (const path of paths) {
    const whole = `/projects/${world.project}${path}`;
    const asked = path === '' ? '/projects' : whole;
    const { status, body } = await get(asked);
    t.strictSame(withoutFetchTime({ status, body }), withoutFetchTime(answers.answer(asked)), asked);
  }
}

/** Lists say when they were made. */
function withoutFetchTime<T>(answer: T): T {
  return JSON.parse(JSON.stringify(answer), (name, value: unknown) => (name === 'fetchedAt' ? 'then' : value)) as T;
}
