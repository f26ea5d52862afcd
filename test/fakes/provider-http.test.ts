// The provider model behaves like the reporting API over HTTP, with its rights, quotas and failures.
import t, { type Test } from 'tap';
import { makeQueries } from '../../cli/demo/provider/made-queries.ts';
import { MadeSearches } from '../../cli/demo/provider/made-searches.ts';
import type { Connection } from '../../server/catalog/connections.ts';
import type { AnalyticsQuery } from '../../server/providers/search-console/analytics-query.ts';
import { type AnalyticsRow, SearchAnalytics } from '../../server/providers/search-console/search-analytics.ts';
import { type FakeProvider, fakeProvider, serviceAccount } from './provider.ts';
import { type ProvidersWorld, providersWorld } from './providers.ts';

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
