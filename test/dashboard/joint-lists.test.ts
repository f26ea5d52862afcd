// The queries of a page and the pages of a query come from the provider once, or from tracked keywords.
import t, { type Test } from 'tap';
import { listStoredLists } from '../../server/catalog/stored-lists.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { facts, keyword, makeWorld, PROJECT, refusedFor, WORKSPACE } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
const BOOTS = 'https://shop.example/boots';
const OF_BOOTS = `page=${encodeURIComponent(BOOTS)}&${FINAL}`;

/** What the provider has: two queries on one page, one of them on another page, too. */
async function pairedWorld(t: Test, environment = {}) {
  const world = await connectedWorld(t, { environment });
  const row = (query: string, page: string, device: string, clicks: number, country = 'gbr') => ({
    ...{ query, page, device, country, clicks, date: '2026-02-10', impressions: 10 * clicks, position: 2 },
  });
  world.google.rows = [
    row('boots', BOOTS, 'mobile', 5),
    row('boots', BOOTS, 'desktop', 3, 'usa'),
    row('acme boots', BOOTS, 'mobile', 6),
    row('boots', 'https://shop.example/', 'mobile', 1),
    row('hats', 'https://shop.example/hats', 'mobile', 9),
  ];
  await world.load({ keywords: [keyword('Kword', 'Boots')] });
  return { ...world, dashboard: await dashboardOf(world) };
}

t.test('the queries of a page, fetched once', async (t) => {
  const { google, dashboard, catalog, ask } = await pairedWorld(t);
  const { status, body } = await dashboard(`Proj1/queries-of-page?${OF_BOOTS}`);
  t.equal(status, 200);
  t.strictSame(body.queries, [
    { query: 'boots', clicks: 8, impressions: 80, ctr: 0.1, position: 2, branded: false, trackedKeywordId: 'Kword' },
    { query: 'acme boots', clicks: 6, impressions: 60, ctr: 0.1, position: 2, branded: true, trackedKeywordId: null },
  ]);
  t.match(body.source, { kind: 'gsc', truncated: false });
  t.match(google.requests, [{ dimensions: ['query'], aggregationType: 'byPage', dataState: 'all' }]);
  t.strictSame(google.requests[0]!['dimensionFilterGroups'], [
    { groupType: 'and', filters: [{ dimension: 'page', operator: 'equals', expression: BOOTS }] },
  ]);

  const sorted = await dashboard(`Proj1/queries-of-page?${OF_BOOTS}&sort=query&limit=1`);
  t.match(sorted.body, { queries: [{ query: 'acme boots' }], paging: { total: 2, limit: 1 } });
  const filtered = await dashboard(`Proj1/queries-of-page?${OF_BOOTS}&filter=branded:eq:true`);
  t.equal(filtered.body.paging.total, 1);
  const csv = await dashboard(`Proj1/queries-of-page.csv?${OF_BOOTS}`);
  t.match(csv.body, /^query,clicks,.*\r\nboots,8,80/s);
  t.equal(google.requests.length, 1, 'all of these from the stored list');

  t.equal((await ask(`/queries?${FINAL}`)).body.paging.total, 3, 'the whole list is another one');
  t.equal(google.requests.length, 2);
  const parts = (await listStoredLists(catalog, 'Proj1')).map(({ kind, part }) => `${kind} of ${part}`);
  t.strictSame(parts.sort(), ['queries of null', 'queries of one page']);
});

t.test('the pages of a query: devices, countries and comparisons are lists of their own', async (t) => {
  const { google, dashboard } = await pairedWorld(t);
  const pages = async (more = '') => {
    const { body } = await dashboard(`Proj1/pages-of-query?query=boots&${FINAL}${more}`);
    return (body.pages as { url: string; clicks: number }[]).map(({ url, clicks }) => [url, clicks]);
  };
  t.strictSame(await pages(), [
    [BOOTS, 8],
    ['https://shop.example/', 1],
  ]);
  t.strictSame(await pages('&device=desktop'), [[BOOTS, 3]]);
  t.strictSame(await pages('&country=usa'), [[BOOTS, 3]]);
  t.strictSame(google.requests.length, 3);
  t.match(google.requests.at(-2), {
    dimensions: ['page'],
    dimensionFilterGroups: [{ filters: [{ dimension: 'query' }, { dimension: 'device', expression: 'desktop' }] }],
  });
  const { body } = await dashboard(`Proj1/pages-of-query?query=boots&${FINAL}&compare=previous`);
  t.match(body, {
    // A whole month is compared with the one before it.
    range: { comparison: { from: '2026-01-01', to: '2026-01-31' } },
    pages: [{ url: BOOTS, clicks: 8, comparison: { clicks: 0 } }, {}],
  });
  t.equal(google.requests.length, 4, 'only the days to compare with were asked for');
});

t.test('what asks at the same time waits for one request', async (t) => {
  const { google, dashboard } = await pairedWorld(t);
  const answers = await Promise.all([1, 2, 3].map(() => dashboard(`Proj1/queries-of-page?${OF_BOOTS}`)));
  t.strictSame(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  t.equal(google.requests.length, 1);
});

t.test('failures are those of lists', async (t) => {
  const { google, dashboard } = await pairedWorld(t);
  google.failure = {
    how: { status: 403, body: { error: { code: 403, message: 'Error', errors: [{ reason: 'forbidden' }] } } },
    times: 9,
  };
  const { status, body } = await dashboard(`Proj1/queries-of-page?${OF_BOOTS}`);
  t.match({ status, body }, { status: 409, body: { error: { code: 'google_access_lost' } } });
  google.failure = undefined;
  t.equal((await dashboard(`Proj1/queries-of-page?${OF_BOOTS}`)).status, 200);
  for (const path of ['queries-of-page', 'pages-of-query']) {
    refusedFor(t, await dashboard(`Proj1/${path}?${FINAL}`), path === 'queries-of-page' ? 'page' : 'query');
    const name = path === 'queries-of-page' ? 'page' : 'query';
    refusedFor(t, await dashboard(`Proj1/${path}?${name}=${'x'.repeat(2049)}`), name);
    refusedFor(t, await dashboard(`Proj1/${path}?${name}=x&device=watch`), 'device');
    t.equal((await dashboard(`nosuc/${path}`)).status, 404);
  }
});

t.test('without a provider, the pairs of tracked keywords count', async (t) => {
  const world = await makeWorld(t, {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
    projects: [PROJECT],
    keywords: [keyword('Kw001', 'walking boots'), keyword('Kw002', 'boots')],
    keyword_page_daily: facts(
      'keyword_id date url',
      ['Kw001', '2026-02-08', BOOTS, 4, 60, 60],
      ['Kw001', '2026-02-09', BOOTS, 1, 40, 40],
      ['Kw002', '2026-02-09', BOOTS, 9, 90, 90],
      ['Kw002', '2026-02-09', 'https://shop.example/', 2, 10, 10],
      ['Kw002', '2026-03-09', BOOTS, 50, 50, 50],
    ),
    page_daily: facts(
      'url date country',
      [BOOTS, '2026-02-02', 'gbr', 3, 30, 30],
      [BOOTS, '2026-02-03', 'gbr', 1, 10, 10],
      [BOOTS, '2026-02-03', 'usa', 2, 20, 20],
      ['https://shop.example/', '2026-02-03', 'usa', 7, 70, 70],
    ),
  });
  const dashboard = await dashboardOf(world);
  const queries = await dashboard(`Proj1/queries-of-page?${OF_BOOTS}`);
  t.match(queries.body, {
    source: { kind: 'keywords' },
    queries: [
      { query: 'boots', clicks: 9, trackedKeywordId: 'Kw002' },
      { query: 'walking boots', clicks: 5, impressions: 100, position: 2 },
    ],
  });
  const pages = await dashboard(`Proj1/pages-of-query?query=BOOTS&${FINAL}`);
  t.match(pages.body.pages, [
    { url: BOOTS, clicks: 9 },
    { url: 'https://shop.example/', clicks: 2 },
  ]);
  const none = await dashboard(`Proj1/queries-of-page?page=nowhere&${FINAL}&compare=previous`);
  t.match(none, { status: 200, body: { queries: [], source: { kind: 'keywords' } } });
  const unknown = await dashboard(`Proj1/pages-of-query?query=hats&${FINAL}`);
  t.match(unknown, { status: 503, headers: { 'x-unavailable-reason': 'list-without-source' } });
  refusedFor(t, await dashboard(`Proj1/queries-of-page?${OF_BOOTS}&device=mobile`), 'device');
  refusedFor(t, await dashboard(`Proj1/queries-of-page?${OF_BOOTS}&country=gbr`), 'country');

  const days = await dashboard(`Proj1/days-of-page?${OF_BOOTS}`);
  t.match(days.body, { isArchived: true, keywordId: null, totals: { clicks: 6, impressions: 60 } });
  t.strictSame(
    days.body.daily.map(({ date, clicks }: { date: string; clicks: number }) => [date, clicks]),
    [
      ['2026-02-02', 3],
      ['2026-02-03', 3],
    ],
  );
  const later = `page=${encodeURIComponent(BOOTS)}&from=2026-02-09&to=2026-02-15&compare=previous`;
  const compared = (await dashboard(`Proj1/days-of-page?${later}`)).body;
  t.match(compared, {
    range: { comparison: { from: '2026-02-02', to: '2026-02-08' } },
    totals: { clicks: 0, comparison: { clicks: 6, impressions: 60 }, change: { clicks: { difference: -6 } } },
    daily: [],
    comparison: [
      { date: '2026-02-09', clicks: 3 },
      { date: '2026-02-10', clicks: 3 },
    ],
  });
  t.ok(compared.totals.unsafe.clicks.includes('low_base'));
  t.equal(days.body.comparison, null);
  const weeks = await dashboard(`Proj1/days-of-page?${OF_BOOTS}&interval=week`);
  t.match(weeks.body.daily, [{ date: '2026-02-02', clicks: 6 }]);
  const untold = await dashboard(`Proj1/days-of-query?query=boots&${FINAL}`);
  t.match(untold.body, { isArchived: false, keywordId: 'Kw002', totals: { clicks: 0 }, daily: [] });
  refusedFor(t, await dashboard('Proj1/days-of-query'), 'query');

  const other = await dashboardOf(world, 'other');
  for (const path of [`queries-of-page?${OF_BOOTS}`, 'pages-of-query?query=boots', 'days-of-query?query=boots']) {
    t.equal((await other(`Proj1/${path}`)).status, 404, path);
    t.equal((await world.get(`/projects/Proj1/${path}`)).status, 404, 'the public API does not have it');
  }
});
