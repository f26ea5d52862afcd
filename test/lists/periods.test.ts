// A loaded list of a period answers requests for exactly that period.
import { join } from 'node:path';
import t from 'tap';
import { loadSnapshot } from '../../server/load/load.ts';
import { writeParquet } from '../parquet.ts';
import { facts, makeWorld, ofProject, PROJECT, type Row, sharedEngine, temporaryFolder } from '../world.ts';

const queries = (...rows: readonly (readonly unknown[])[]): Row[] => facts('first_day last_day query', ...rows);
const JANUARY = ['2026-01-01', '2026-01-31'];
const QUARTER = ['2025-11-01', '2026-01-31'];
const TABLES = {
  projects: [PROJECT, { ...PROJECT, id: 'Proj2' }],
  query_period: [
    ...queries([...JANUARY, 'red shoes', 3, 10, 20], [...JANUARY, 'blue shoes', 5, 9, 0]),
    ...queries([...QUARTER, 'red shoes', 30, 100, 250]),
    ...ofProject('Proj2', queries([...JANUARY, 'theirs', 1, 1, 0])),
  ],
  page_period: facts('first_day last_day url', [...JANUARY, 'https://shop.example/a', 7, 8, 4]),
};

const names = (body: { queries: { query: string }[] }) => body.queries.map(({ query }) => query);

t.test('a list of a range answers exactly that range', async (t) => {
  const { ask, get } = await makeWorld(t, TABLES);
  t.match((await ask('/queries?from=2026-01-01&to=2026-01-31')).body, {
    range: { from: '2026-01-01', to: '2026-01-31', country: null },
    source: { kind: 'gsc', truncated: false, capped: false },
    queries: [
      { query: 'blue shoes', clicks: 5, impressions: 9, ctr: 0.5556, position: 1 },
      { query: 'red shoes', clicks: 3, impressions: 10, position: 3 },
    ],
  });
  t.strictSame(names((await ask('/queries?from=2025-11-01&to=2026-01-31')).body), ['red shoes']);
  t.strictSame(
    names((await ask('/queries?period=1m&to=2026-01-31')).body),
    ['blue shoes', 'red shoes'],
    'however it is asked for',
  );
  t.match((await ask('/pages?from=2026-01-01&to=2026-01-31')).body, {
    pages: [{ url: 'https://shop.example/a', position: 1.5 }],
  });
  t.strictSame(names((await get('/projects/Proj2/queries?from=2026-01-01&to=2026-01-31')).body), ['theirs']);
});

t.test('lists that are as long as their source allows say so', async (t) => {
  const world = await makeWorld(t);
  const folder = temporaryFolder(t);
  // [rows, rows of the answer, truncated, capped]: of exports the lengths at which the search engine cuts, else 100,000.
  const exported = [
    [999, 999, false, false],
    [1000, 1000, true, true],
    [1001, 1001, false, false],
    [24_999, 24_999, false, false],
    [25_000, 25_000, true, true],
    [25_001, 25_001, false, false],
    [50_000, 50_000, true, true],
  ] as const;
  const stored = [
    [99_999, 99_999, false, false],
    [100_000, 100_000, false, true],
    [100_001, 100_000, true, true],
  ] as const;
  const select = (days: string, rows: number): string =>
    `select 'Proj1' as project_id, ${days}, 'q' || i as query, 1 as clicks, 2 as impressions, 0 as sum_position from range(${rows}) r(i)`;
  const ranges = exported.map((_, at) => ({ from: '2026-01-01', to: `2026-01-${10 + at}` }));
  const days = stored.map((_, at) => ({ from: `2026-02-0${1 + at}`, to: `2026-02-0${1 + at}` }));
  const periods = exported.map(([rows], at) =>
    select(`date '${ranges[at]!.from}' as first_day, date '${ranges[at]!.to}' as last_day`, rows),
  );
  const daily = stored.map(([rows], at) => select(`date '${days[at]!.from}' as date, 'usa' as country`, rows));
  await writeParquet(join(folder, 'query_period.parquet'), periods.join(' union all '));
  await writeParquet(join(folder, 'query_daily.parquet'), daily.join(' union all '));
  const engine = () => sharedEngine(world.settings);
  await loadSnapshot({ ...world, now: Date.now }, { folder, acceptImplausible: true, engine });
  for (const [lengths, asked, kind] of [
    [exported, ranges, 'gsc'],
    [stored, days, 'bigquery'],
  ] as const) {
    for (const [at, { from, to }] of asked.entries()) {
      const [rows, total, truncated, capped] = lengths[at]!;
      const { body } = await world.ask(`/queries?from=${from}&to=${to}&limit=1`);
      t.match(body, { source: { kind, truncated, capped }, paging: { total } }, `${rows} rows`);
    }
  }
});

t.test('nothing is said of other ranges and of countries', async (t) => {
  const { ask } = await makeWorld(t, TABLES);
  for (const range of [
    'from=2026-01-01&to=2026-01-30',
    'from=2026-01-02&to=2026-01-31',
    'period=28d',
    'from=2026-01-05&to=2026-01-05',
  ]) {
    t.match(await ask(`/queries?${range}`), {
      status: 400,
      body: {
        error: {
          code: 'invalid_request',
          message: /must be the days of a stored list.*Stored: 2025-11-01 to 2026-01-31, 2026-01-01 to 2026-01-31\./,
        },
      },
    });
  }
  t.match(await ask('/queries?from=2026-01-01&to=2026-01-31&country=usa'), {
    status: 400,
    body: { error: { message: /country must be left out/ } },
  });
});

t.test('a load replaces the lists that it has and no others', async (t) => {
  const { ask, load } = await makeWorld(t, TABLES);
  await load({ query_period: queries([...JANUARY, 'green shoes', 1, 2, 3]) });
  t.strictSame(names((await ask('/queries?from=2026-01-01&to=2026-01-31')).body), ['green shoes']);
  t.strictSame(names((await ask('/queries?from=2025-11-01&to=2026-01-31')).body), ['red shoes']);
});

t.test('days that cover the range go before its list', async (t) => {
  const { ask, load } = await makeWorld(t, TABLES);
  await load({ query_daily: facts('date query country', ['2026-01-10', 'of a day', 'usa', 1, 1, 0]) });
  t.strictSame(
    names((await ask('/queries?from=2026-01-01&to=2026-01-31')).body),
    ['blue shoes', 'red shoes'],
    'they do not cover it',
  );
  t.strictSame(names((await ask('/queries?from=2026-01-10&to=2026-01-10')).body), ['of a day']);
  await load({
    query_daily: facts(
      'date query country',
      ['2026-01-01', 'first', 'usa', 1, 1, 0],
      ['2026-01-31', 'last', 'usa', 1, 1, 0],
    ),
  });
  t.strictSame(names((await ask('/queries?from=2026-01-01&to=2026-01-31')).body), ['first', 'last']);
});

t.test('ranges that are none are refused', async (t) => {
  const { load } = await makeWorld(t, TABLES);
  await t.rejects(
    load({ query_period: queries(['2026-01-31', '2026-01-01', 'x', 1, 1, 0]) }),
    /query_period\.last_day: .*before first_day/,
  );
  await t.rejects(load({ query_period: queries(['2024-01-01', '2026-01-01', 'x', 1, 1, 0]) }), /more than 486 days/);
  await t.rejects(
    load({ query_period: queries([...JANUARY, 'x', 1, 1, 0], [...JANUARY, 'x', 1, 1, 0]) }),
    /query_period\..*1 key that several rows have/,
  );
});

t.test('days without devices count for all devices and for none', async (t) => {
  const { ask, load } = await makeWorld(t, {
    site_daily: facts('date device', ['2026-03-01', 'unknown', 5, 50, 100], ['2026-03-02', 'mobile', 2, 10, 10]),
  });
  const site = (query: string) => ask(`/site?from=2026-03-01&to=2026-03-02${query}`);
  t.match((await site('')).body, { totals: { clicks: 7, impressions: 60 }, daily: [{ clicks: 5 }, { clicks: 2 }] });
  t.match(await site('&device=mobile'), {
    status: 400,
    body: { error: { message: /device must be all, not 'mobile': the devices of 1 day of .*2026-03-01/ } },
  });
  t.match(await ask('/site?from=2026-03-02&to=2026-03-02&device=mobile'), {
    status: 200,
    body: { totals: { clicks: 2 } },
  });
  // Countries alike: a day that is known to have none of a country has zeros, an unknown one has not.
  t.match(await site('&country=usa'), {
    status: 400,
    body: { error: { message: /country must be left out, not 'usa': the countries of 1 day of .*2026-03-01/ } },
  });
  t.match(await ask('/site?from=2026-03-02&to=2026-03-02&country=usa'), {
    status: 200,
    body: { totals: { clicks: 0 } },
  });
  await load({ country_daily: facts('date country', ['2026-03-01', 'deu', 5, 50, 100]) });
  t.match((await site('&country=usa')).body, { totals: { clicks: 0 }, daily: [{ clicks: 0 }, { clicks: 0 }] });
  const { body } = await ask('/breakdowns?from=2026-03-01&to=2026-03-02');
  t.match(body, { devices: [{ device: 'mobile', clicks: 2 }], brand: { anonymous: { clicks: 7 } } });
  t.equal(body.devices.length, 1);
  await load({ site_daily: facts('date device', ['2026-03-01', 'desktop', 5, 50, 100]) });
  t.match((await site('&device=desktop')).body, { totals: { clicks: 5 } });
});
