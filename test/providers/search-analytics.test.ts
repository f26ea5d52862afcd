// The search analytics client sends correct queries and returns every row once, with exact sums.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { sumPositionOf } from '../../server/domain/metrics.ts';
import { ProviderFailure } from '../../server/providers/failures.ts';
import type { AnalyticsQuery } from '../../server/providers/search-console/analytics-query.ts';
import { type AnalyticsRow as Row, SearchAnalytics } from '../../server/providers/search-console/search-analytics.ts';
import { PROPERTY, type ProvidersWorld, providersWorld } from '../fakes/providers.ts';
import { startReceiver } from '../fakes/receiver.ts';
import type { AnalyticsRow } from '../fakes/search-console-rows.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';

const DAYS = { property: PROPERTY, from: '2026-03-01', to: '2026-03-10' };

/** Reads a query; its rows by key, since equal clicks come in any order. */
async function read({ providers, connection, run }: ProvidersWorld, query: AnalyticsQuery, max = 25_000) {
  const rows: Row[] = [];
  const take = async (found: readonly Row[]) => void rows.push(...found);
  const client = new SearchAnalytics(connection, providers);
  const result = await run((each) => client.read(query, { max, take }, each));
  const measures = ({ clicks, impressions, position }: Row) => [clicks, impressions, position];
  const byKey = Object.fromEntries(rows.map((row) => [row.keys.join(' '), measures(row)]));
  return { ...result, byKey, taken: rows };
}

/** Of two days; positions are averages counted from 1. */
const ROWS: AnalyticsRow[] = [
  {
    date: '2026-03-01',
    query: 'acme shoes',
    page: '/a',
    country: 'deu',
    device: 'MOBILE',
    clicks: 3,
    impressions: 10,
    position: 1,
  },
  {
    date: '2026-03-01',
    query: 'red shoes',
    page: '/a',
    country: 'usa',
    device: 'DESKTOP',
    clicks: 2,
    impressions: 30,
    position: 5,
  },
  {
    date: '2026-03-02',
    query: 'red shoes',
    page: '/b',
    country: 'usa',
    device: 'MOBILE',
    clicks: 1,
    impressions: 10,
    position: 9,
    searchAppearance: 'VIDEO',
  },
];

t.test('rows of any dimensions, with their sums and the average position', async (t) => {
  const world = await providersWorld(t);
  world.google.rows = ROWS;
  t.strictSame(await read(world, { ...DAYS, dimensions: [] }), {
    rows: 1,
    truncated: false,
    firstIncompleteDate: null,
    byKey: { '': [6, 50, 5] },
    taken: [{ keys: [], clicks: 6, impressions: 50, position: 5 }],
  });
  const site = await read(world, {
    ...DAYS,
    dimensions: ['date', 'device'],
    aggregation: 'byProperty',
    dataState: 'all',
  });
  t.strictSame(site.byKey, {
    '2026-03-01 MOBILE': [3, 10, 1],
    '2026-03-01 DESKTOP': [2, 30, 5],
    '2026-03-02 MOBILE': [1, 10, 9],
  });
  t.strictSame(world.google.requests.at(-1), {
    startDate: '2026-03-01',
    endDate: '2026-03-10',
    dimensions: ['date', 'device'],
    aggregationType: 'byProperty',
    type: 'web',
    dataState: 'all',
    rowLimit: 25_000,
    startRow: 0,
  });
  const country = await read(world, { ...DAYS, dimensions: ['date', 'country'], aggregation: 'byProperty' });
  t.strictSame(country.byKey, {
    '2026-03-01 deu': [3, 10, 1],
    '2026-03-01 usa': [2, 30, 5],
    '2026-03-02 usa': [1, 10, 9],
  });
  const oneDay = { property: PROPERTY, from: '2026-03-02', to: '2026-03-02' };
  const queries = await read(world, { ...oneDay, dimensions: ['query', 'country'], aggregation: 'byProperty' });
  t.strictSame(queries.byKey, { 'red shoes usa': [1, 10, 9] });
  const pages = await read(world, { ...oneDay, dimensions: ['page', 'country'], aggregation: 'byPage' });
  t.strictSame(pages.byKey, { '/b usa': [1, 10, 9] });
  t.strictSame(
    (await read(world, { ...oneDay, from: '2026-03-03', to: '2026-03-03', dimensions: ['date'] })).taken,
    [],
  );
});

t.test('filters: all of them hold', async (t) => {
  const world = await providersWorld(t);
  world.google.rows = ROWS;
  const brand = { dimension: 'query', expression: 'acme|akme' } as const;
  const days = { ...DAYS, dimensions: ['date'], aggregation: 'byProperty' } as const;
  const branded = await read(world, { ...days, filters: [{ ...brand, operator: 'includingRegex' }] });
  t.strictSame(branded.byKey, { '2026-03-01': [3, 10, 1] });
  const nonBrand = [
    { ...brand, operator: 'excludingRegex' },
    { dimension: 'country', operator: 'equals', expression: 'usa' },
  ] as const;
  const others = await read(world, { ...days, filters: nonBrand });
  t.strictSame(others.byKey, { '2026-03-01': [2, 30, 5], '2026-03-02': [1, 10, 9] });
  t.strictSame(world.google.requests.at(-1)?.['dimensionFilterGroups'], [{ groupType: 'and', filters: nonBrand }]);
  const tracked = [{ dimension: 'query', operator: 'includingRegex', expression: '^(red shoes|boots)$' }] as const;
  const keywords = await read(world, {
    ...DAYS,
    dimensions: ['date', 'query', 'device'],
    aggregation: 'byProperty',
    filters: tracked,
  });
  t.strictSame(Object.keys(keywords.byKey).sort(), ['2026-03-01 red shoes DESKTOP', '2026-03-02 red shoes MOBILE']);
  const ranking = await read(world, {
    ...DAYS,
    dimensions: ['date', 'query', 'page'],
    aggregation: 'byPage',
    filters: tracked,
  });
  t.strictSame(Object.keys(ranking.byKey).sort(), ['2026-03-01 red shoes /a', '2026-03-02 red shoes /b']);
});

t.test('appearances: their values first, then the days of one', async (t) => {
  const world = await providersWorld(t);
  world.google.rows = ROWS;
  const values = await read(world, { ...DAYS, dimensions: ['searchAppearance'] });
  t.ok('VIDEO' in values.byKey);
  const filters = [{ dimension: 'searchAppearance', operator: 'equals', expression: 'VIDEO' }] as const;
  t.strictSame((await read(world, { ...DAYS, dimensions: ['date'], filters })).byKey, { '2026-03-02': [1, 10, 9] });
  t.match(world.google.requests.at(-1), { aggregationType: 'auto' });
});

t.test('the first day that is not final, by both of its names', async (t) => {
  const world = await providersWorld(t);
  world.google.rows = ROWS;
  const finality = { ...DAYS, dimensions: ['date'], aggregation: 'byProperty', dataState: 'all' } as const;
  t.equal((await read(world, finality)).firstIncompleteDate, null);
  world.google.incomplete = { firstIncompleteDate: '2026-03-09' };
  t.equal((await read(world, finality)).firstIncompleteDate, '2026-03-09');
  world.google.incomplete = { first_incomplete_date: '2026-03-08' };
  t.equal((await read(world, finality)).firstIncompleteDate, '2026-03-08');
  t.equal((await read(world, { ...finality, dataState: 'final' })).firstIncompleteDate, null);
  world.google.incomplete = { firstIncompleteDate: 'soon' };
  world.google.failure = undefined;
  await t.rejects(
    world.run((each) => {
      const client = new SearchAnalytics(world.connection, world.providers);
      return client.page(finality, { start: 0, limit: 1 }, { ...each, retryUntil: 0 });
    }),
    new ProviderFailure('broken', 'the response has a first incomplete date that is not a day'),
  );
});

t.test('rows beyond one answer, through ties, each once; and whether there are more', async (t) => {
  const world = await providersWorld(t, { ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' });
  world.google.rows = Array.from({ length: 30_001 }, (_, index) => ({
    date: '2026-03-01',
    query: `query ${index % 15_001}`,
    country: index < 15_001 ? 'deu' : 'usa',
    clicks: index % 7,
    impressions: 10,
    position: 2,
  }));
  const query = { ...DAYS, dimensions: ['query', 'country'], aggregation: 'byProperty' } as const;
  const { rows, truncated, byKey } = await read(world, query, 50_000);
  t.strictSame([rows, truncated, Object.keys(byKey).length], [30_001, false, 30_001]);
  const best = await read(world, query, 25_000);
  t.strictSame([best.rows, best.truncated], [25_000, true]);
});

t.test('a query that the API does not take is refused without a request', async (t) => {
  const world = await providersWorld(t);
  const expression = `^(${'a|'.repeat(2050)})$`;
  for (const [wrong, why] of [
    [{ dimensions: ['searchAppearance', 'date'] }, /searchAppearance cannot be grouped/],
    [{ dimensions: ['date', 'date'] }, /a dimension is given twice: date, date/],
    [{ dimensions: ['page'], aggregation: 'byProperty' }, /cannot be aggregated by property/],
    [
      { aggregation: 'byProperty', filters: [{ dimension: 'page', operator: 'contains', expression: '/' }] },
      /cannot be aggregated by property/,
    ],
    [{ filters: [{ dimension: 'query', operator: 'includingRegex', expression }] }, /has 4104 characters/],
    [{ from: '2026-03-11' }, /from \(2026-03-11\) is after to \(2026-03-10\)/],
  ] as [Partial<AnalyticsQuery>, RegExp][]) {
    await t.rejects(read(world, { ...DAYS, dimensions: ['date'], ...wrong }), { name: 'RangeError', message: why });
  }
  t.strictSame(world.google.requests, []);
});

t.test('an answer whose rows are not those of the query is broken', async (t) => {
  const world = await providersWorld(t);
  world.google.rows = [{ date: '2026-03-01', clicks: 1, impressions: 1, position: -1 }];
  const client = new SearchAnalytics(world.connection, world.providers);
  const page = (each: Parameters<Parameters<typeof world.run>[0]>[0]) =>
    client.page({ ...DAYS, dimensions: ['date'] }, { start: 0, limit: 1 }, { ...each, retryUntil: 0 });
  await t.rejects(world.run(page), { kind: 'broken', message: /without its keys or numbers/ });
  world.google.rows = undefined;
  world.google.queries = [{ key: 'shoes', clicks: 1, impressions: 1, position: 1 }];
  const two = (each: Parameters<typeof page>[0]) =>
    client.page({ ...DAYS, dimensions: ['date', 'query'] }, { start: 0, limit: 1 }, { ...each, retryUntil: 0 });
  await t.rejects(world.run(two), { kind: 'broken', message: /without its keys or numbers/ });
});

t.test('the sum of positions is zero-based and whole', (t) => {
  const row = (impressions: number, position: number) => ({ keys: [], clicks: 0, impressions, position });
  t.strictSame([row(40, 2.34567), row(10, 1), row(0, 0), row(3, 0.9)].map(sumPositionOf), [54, 0, 0, 0]);
  t.end();
});

t.test('the properties that credentials lead to', async (t) => {
  const { google, providers, connection, run, log } = await providersWorld(t);
  const client = new SearchAnalytics(connection, providers);
  t.strictSame(await run((each) => client.sites(each)), []);
  google.sites = [
    { siteUrl: 'sc-domain:shop.example', permissionLevel: 'siteOwner' },
    { siteUrl: 'https://other.example/', permissionLevel: 'siteUnverifiedUser' },
  ];
  t.strictSame(await run((each) => client.sites(each)), [
    { property: 'sc-domain:shop.example', permission: 'siteOwner' },
    { property: 'https://other.example/', permission: 'siteUnverifiedUser' },
  ]);
  google.tokens.clear();
  t.equal((await run((each) => client.sites(each))).length, 2, 'with a new token');
  t.match(log, [{ requests: 1 }, { requests: 1 }, { requests: 2, retries: 0, outcome: 'fetched' }]);
});

t.test('a redirect is not followed, and nobody else gets the token', async (t) => {
  withoutPauses(t);
  const { providers, connection, run } = await providersWorld(t);
  const elsewhere = await startReceiver(t);
  const redirecting = createServer((request, response) => {
    response.writeHead(307, { location: elsewhere.origin + request.url }).end();
  });
  await once(redirecting.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    redirecting.closeAllConnections();
    redirecting.close();
  });
  const origin = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
  for (const where of [{ endpoint: origin }, { tokenEndpoint: `${origin}/token` }]) {
    const client = new SearchAnalytics({ ...connection, ...where }, providers);
    const query = { ...DAYS, dimensions: [] } as const;
    await t.rejects(
      run((each) => client.read(query, { max: 1, take: async () => {} }, each)),
      { kind: 'broken', message: /^status 307/ },
      Object.keys(where).join(),
    );
  }
  t.strictSame(elsewhere.received, []);
});
