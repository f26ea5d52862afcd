// The provider model behaves like the reporting API over HTTP, with its rights, quotas and failures.
import t, { type Test } from 'tap';
import { KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import type { Connection } from '../../server/catalog/connections.ts';
import type { AnalyticsQuery } from '../../server/providers/search-console/analytics-query.ts';
import { type AnalyticsRow, SearchAnalytics } from '../../server/providers/search-console/search-analytics.ts';
import type { Row } from '../world.ts';
import { SECRETS } from './connected.ts';
import { type FakeProvider, fakeProvider, serviceAccount } from './provider.ts';
import { type ProvidersWorld, providersWorld } from './providers.ts';
import { FAILURES } from './search-console-failures.ts';

const NOW = Date.parse('2026-03-15T19:00:00Z');
const PROPERTY = 'sc-domain:shop.example';
const ORIGIN = 'https://shop.example/';

interface Reader extends ProvidersWorld {
  readonly provider: FakeProvider;
  /** All rows of a query, by the client that the server has. */
  readonly read: (query: Partial<AnalyticsQuery>, connection?: Connection) => Promise<AnalyticsRow[]>;
  readonly toProvider: Connection;
}

/** The provider with a property of some queries, and the real client of it. */
async function reader(t: Test, count = 40): Promise<Reader> {
  const provider = await fakeProvider(t, { now: () => NOW });
  const queries = makeQueries({ seed: 5, count, origin: ORIGIN, brand: 'acme' });
  provider.model.addSite(PROPERTY, new MadeSearches({ seed: 5, queries, since: '2026-02-20' }));
  provider.give(PROPERTY);
  const world = await providersWorld(t, {
    ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
    ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
    ORDINATE_LISTS_WAIT_SECONDS: '5',
  });
  const { url: endpoint, tokenUrl: tokenEndpoint, credentials } = provider;
  const toProvider = { ...world.connection, endpoint, tokenEndpoint, credentials };
  const read: Reader['read'] = async (query, connection = toProvider) => {
    const rows: AnalyticsRow[] = [];
    const whole = { property: PROPERTY, from: '2026-02-20', to: '2026-03-15', dimensions: [], ...query };
    const take = async (some: readonly AnalyticsRow[]) => void rows.push(...some);
    await world.run((run) => new SearchAnalytics(connection, world.providers).read(whole, { max: 50_000, take }, run));
    return rows;
  };
  return { ...world, provider, read, toProvider };
}

t.test('the client reads each row of a tie once', async (t) => {
  const { provider, read } = await reader(t);
  const many = Array.from({ length: 30_000 }, (_, number) => ({
    date: '2026-03-02',
    query: `query ${number}`,
    country: 'usa',
    device: 'TABLET' as const,
    count: 2,
    results: [{ page: ORIGIN, position: 1, clicks: number < 24_990 ? 1 : 0 }],
  }));
  provider.model.addSite(PROPERTY, new KnownSearches(many));
  const rows = await read({ from: '2026-03-02', to: '2026-03-02', dimensions: ['query'] });
  t.equal(new Set(rows.map(({ keys }) => keys[0])).size, 30_000);
  t.equal(rows.length, 30_000);
  const starts = provider.asked().map(({ request }) => request.startRow);
  t.ok(starts.length >= 2 && starts[0] === 0 && starts.slice(1).every((start) => start > 0), 'it was paged');
});

t.test('who may read what', async (t) => {
  const { provider, read, providers, run, toProvider } = await reader(t);
  const sites = (connection = toProvider) => run((each) => new SearchAnalytics(connection, providers).sites(each));
  provider.give('https://other.example/', 'siteUnverifiedUser');
  t.strictSame(await sites(), [
    { property: PROPERTY, permission: 'siteFullUser' },
    { property: 'https://other.example/', permission: 'siteUnverifiedUser' },
  ]);
  const service = serviceAccount(t, provider.model);
  const asService = { ...toProvider, credentials: service.credentials };
  t.strictSame(await sites(asService), [], 'nothing is no list at all');
  await t.rejects(read({}, asService), { kind: 'access-lost', message: /403, forbidden/ });
  service.account.sites.set(PROPERTY, 'siteRestrictedUser');
  t.equal((await read({}, asService)).length, 1);
  await t.rejects(read({ property: 'sc-domain:else.example' }), { kind: 'access-lost', message: /404, notFound/ });

  provider.take(PROPERTY);
  await t.rejects(read({}), { kind: 'access-lost', message: /./ });
  provider.give(PROPERTY, 'siteOwner');
  t.equal((await read({})).length, 1);
  provider.model.accounts.expireTokens();
  t.equal((await read({})).length, 1, 'with a new token');
  provider.account.isRevoked = true;
  await t.rejects(read({}), { kind: 'access-lost', message: /invalid_grant|401/ });
});

t.test('an assertion that another key has signed is refused', async (t) => {
  const { provider, providers, run, toProvider } = await reader(t);
  const mine = serviceAccount(t, provider.model);
  const other = serviceAccount(t, (await fakeProvider(t)).model);
  const sites = (credentials: string) =>
    run((each) => new SearchAnalytics({ ...toProvider, credentials }, providers).sites(each));
  t.strictSame(await sites(mine.credentials), []);
  await t.rejects(sites(other.credentials), { kind: 'access-lost', message: /./ });
});

/** Headers with a token of the user. */
async function headersOf({ tokenUrl }: FakeProvider): Promise<{ authorization: string }> {
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: SECRETS[0]! });
  const granted = await fetch(tokenUrl, { method: 'POST', body: form });
  return { authorization: `Bearer ${((await granted.json()) as { access_token: string }).access_token}` };
}

t.test('quotas, which come back with time', async (t) => {
  let clock = 0;
  const provider = await fakeProvider(t, { now: () => NOW, clock: () => clock });
  const other = 'https://other.example/';
  for (const property of [PROPERTY, other]) {
    provider.model.addSite(property, new KnownSearches());
    provider.give(property);
  }
  const headers = await headersOf(provider);
  const ask = async (property: string, dimensions: readonly string[] = []) => {
    const answer = await fetch(
      `${provider.url}webmasters/v3/sites/${encodeURIComponent(property)}/searchAnalytics/query`,
      {
        method: 'POST',
        headers,
        body: JSON.stringify({ startDate: '2026-03-01', endDate: '2026-03-10', dimensions }),
      },
    );
    const { error } = (await answer.json()) as { error?: { errors: [{ reason: string; domain: string }] } };
    const { reason = '', domain = '' } = error?.errors[0] ?? {};
    return [answer.status, reason, domain, answer.headers.get('retry-after') ?? ''].join(' ').trim();
  };
  const { options } = provider.model.quotas;
  options.load = 115;
  t.equal(await ask(PROPERTY, ['query']), '200');
  t.equal(await ask(PROPERTY), '200');
  t.equal(await ask(PROPERTY), '403 quotaExceeded usageLimits');
  t.equal(await ask(other, ['page']), '200', 'another property');
  clock += 600_000;
  t.equal(await ask(PROPERTY), '200');

  options.perMinute = 3;
  clock += 60_000;
  t.equal(await ask(PROPERTY), '200');
  t.equal(await ask(PROPERTY), '200');
  t.equal(await ask(other), '200');
  t.equal(await ask(other), '403 rateLimitExceeded usageLimits', 'all requests of the user');
  options.retryAfter = 7;
  t.equal(await ask(PROPERTY), '429 rateLimitExceeded usageLimits 7');
  clock += 59_999;
  t.match(await ask(PROPERTY), /^429/);
  clock += 600_000;
  t.equal(await ask(PROPERTY), '200');
});

t.test(
  'pages of a property are inspected, so many a day and a minute; sitemaps are as they were submitted',
  async (t) => {
    let clock = 0;
    let now = NOW;
    const provider = await fakeProvider(t, { now: () => now, clock: () => clock });
    const site = provider.model.addSite(PROPERTY, new KnownSearches());
    provider.give(PROPERTY);
    const headers = await headersOf(provider);
    const inspect = async (inspectionUrl: string, siteUrl = PROPERTY) => {
      const body = JSON.stringify({ inspectionUrl, siteUrl });
      const answer = await fetch(`${provider.url}v1/urlInspection/index:inspect`, { method: 'POST', headers, body });
      const { inspectionResult, error } = (await answer.json()) as Record<string, Row>;
      return [answer.status, inspectionResult?.['indexStatusResult'] ?? error?.['message']];
    };
    t.match(await inspect(`${ORIGIN}a`), [200, { verdict: 'PASS', googleCanonical: `${ORIGIN}a` }]);
    site.indexStateOf = () => ({ verdict: 'NEUTRAL' });
    t.strictSame(await inspect(`${ORIGIN}a`), [200, { verdict: 'NEUTRAL' }], 'what is unknown is left out');
    t.match(await inspect('https://else.example/'), [403, /./]);
    t.match(await inspect(`${ORIGIN}a`, 'sc-domain:else.example'), [404, /./]);

    const { options } = provider.model.quotas;
    options.inspectionsPerMinute = 4;
    t.match(await inspect(`${ORIGIN}b`), [200, {}], 'pages of others count, too');
    t.match(await inspect(`${ORIGIN}c`), [429, /per minute/]);
    clock += 60_000;
    options.inspectionsPerDay = 6;
    t.match(await inspect(`${ORIGIN}c`), [200, {}]);
    t.match(await inspect(`${ORIGIN}d`), [429, /per day/]);
    now += 24 * 3_600_000;
    t.match(await inspect(`${ORIGIN}d`), [200, {}], 'another Pacific day');

    const sitemaps = async () =>
      (await fetch(`${provider.url}webmasters/v3/sites/${encodeURIComponent(PROPERTY)}/sitemaps`, { headers })).json();
    t.strictSame(await sitemaps(), {}, 'none has no key');
    site.sitemaps = [{ path: `${ORIGIN}sitemap.xml`, warnings: '0' }];
    t.strictSame(await sitemaps(), { sitemap: [{ path: `${ORIGIN}sitemap.xml`, warnings: '0' }] });
  },
);

t.test('failures in place of answers', async (t) => {
  const { provider, read } = await reader(t);
  provider.fail('reset', { times: 1 });
  provider.fail(FAILURES.pageFor502, { times: 1 });
  t.equal((await read({})).length, 1, 'asked again');
  t.strictSame(
    provider.model.log.filter(({ kind }) => kind === 'query').map(({ status }) => status),
    [0, 502, 200],
  );
  provider.fail(FAILURES.disabled, { which: ({ request }) => request?.dimensions.includes('page') ?? false });
  await t.rejects(read({ dimensions: ['page'] }), { kind: 'misconfigured', message: /403/ });
  t.equal((await read({})).length, 1, 'others are answered');
  provider.heal();
  t.ok((await read({ dimensions: ['page'] })).length > 1);
  provider.forget();
  t.strictSame(provider.asked(), []);
});
