// The model of Bing Webmaster Tools answers with whole windows, weeks, dates at an offset, and errors as 400.
import t from 'tap';
import { BING_ERRORS, type FakeBing, fakeBing } from './bing.ts';

const SITE = 'https://example.com/';
type Row = Readonly<Record<string, unknown>>;

async function ask(
  fake: FakeBing,
  method: string,
  { site = SITE, key = fake.key, ...more }: Readonly<Record<string, string>> = {},
) {
  const query = new URLSearchParams({ siteUrl: site, apikey: key, ...more });
  const response = await fetch(`${fake.url}/${method}?${query.toString()}`);
  return { status: response.status, body: (await response.json()) as { readonly d: readonly Row[] } };
}

async function withSearches(t: Parameters<typeof fakeBing>[0]): Promise<FakeBing> {
  const fake = await fakeBing(t, '2026-06-20');
  fake.sites.push({ url: SITE, isVerified: true }, { url: 'https://other.com/', isVerified: false });
  const search = { query: 'shoes', url: `${SITE}shoes` };
  fake.searches.push(
    { ...search, day: '2026-06-11', clicks: 1, impressions: 10, position: 2 },
    { ...search, day: '2026-06-12', clicks: 3, impressions: 30, position: 4 },
    { ...search, day: '2026-06-12', query: 'boots', clicks: 0, impressions: 5, position: 9 },
    { ...search, day: '2026-06-18', clicks: 2, impressions: 20, position: 3 },
  );
  return fake;
}

t.test('days and weeks are computed from the same searches', async (t) => {
  const fake = await withSearches(t);
  const days = (await ask(fake, 'GetRankAndTrafficStats')).body.d;
  t.strictSame(
    days.map(({ Clicks, Impressions }) => [Clicks, Impressions]),
    [
      [1, 10],
      [3, 35],
      [2, 20],
    ],
  );
  t.equal(days[0]!['Date'], `/Date(${Date.parse('2026-06-11T07:00Z')}-0700)/`, 'midnight at the offset');
  // Weeks end on Fridays: the row of a Friday has the seven days before it.
  const queries = (await ask(fake, 'GetQueryStats')).body.d;
  t.strictSame(
    queries.map(({ Query, Clicks, Impressions }) => [Query, Clicks, Impressions]),
    [
      ['shoes', 1, 10],
      ['shoes', 5, 50],
      ['boots', 0, 5],
    ],
  );
  t.equal(queries[1]!['Date'], `/Date(${Date.parse('2026-06-19T07:00Z')}-0700)/`);
  t.equal(queries[1]!['AvgImpressionPosition'], 3.6);
  t.equal(queries[2]!['AvgClickPosition'], -1, 'no clicks, no position');
  const pages = (await ask(fake, 'GetPageStats')).body.d;
  t.strictSame(
    pages.map(({ Query, Impressions }) => [Query, Impressions]),
    [
      [`${SITE}shoes`, 10],
      [`${SITE}shoes`, 55],
    ],
    'the URL is in the field of queries',
  );
});

t.test('one query has its pages, and one page its queries', async (t) => {
  const fake = await withSearches(t);
  fake.searches.push({ ...fake.searches[0]!, url: `${SITE}sale`, clicks: 0, impressions: 4 });
  const rowsOf = async (method: string, of: Readonly<Record<string, string>>) =>
    (await ask(fake, method, of)).body.d.map(({ Query, Clicks, Impressions }) => [Query, Clicks, Impressions]);
  t.strictSame(await rowsOf('GetQueryPageStats', { query: 'shoes' }), [
    [`${SITE}shoes`, 1, 10],
    [`${SITE}sale`, 0, 4],
    [`${SITE}shoes`, 5, 50],
  ]);
  t.strictSame(await rowsOf('GetPageQueryStats', { page: `${SITE}sale` }), [['shoes', 0, 4]]);
  t.strictSame(await rowsOf('GetQueryPageStats', { query: 'hats' }), []);
  t.match(await ask(fake, 'GetPageQueryStats'), { status: 400, body: BING_ERRORS.invalidParameter });
});

t.test('the crawler: days by status, and what is known of an address', async (t) => {
  const fake = await withSearches(t);
  const page = `${SITE}shoes`;
  fake.crawls.push(
    { url: page, at: '2026-06-11T23:00:00-07:00', status: 500, size: 0 },
    { url: page, at: '2026-06-12T01:00:00-07:00', status: 200, size: 900 },
  );
  const days = (await ask(fake, 'GetCrawlStats')).body.d;
  t.match(days, [
    { Date: `/Date(${Date.parse('2026-06-12T07:00Z')}-0700)/`, CrawledPages: 1, Code2xx: 1, CrawlErrors: 0 },
    { Date: `/Date(${Date.parse('2026-06-11T07:00Z')}-0700)/`, CrawledPages: 1, Code5xx: 1, CrawlErrors: 1 },
  ]);
  t.match((await ask(fake, 'GetUrlInfo', { url: page })).body.d, {
    DiscoveryDate: `/Date(${Date.parse('2026-06-12T06:00Z')}-0700)/`,
    LastCrawledDate: `/Date(${Date.parse('2026-06-12T08:00Z')}-0700)/`,
    HttpStatus: 200,
    DocumentSize: 900,
  });
  t.equal((await ask(fake, 'GetUrlInfo', { url: SITE })).body.d, null);
  t.match(await ask(fake, 'GetUrlInfo'), { status: 400, body: BING_ERRORS.invalidParameter });
});

t.test('old days leave the window', async (t) => {
  const fake = await withSearches(t);
  fake.retained = 5;
  t.equal((await ask(fake, 'GetRankAndTrafficStats')).body.d.length, 1);
  fake.hasUndated = true;
  const [first, ...others] = (await ask(fake, 'GetRankAndTrafficStats')).body.d;
  t.equal(first!['Date'], '/Date(-62135568000000)/', 'no date');
  t.equal(others.length, 1);
});

t.test('refusals have status 400', async (t) => {
  const fake = await withSearches(t);
  t.strictSame(await ask(fake, 'GetQueryStats', { key: 'other' }), { status: 400, body: BING_ERRORS.invalidKey });
  t.strictSame(await ask(fake, 'GetQueryStats', { site: 'https://other.com/' }), {
    status: 400,
    body: BING_ERRORS.notAuthorized,
  });
  fake.intercept = () => ({ status: 400, body: BING_ERRORS.throttledUser });
  t.strictSame(await ask(fake, 'GetUserSites'), { status: 400, body: BING_ERRORS.throttledUser });
});
