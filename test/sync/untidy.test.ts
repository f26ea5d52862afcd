// Whatever a history looks like, and whatever changes in it, the stored facts are the sums of its searches, day by day.
import t, { type Test } from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import type { SyncedTable } from '../../cli/demo/provider/oracle.ts';
import { type Day, eachDay } from '../../server/domain/dates.ts';
import { keyword, type Row } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const DAY = 86_400_000;
const SITE = 'https://shop.example/';
/** Longer than three expressions of the provider. */
const BRANDS = Array.from({ length: 90 }, (_, index) =>
  `brand ${String(index).padStart(2, '0')} ${'of shoes '.repeat(12)}`.trim(),
);
/** Longer than two expressions. */
const LONG = Array.from({ length: 70 }, (_, index) => `${index} ${'much longer '.repeat(6)}query`);

type Searched = Omit<KnownSearch, 'date'>;

/** A day of which each measure of each table is of several searches, with ties. */
function searched(date: Day): Searched[] {
  const number = Date.parse(date) / DAY;
  const of = (query: string | null, country: string, more: Partial<Searched> = {}): Searched => ({
    query,
    country,
    device: 'MOBILE',
    count: 5 + (number % 3),
    results: [{ page: `${SITE}a`, position: 2 + (number % 5), clicks: 1 }],
    ...more,
  });
  const twice = [
    { page: `${SITE}B`, position: 7, clicks: 2, appearances: ['VIDEO', 'RECIPE_FEATURE'] },
    { page: `${SITE}a?ä=1`, position: 3, clicks: 0, appearances: ['VIDEO'] },
  ];
  return [
    of(null, 'zzz', { count: 40, device: 'TABLET' }),
    of(`${BRANDS[0]} sale`, 'usa', { results: twice }),
    of(`${BRANDS[50]} and ${BRANDS[1]}`, 'gbr', { device: 'DESKTOP', results: twice, count: 9 }),
    of(`my ${BRANDS[89]}`, 'deu', { results: [{ page: `${SITE}c`, position: 31, clicks: 0 }] }),
    // Clicked on two of its results, and one click of the property.
    of('twice', 'usa', { count: 1, results: twice }),
    of('straße (2.5") | a\\b', 'aut', { device: 'DESKTOP', count: 3 }),
    // A keyword that is tracked later has rows of every other day.
    ...(number % 2 === 0 ? [of('later', 'usa')] : []),
    of(LONG[number % LONG.length]!, 'usa', { device: 'TABLET' }),
    of(LONG[0]!, 'can', { count: 2 + (number % 7), results: twice }),
    of(LONG[69]!, 'can', { count: 2 + (number % 7), results: twice }),
  ];
}

function historyOf(days: Iterable<Day>): KnownSearches {
  return new KnownSearches([...days].flatMap((date) => searched(date).map((search) => ({ ...search, date }))));
}

/** Adds searches to those of a day. */
function change(source: KnownSearches, day: Day, changes: (searches: Searched[]) => Searched[]): void {
  source.replace(day, changes([...source.searches(day, 'final')]));
}

const TABLES: readonly SyncedTable[] = [
  'site_daily',
  'country_daily',
  'brand_daily',
  'appearance_daily',
  'keyword_daily',
  'keyword_page_daily',
];

const texts = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();

/** All tables hold what was searched for, and `kept` of days that the provider has forgotten. */
async function holds(t: Test, world: SyncWorld, name: string, kept: Partial<Record<SyncedTable, Row[]>> = {}) {
  const expected = await world.expected();
  for (const table of TABLES) {
    const rows = texts([...(kept[table] ?? []), ...expected[table]]);
    const stored = texts(await world.stored(table));
    const lacking = rows.filter((row) => !stored.includes(row));
    t.strictSame([stored.length, lacking.slice(0, 3)], [rows.length, []], `${name}: ${table}`);
  }
}

const keywords = LONG.map((query, index) => keyword(`kw${String(index).padStart(3, '0')}`, query.toUpperCase()));

t.test('all that is stored is what was searched for, after every change at the provider', async (t) => {
  const days = [...eachDay('2024-11-10', '2024-11-18'), '2025-06-01', ...eachDay('2026-02-01', '2026-03-15')];
  const source = historyOf(days);
  const project = { brand_terms: BRANDS };
  const environment = { ORDINATE_COUNTRY_DAYS: '600' };
  const world = await syncWorld(t, { source, from: '2024-11-10', tracked: 0, project, environment });
  Object.assign(world.provider.model.quotas.options, { load: Number.POSITIVE_INFINITY });
  await world.load({ keywords: [...keywords, keyword('kwOdd', 'STRASSE'), keyword('kwTwo', 'straße (2.5") | A\\B')] });
  t.match(await world.sync(), { outcome: 'done', reason: null });
  await holds(t, world, 'at first');

  // One number of one of the requests of a day, each once.
  const newest = '2026-03-14';
  const changes: Readonly<Record<string, (search: Searched) => boolean>> = {
    'the first keyword': ({ query }) => query === LONG[0],
    'the last keyword': ({ query }) => query === LONG[69],
    'a brand': ({ query }) => query?.startsWith('my ') === true,
    'anonymous searches': ({ query }) => query === null,
  };
  for (const [name, isChanged] of Object.entries(changes)) {
    change(source, newest, (all) => all.map((one) => (isChanged(one) ? { ...one, count: one.count + 1 } : one)));
    t.match(await world.sync(), { outcome: 'done' });
    await holds(t, world, `more of ${name}`);
  }
  for (const appearance of ['VIDEO', 'RECIPE_FEATURE']) {
    const results = [{ page: `${SITE}new`, position: 4, clicks: 1, appearances: [appearance] }];
    change(source, newest, (all) => [...all, { query: null, country: 'fra', device: 'DESKTOP', count: 2, results }]);
    await world.sync();
    await holds(t, world, `more of ${appearance}`);
  }

  await world.load({ keywords: [keyword('kwNew', 'Later')] });
  await world.sync();
  await holds(t, world, 'a keyword of every other day');

  // The provider keeps 16 months, to 2024-11-15, and some days more.
  const forgotten = (row: Row): boolean => row['date'] === '2024-11-14';
  const kept: Partial<Record<SyncedTable, Row[]>> = {};
  for (const table of TABLES) kept[table] = (await world.stored(table)).filter(forgotten);
  const emptied = ['2024-11-14', '2024-11-15', '2025-06-01'];
  for (const day of emptied) source.replace(day, []);
  source.replace('2024-11-13', searched('2024-11-13').slice(0, 1));
  t.match(await world.sync({ forcedDays: ['2024-11-13', ...emptied] }), { outcome: 'done' });
  await holds(t, world, 'days that the provider no longer has', kept);

  world.clock += 9 * DAY;
  for (const day of ['2026-02-15', '2026-02-20', '2026-03-12']) change(source, day, (all) => all.slice(1));
  t.match(await world.sync({ maxWindows: 1 }), { outcome: 'part' });
  t.match(await world.sync(), { outcome: 'done' });
  await holds(t, world, 'changed days that a run did not reach', kept);
});

t.test('rows of a keyword that is removed while they are fetched are left out, and the run goes on', async (t) => {
  const world = await syncWorld(t, { tracked: 3 });
  await world.sync();
  const [removed, ...left] = world.queries.slice(0, 3).map((query, index) => keyword(`fresh${index}`.slice(-5), query));
  await world.load({ keywords: [removed!, ...left] }, { replace: true });
  let isRemoved = false;
  world.provider.onRequest = async ({ request }) => {
    if (isRemoved || request?.dimensions.includes('query') !== true) return;
    isRemoved = true;
    await world.load({ keywords: left }, { replace: true });
  };
  world.clock += 7 * 3_600_000;
  t.match(await world.sync(), { outcome: 'done', reason: null });
  t.equal(isRemoved, true);
  const stored = await world.stored('keyword_daily');
  t.ok(
    stored.some((row) => row['keyword_id'] === left[0]!['id']),
    'others are stored',
  );
  t.notOk(stored.some((row) => row['keyword_id'] === removed!['id']));
});
