// Every screen shows the numbers, signs, orders and links that its world has.
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { putInspections, putSitemaps, storeCrawlDays } from '../../server/catalog/inspections.ts';
import { hoursOf } from '../../server/domain/hours.ts';
import { INDEX_FIELDS, type IndexState } from '../../server/domain/index-state.ts';
import { fixture, isUpdated, readRecorded } from '../recorded.ts';
import { facts, keyword, NOW, ofProject, PROJECT, type Row, WORKSPACE } from '../world.ts';
import { openPage } from './page-of.ts';
import { makeTeam, type Who } from './team.ts';

// What each screen shows, as text. A change that must not show leaves the file as it is; any other change updates it, and is
// read there: UPDATE_RECORDED=1 npm test test/dashboard/screens.test.ts
const FILE = 'screens.txt';

const uuid = (last: number): string => `5e1f0000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const day = (month: number, number: number): string => `2026-0${month}-${String(number).padStart(2, '0')}`;
const FEBRUARY = Array.from({ length: 10 }, (_, at) => day(2, 19 + at));
const MARCH = Array.from({ length: 10 }, (_, at) => day(3, 1 + at));
/** One day is not stored. */
const STORED = [...FEBRUARY, ...MARCH].filter((one) => one !== day(2, 20));

/** Numbers that are in no order, of text, place or clicks, and that have ties. */
const measures = (seed: number, size = 1): readonly number[] => {
  const impressions = 20 + ((seed * 37) % 90) * size;
  const clicks = Math.floor(impressions / (3 + (seed % 5)));
  return [clicks, impressions, impressions * ((seed * 7) % 23)];
};

const QUERIES = [
  'zebra boots',
  'Alpha boots',
  'бутсы',
  'acme boots',
  'alpha boots',
  'Äpfel; rot',
  'tie b',
  'tie a',
  'only before',
  'only now',
];
const PAGES = [
  'https://www.shop.example/b',
  'https://shop.example/a?x=%C3%BC#top',
  'http://other.example/Z',
  'https://blog.shop.example/b',
  'https://xn--bcher-kva.example/%E2%80%AE',
];
const MANY = Array.from({ length: 51 }, (_, at) => `https://shop.example/many/${(at * 7) % 51}`);
const KEYWORDS = ['zebra boots', 'Alpha boots', 'бутсы', 'acme boots', 'never shown', 'tracked late'];

/** Positions of keywords in February and March. */
const PLACES = [
  [2, 12],
  [15, 4],
  [60, 22],
  [8, 8],
];

const rows = (names: readonly string[], days: readonly string[], size = 1) =>
  names.flatMap((name, place) =>
    days
      .filter((one) => !(name === 'only before' && one > day(3, 0)) && !(name === 'only now' && one < day(3, 0)))
      .map((one, at) => [
        name,
        one,
        ['gbr', 'deu', 'xkk'][place % 3]!,
        ...measures(name.startsWith('tie') ? at : place * 5 + at, size),
      ]),
  );

const WORLD: Readonly<Record<string, Row[]>> = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other', name: 'Acme' }],
  projects: [
    { ...PROJECT, id: 'Proj2', domain: 'xn--bcher-kva.example', property: 'https://xn--bcher-kva.example/' },
    PROJECT,
    { ...PROJECT, id: 'Empty', domain: 'new.example', property: 'https://new.example/', synced_through: null },
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
    // Its last month is stored, and not final yet.
    {
      ...{ ...PROJECT, id: 'Month', domain: 'month.example', sync_status: 'warning' },
      ...{ synced_through: '2026-02-28', provisional_after: '2026-02-25' },
    },
  ],
  keywords: KEYWORDS.map((query, at) =>
    keyword(`Kw00${at}`, query, query === 'tracked late' ? { tracked_since: '2026-03-02T00:00:00Z' } : {}),
  ),
  groups: [
    { project_id: 'Proj1', id: 'Fold1', name: 'Zweiter', kind: 'folder', position: 0, pinned: true },
    { project_id: 'Proj1', id: 'Boots', name: 'Boots', kind: 'manual', parent_id: 'Fold1', position: 1 },
    {
      project_id: 'Proj1',
      id: 'First',
      name: 'First page',
      kind: 'rule',
      position: 2,
      rule: { match: 'all', conditions: [{ field: 'position', op: 'lte', value: 10 }] },
    },
  ],
  group_members: ['Kw000', 'Kw002'].map((id) => ({ project_id: 'Proj1', group_id: 'Boots', keyword_id: id })),
  alerts: (['info', 'critical', 'warning', 'warning', 'critical'] as const).map((severity, at) => ({
    ...{ id: uuid(at), project_id: 'Proj1', type: at === 2 ? 'keyword_drop' : 'traffic_drop', severity, url: null },
    ...{
      kind: at === 2 ? 'Keyword drop' : 'Traffic drop',
      title: `Alert ${at}`,
      body: `Body of ${at} on 2026-03-0${at + 1}.`,
    },
    ...{ date: day(3, 5 + at), keyword_id: at === 2 ? 'Kw002' : null, created_at: `2026-03-0${8 - at}T05:00:00Z` },
    resolved_at: at === 3 ? '2026-03-09T00:00:00Z' : null,
    // Clicks stopped for hours.
    ...(at === 4 && { project_id: 'Month', type: 'hourly_stop', kind: 'Clicks stopped', date: day(3, 8) }),
  })),
  notes: [0, 1, 2].map((at) => ({
    ...{ id: uuid(10 + at), workspace_id: 'acme', project_id: at === 2 ? null : 'Proj1' },
    ...{ scope: (['project', 'keyword', 'workspace'] as const)[at], date: day(3, at === 2 ? 5 : 2 + at) },
    ...{ end_date: at === 1 ? day(3, 6) : null, category: at === 0 ? 'technical' : 'content' },
    ...{ text: `Note ${at}`, client_visible: at === 0, author: 'Editors', keyword_id: at === 1 ? 'Kw001' : null },
    ...{ created_at: '2026-03-02T10:00:00Z', updated_at: '2026-03-02T10:00:00Z' },
  })),
  site_daily: [
    ...facts(
      'date device',
      ...STORED.flatMap((one, at) =>
        ['mobile', 'desktop', 'tablet'].map((device, place) => [one, device, ...measures(at * 3 + place, 4)]),
      ),
    ),
    ...ofProject(
      'Proj2',
      facts(
        'date device',
        ...STORED.map((one, at) => [one, 'mobile', ...(one < day(3, 0) ? [1, 9, 8] : measures(at * 11, 2))]),
      ),
    ),
  ],
  query_daily: facts('query date country', ...rows(QUERIES, STORED)),
  page_daily: facts('url date country', ...rows(PAGES, STORED), ...rows(MANY, [day(3, 2)])),
  keyword_daily: facts(
    'keyword_id date device',
    ...[0, 1, 2, 3].flatMap((place) =>
      STORED.map((one, at) => {
        const [clicks = 0, impressions = 0] = measures(place * 9 + at);
        return [
          `Kw00${place}`,
          one,
          'mobile',
          clicks,
          impressions,
          impressions * (PLACES[place]![one < day(3, 0) ? 0 : 1]! - 1),
        ];
      }),
    ),
    ...MARCH.slice(2).map((one, at) => ['Kw005', one, 'desktop', at, 30, 90]),
  ),
  keyword_page_daily: facts(
    'keyword_id date url',
    ...STORED.map((one, at) => ['Kw000', one, PAGES[at % 2]!, ...measures(at)]),
  ),
  country_daily: facts(
    'date country',
    ...STORED.flatMap((one, at) =>
      ['gbr', 'deu', 'zzz'].map((country, place) => [one, country, ...measures(at + place * 4)]),
    ),
  ),
  appearance_daily: facts(
    'date appearance',
    ...STORED.map((one, at) => [one, at % 2 === 0 ? 'VIDEO' : 'PRODUCT_SNIPPETS', ...measures(at)]),
  ),
  brand_daily: facts(
    'date segment',
    ...STORED.flatMap((one, at) =>
      ['non_brand', 'brand'].map((segment, place) => [one, segment, ...measures(at + place)]),
    ),
  ),
  // The clocks go forward on the 8th.
  site_hourly: ofProject(
    'Month',
    facts(
      'date hour',
      ...[1, 7, 8].flatMap((number) =>
        hoursOf(day(3, number)).map((start, at) => [day(3, number), new Date(start).toISOString(), ...measures(at)]),
      ),
    ),
  ),
  site_daily_image: facts('date device', ...STORED.map((one, at) => [one, 'mobile', ...measures(at * 2)])),
  site_daily_bing: facts('date device', ...STORED.map((one, at) => [one, 'unknown', ...measures(at * 5)])),
};

const P = '/app/p/Proj1';
const RANGE = 'from=2026-03-01&to=2026-03-07';
/** With days that may still change. */
const NEWEST = 'from=2026-03-04&to=2026-03-10';
const SCREENS: readonly (readonly [Who, string])[] = [
  ['owner', '/app'],
  ['key', `/app?${RANGE}&sort=position&compare=none&search=shop`],
  ['key', `/app?${RANGE}&state=ok&sort=domain`],
  ['owner', `${P}?${RANGE}`],
  ['key', `${P}?period=month-to-date&metric=clicks&also=position&compare=none`],
  ['key', `${P}?period=7d&newest=yes`],
  ['key', `${P}?period=2m&interval=month&compare=year&country=gbr`],
  ['key', `${P}?${NEWEST}&metric=impressions`],
  [
    'member',
    `${P}?${RANGE}&metric=position&also=ctr,clicks&lines=brand%0Aquery:zebra%20boots&compare=custom&cfrom=2026-02-19&cto=2026-02-25&device=mobile`,
  ],
  ['key', `${P}?${RANGE}&metric=ctr&interval=week&compare=year&filter=query:not_contains:tie;clicks:gte:100`],
  ['key', `${P}?${RANGE}&type=image`],
  ['key', `${P}?${RANGE}&engine=bing`],
  ['owner', `${P}/queries?${RANGE}`],
  ['key', `${P}/queries?${RANGE}&sort=position&filter=impressions:gte:5&branded=no&positions=4-10`],
  ['key', `${P}/queries?${RANGE}&change=down&sort=-position`],
  ['key', `${P}/queries?from=2026-03-04&to=2026-03-04&branded=yes&change=new&filter={"match":"all"}`],
  ['key', `${P}/queries?${RANGE}&change=gone&search=none`],
  ['key', `${P}/pages?${RANGE}&filter=url:not_contains:/many/`],
  ['key', `${P}/pages?${RANGE}&offset=50&sort=url`],
  ['key', `${P}/queries/one?${RANGE}&of=zebra+boots`],
  ['key', `${P}/pages/one?${RANGE}&of=https://www.shop.example/b`],
  ['owner', `${P}/keywords?${RANGE}`],
  ['key', `${P}/keywords?${RANGE}&group=Boots&positions=4-10&sort=query`],
  ['key', `${P}/keywords?${RANGE}&change=up`],
  ['key', `${P}/keywords?${RANGE}&change=down&sort=-position&device=desktop`],
  ['key', `${P}/keywords/Kw000?${RANGE}`],
  ['key', `${P}/breakdowns?${RANGE}`],
  ['key', `${P}/explain?${RANGE}`],
  ['key', `${P}/explain?${RANGE}&by=query`],
  ['key', `${P}/findings?${RANGE}`],
  ['key', `${P}/explore?${RANGE}&by=country,device`],
  ['key', `${P}/explore?${RANGE}&by=device&where=[["equals","country",["gbr"]]]`],
  ['key', `${P}/explore?${RANGE}&by=brand,appearance&where=[["not",["contains","query",["a","b"]]]]&sort=-position`],
  ['key', `${P}/explore?${RANGE}&by=week,query&metrics=clicks,position&rows=50`],
  ['key', `${P}/effect?date=2026-03-02&keyword=Kw000`],
  ['owner', `${P}/alerts`],
  ['key', `${P}/alerts?status=all`],
  ['member', `${P}/notes`],
  ['owner', `${P}/notes`],
  ['key', `${P}/report?${RANGE}`],
  ['owner', `${P}/data`],
  ['owner', `${P}/data?verdict=out`],
  ['owner', `${P}/data?search=MANY/3`],
  ['owner', `${P}/settings`],
  ['key', `/app/p/Month?from=2026-02-22&to=2026-02-28&compare=none`],
  ['key', `/app/p/Month/alerts?alert=${uuid(4)}`],
  ['key', '/app/p/Month/report'],
  ['key', `${P}?period=90d`],
  ['key', `${P}?period=2m&interval=week&compare=none`],
  ['key', `${P}/pages?${RANGE}&offset=150`],
  ['key', `${P}/pages?${RANGE}&offset=100&filter=url:contains:/many/;url:not_contains:/50`],
  ['key', '/app/p/Empty'],
  ['key', '/app/p/Other'],
  ...(['members', 'channels', 'feeds', 'connect'] as const).map((name) => ['owner', `/app/${name}`] as const),
  ['stranger', '/app'],
];

const team = await makeTeam(t, WORLD);
/** What links show, to whoever has them: all screens, and what is left where queries are hidden. */
const SHARED = ['overview', 'queries', 'pages', 'keywords', 'breakdowns', 'alerts', 'notes'];
const shares: string[] = [];

/** A page left the index; fifty others are in it. What Google and Bing found of the site. */
const PASS = { verdict: 'PASS', coverageState: 'Submitted and indexed' };
const OUT = { verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };
const nothing = Object.fromEntries(INDEX_FIELDS.map((field) => [field, null])) as IndexState;
const property = PROJECT['property'] as string;
for (const [number, pages, state] of [
  [5, PAGES.slice(0, 1), PASS],
  [12, PAGES.slice(0, 1), OUT],
  [13, MANY, PASS],
] as const) {
  const at = Date.parse(`${day(3, number)}T12:00:00Z`) * 1000;
  const inspection = { state: { ...nothing, ...state }, lastCrawlTime: null };
  const results = pages.map((url) => ({ url, at, clicks: 1, isWatched: false, inspection }));
  await putInspections(team.catalog, { id: 'Proj1', property }, results, { dueAt: at, reason: null });
}
const sitemap = { type: 'sitemap', isIndex: false, isPending: false, lastSubmitted: null, warnings: 2, errors: 0 };
await putSitemaps(team.catalog, 'Proj1', property, {
  sitemaps: [{ ...sitemap, path: `${PAGES[0]!}.xml`, lastDownloaded: '2026-03-11T12:00:00.000Z', urls: 1200 }],
  ...{ fetchedAt: 1, reason: null, dueAt: 1 },
});
const codes = { code2xx: 1200, code301: 0, code302: 0, code4xx: 34, code5xx: 0, otherCodes: 0 };
const crawled = { ...codes, inLinks: 0, containsMalware: 0, crawlErrors: 34, inIndex: 900, blockedByRobotsTxt: 2 };
const crawlDays = [10, 11].map((number) => ({ date: day(3, number), crawledPages: 1200 + number, ...crawled }));
await storeCrawlDays(team.catalog, { project: 'Proj1', property }, crawlDays, { keptFrom: null, now: NOW * 1000 });
for (const hideQueries of [false, true]) {
  const { body } = await team.send('owner', 'POST', '/projects/Proj1/shares', { screens: SHARED, hideQueries });
  shares.push(new URL(body.url).pathname);
  // Links are listed by when they were made.
  team.clock.at += 1000;
}
const OPENED: readonly (readonly [Who, string])[] = [
  ...SCREENS,
  ...SHARED.map((screen) => ['stranger', `${shares[0]}?${RANGE}&screen=${screen}&sort=position`] as const),
  ['stranger', `${shares[0]}?${RANGE}&screen=pages&offset=50`],
  ...['queries', 'alerts'].map((screen) => ['stranger', `${shares[1]}?screen=${screen}`] as const),
  // Ranges as long as sparklines have days, and whose compared days reach the first one of keywords, and others.
  ...['2025-12-06', '2025-12-05'].map((from) => ['key', `/app?from=${from}&to=2026-03-07&search=none`] as const),
  ...[0, 1].map((n) => ['key', `${P}/keywords?from=2024-11-1${n}&to=2024-11-1${n + 6}&search=none`] as const),
];

const known = isUpdated ? [] : readRecorded(FILE).split(/^(?==== )/m);
const shown: string[] = [];
// Choices are shown where they stand first.
const lists = new Set<string>();
const once = (text: string): string =>
  text
    .replaceAll(/ord_share_\w+/g, 'ord_share_TOKEN')
    .replaceAll(/(?!5e1f)[0-9a-f]{8}-[0-9a-f]{4}-4[-0-9a-f]{22}/g, 'ID')
    .replaceAll(/ of ([^{}]*)\}/g, (all, list: string) => {
      if (lists.has(list)) return '}';
      lists.add(list);
      return all;
    });

/** The paths of the API that a screen asked for, alone or together. */
function askedOf(requests: readonly string[]): string[] {
  const paths = requests.flatMap((request) => {
    const { pathname, searchParams } = new URL(request.replace('GET ', 'http://x'));
    return pathname.endsWith('/together')
      ? searchParams.getAll('get')
      : [request.replace(/^GET (?:\/app|\/share\/\w+)\/api/, '')];
  });
  return [...new Set(paths.map(decodeURIComponent))].sort();
}

/** The calls behind a screen, each of which answers. */
async function callsOf(page: Awaited<ReturnType<typeof openPage>>): Promise<string[]> {
  await page.press('Copy as…');
  const names = ['curl', 'CSV'].filter((name) => page.outline('.menu').includes(`<${name}`));
  for (const name of names) await page.press(name, '.menu');
  const calls = page.copied.map((call) => /'(http[^']+)'/.exec(call)?.[1] ?? call);
  const statuses: string[] = [];
  for (const call of calls) {
    const url = call.replace('http://localhost', '');
    const answer = await team.app.inject({ url, headers: { authorization: `Bearer ${team.key}` } });
    statuses.push(`$ ${decodeURIComponent(url)} ${answer.statusCode} ${String(answer.headers['content-type'])}`);
  }
  return statuses;
}

for (const [at, [who, address]] of OPENED.entries()) {
  t.test(`${who} ${once(address)}`, async (t) => {
    const page = await openPage(t, team, address, team.cookies.get(who) ?? '');
    // Bing is asked when it is opened.
    if (address === `${P}/data`) await page.press("Bing's crawler");
    const asked = askedOf(page.requests).map((path) => `? ${path}`);
    const outline = page.outline();
    const calls = outline.includes('Copy as…') ? await callsOf(page) : [];
    const drawn = page.drawn().map((step) => `# ${step}`);
    const screen = once([`=== ${who} ${address}`, ...asked, ...calls, outline, ...drawn, '\n'].join('\n'));
    shown.push(screen);
    if (!isUpdated) t.equal(screen, known[at]);
  });
}

t.test('the file has these screens', async (t) => {
  if (isUpdated) writeFileSync(fixture(FILE), shown.join(''));
  else t.equal(known.length, OPENED.length);
});
