// Queries of a page and pages of a query are asked of Bing when they are opened: whole weeks that it still keeps.
import t, { type Test } from 'tap';
import { removeConnection } from '../../server/catalog/connections.ts';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { fetchedState } from '../../server/sync/day-states.ts';
import { BING_ERRORS, fakeBing } from '../fakes/bing.ts';
import { connect, connectedWorld } from '../fakes/connected.ts';
import { facts, refusedFor } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const SITE = 'https://www.shop.example/';
const [BOOTS, SALE] = [`${SITE}boots`, `${SITE}sale`];
/** Weeks end on Thursdays. */
const [FIRST, SECOND, THIRD] = ['2026-02-12', '2026-02-19', '2026-02-26'] as const;
const RANGE = 'engine=bing&from=2026-02-05&to=2026-02-28';

/** A project whose weeks are stored, and what Bing has. */
async function bingWorld(t: Test) {
  const world = await connectedWorld(t, { project: { property: 'sc-domain:shop.example' } });
  const week = [FIRST, SECOND, THIRD].map((day) => [BOOTS, day, 9, 90, null] as const);
  await world.load({
    page_weekly_bing: facts('url week_end', ...week),
    query_weekly_bing: facts('query week_end', ...week),
  });
  const bing = await fakeBing(t, '2026-03-01');
  bing.sites.push({ url: SITE, isVerified: true });
  const search = (day: string, query: string, url: string, clicks: number, position = 2) => ({
    ...{ day, query, url, clicks, position, impressions: 10 * clicks },
  });
  bing.searches.push(
    search('2026-02-10', 'boots', BOOTS, 4),
    search('2026-02-17', 'boots & shoes', BOOTS, 2),
    search('2026-02-18', 'boots', BOOTS, 5),
    search('2026-02-24', 'boots', BOOTS, 1, 5),
    search('2026-02-24', 'boots', SALE, 3),
    search('2026-02-27', 'boots', SALE, 8),
  );
  await connect(world.catalog, { kind: 'bing', credentials: bing.keyFile, endpoint: bing.url });
  const dashboard = await dashboardOf(world);
  const pages = (more = '') => dashboard(`Proj1/pages-of-query?query=boots&${RANGE}${more}`);
  const methods = () => bing.requests.map(({ method }) => method);
  return Object.assign(world, { bing, dashboard, pages, methods });
}

t.test('pages of a query and queries of a page, by week, fetched once, without the key in the log', async (t) => {
  const { pages, dashboard, methods, google, log, bing, fetches, ask } = await bingWorld(t);
  const { status, body } = await pages();
  t.equal(status, 200);
  t.match(body.range, { from: '2026-02-06', to: THIRD, engine: 'bing', grain: 'week', country: null });
  t.match(body.source, { kind: 'bing', truncated: false });
  t.notOk('reconciled' in body.source, 'it is about whole lists');
  t.strictSame(body.pages, [
    { url: BOOTS, clicks: 10, impressions: 100, ctr: 0.1, position: 2.3 },
    { url: SALE, clicks: 3, impressions: 30, ctr: 0.1, position: 2 },
  ]);
  t.match((await pages('&sort=url&limit=1&offset=1')).body.pages, [{ url: SALE }]);
  t.match((await dashboard(`Proj1/pages-of-query.csv?query=boots&${RANGE}`)).body, /^url,.*boots,10,100/s);
  t.strictSame(methods(), ['GetUserSites', 'GetQueryPageStats'], 'all of these from the stored list');
  const queries = await dashboard(`Proj1/queries-of-page?page=${encodeURIComponent(BOOTS)}&${RANGE}`);
  t.match(queries.body.queries, [
    { query: 'boots', clicks: 10, trackedKeywordId: null },
    { query: 'boots & shoes', clicks: 2 },
  ]);
  t.equal(methods().at(-1), 'GetPageQueryStats');
  t.match(fetches().at(-1), { source: 'bing', list: 'queries', part: true, rows: 2, outcome: 'fetched' });
  t.notMatch(log.join(''), bing.key);
  t.equal(google.requests.length, 0);
  const stored = await ask(`/pages?${RANGE}`);
  t.match(stored.body, { source: { kind: 'bing', reconciled: false }, pages: [{ clicks: 27 }] });
  const asked = methods().length;
  t.equal((await pages()).status, 200);
  t.equal(methods().length, asked, 'whole lists, which are stored, do not replace those of the provider');
});

t.test('weeks that Bing has forgotten are left out, and unsafe to compare with', async (t) => {
  const { pages, catalog, dashboard } = await bingWorld(t);
  const state = (day: string, fetchedAt: number) => {
    const sums = { rows: 1, clicks: 9, impressions: 90, digest: '0', cutOff: false };
    return fetchedState('page_weekly_bing', day, sums, { final: false, compared: 0, fetchedAt });
  };
  await putSyncDays(catalog, 'Proj1', [state(FIRST, 1), state(SECOND, 2), state(THIRD, 2)]);
  const { body } = await pages();
  t.match(body.range, { from: '2026-02-13', to: THIRD });
  t.match(body.pages, [{ clicks: 6 }, { clicks: 3 }]);
  const { body: compared } = await pages('&compare=previous');
  t.ok(compared.pages[0].unsafe.clicks.includes('missing_days'));
  const early = await dashboard(`Proj1/pages-of-query?query=boots&engine=bing&from=2026-02-01&to=${FIRST}`);
  refusedFor(t, early, 'from and to');
  t.match(early.body.error.message, /since that of 2026-02-19/);
});

t.test('a throttled key rests for ten minutes, also for the sync', async (t) => {
  const { pages, bing, methods, dashboard } = await bingWorld(t);
  bing.intercept = () => ({ status: 400, body: BING_ERRORS.throttledUser });
  const first = await pages();
  t.match(first, { status: 503, headers: { 'x-unavailable-reason': 'provider-rate-limit' } });
  bing.intercept = () => undefined;
  const asked = methods().length;
  t.equal((await pages()).status, 503);
  t.equal((await dashboard(`Proj1/queries-of-page?page=x&${RANGE}`)).status, 503);
  t.equal(methods().length, asked, 'nothing is sent');
});

t.test('lost access is said of Bing, also where an older list is stored, and not of Google', async (t) => {
  const world = await bingWorld(t);
  const { pages, bing } = world;
  t.equal((await pages()).status, 200);
  bing.key = 'a-new-key-that-the-connection-lacks';
  world.clock += world.settings.listLifetime * 1000 + 1;
  const { status, body } = await pages();
  t.match({ status, error: body.error }, { status: 409, error: { code: 'bing_access_lost', message: /^Bing / } });
  t.notMatch(JSON.stringify(body), /google|search provider/i);
  t.match((await world.ask(`/pages?${RANGE}`)).status, 200, 'what is stored is answered');
});

t.test('what cannot be answered is refused', async (t) => {
  const { pages, bing, catalog } = await bingWorld(t);
  for (const name of ['device=mobile', 'country=usa', 'type=image', 'quality=1'])
    refusedFor(t, await pages(`&${name}`), name.split('=')[0]!);
  bing.weekday = 2;
  t.equal((await pages()).status, 503, 'weeks that end on another day than the stored ones');
  await removeConnection(catalog, 'Proj1', 'bing');
  const none = await pages();
  t.match(none, { status: 503, headers: { 'x-unavailable-reason': 'list-without-source' } });
  t.match(none.body.error.message, /Bing/);
});
