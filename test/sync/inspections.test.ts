// The index state of pages is read within the provider's quota, stored batch by batch, and what failed is tried again.
import t, { type Test } from 'tap';
import { withFacts } from '../../server/alerts/with-facts.ts';
import { putInspections } from '../../server/catalog/inspections.ts';
import { NEVER_SYNCED, putSyncProject } from '../../server/catalog/sync-projects.ts';
import { eachDay, nextPacificMidnight } from '../../server/domain/dates.ts';
import type { IndexState } from '../../server/domain/index-state.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { inspectPages } from '../../server/jobs/inspect-pages.ts';
import { syncInspections } from '../../server/sync/inspections.ts';
import { connect } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { start } from '../process.ts';
import { keyword, makeLazyWorld, PROJECT, type Row } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SYNCED = {
  synced_through: '2026-03-13',
  provisional_after: '2026-03-12',
  last_synced_at: '2026-03-14T00:00:00Z',
};
const LIMITS = { perDay: 2000, perSecond: 1000 };
const ofPages = { which: ({ kind }: { kind: string }) => kind === 'inspection' };

const urlOf = (page: number): string => `https://shop.example/p${String(page).padStart(3, '0')}`;
const ofPage = (page: number) => ({
  which: ({ kind, page: url }: { kind: string; page?: string }) => kind === 'inspection' && url === urlOf(page),
});

function pageRow(page: number, date: string, clicks: number): Row {
  const numbers = { clicks, impressions: 100, sum_position: 50 };
  return { project_id: 'Proj1', date, country: 'usa', url: urlOf(page), ...numbers };
}

/** A connected project with pages of a month: `p000` has the most clicks, and every other page has none. */
function pagesWorld(t: Test, pages = 30): Promise<SyncWorld> {
  const rows = eachDay('2026-02-10', '2026-03-13').flatMap((day) =>
    Array.from({ length: pages }, (_, page) => pageRow(page, day, page % 2 === 0 ? pages - page : 0)),
  );
  return syncWorld(t, { tracked: 0, project: SYNCED, tables: { page_daily: rows } });
}

/** One run of the work of the job, with other limits: how many pages were inspected, failed and forgotten. */
async function inspect(world: SyncWorld, limits = LIMITS): Promise<string> {
  const { signal } = new AbortController();
  const now = () => world.clock;
  const { inspected, failed, forgotten } = await withFacts(world, (facts) =>
    world.withStores((stores) => syncInspections(stores, { facts, now, signal, limits })),
  );
  return `${inspected} inspected, ${failed} failed, ${forgotten} forgotten`;
}

/** One run of the job. */
function runJob(world: SyncWorld, signal = new AbortController().signal) {
  const { settings, catalog } = world;
  const keep = (line: unknown): void => void world.lines.push(line as Row);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  return inspectPages.run({ settings, catalog, log, now: () => world.clock, report: () => {} }, signal);
}

const asked = ({ provider }: SyncWorld): string[] =>
  provider.model.log.filter(ofPages.which).map(({ page = '' }) => page);
type Index = Row & { pages: Row[]; paging: { total: number }; reason: string | null };
const index = async (world: SyncWorld, query = '') => (await world.ask(`/index${query}`)).body as Index;
/** How many pages are answered, and why not more. */
const state = async (world: SyncWorld): Promise<string> => {
  const { paging, reason } = await index(world);
  return `${paging.total}${reason === null ? '' : `: ${reason}`}`;
};
const history = async (world: SyncWorld, page: number) =>
  (await world.ask(`/index/history?page=${encodeURIComponent(urlOf(page))}`)).body as Row & { history: Row[] };
/** Other states of pages from now on. */
function change({ site }: SyncWorld, more: (url: string) => object): void {
  const { indexStateOf } = site;
  site.indexStateOf = (url) => ({ ...indexStateOf(url), ...more(url) });
}

t.test('without inspections, what is needed for some', async (t) => {
  const world = await makeLazyWorld(t, {});
  t.match((await world.ask('/index')).body, { inspectedAt: null, reason: /no connection/, pages: [] });
  await connect(world.catalog, {});
  t.match((await world.ask('/index')).body, { inspectedAt: null, reason: /No page has been inspected/, pages: [] });
  t.match((await world.ask('/index/history?page=https%3A%2F%2Fshop.example%2F')).body, { page: null, history: [] });
  t.match((await world.ask('/index/history')).body, { error: { message: /page is missing/ } });
  const without = await syncWorld(t, { tracked: 0, from: '2026-03-13' });
  await without.sync();
  t.equal(await inspect(without), '0 inspected, 0 failed, 0 forgotten');
  for (const query of ['', '?filter=verdict:equals:PASS', '?sort=url,verdict'])
    t.match(await index(without, query), { inspectedAt: null, reason: /connections set --archive/, pages: [] });
});

t.test('all pages are inspected, and answered with filter, order and pages', async (t) => {
  const world = await pagesWorld(t);
  const dropped = new Set([urlOf(3), urlOf(5)]);
  const { indexStateOf } = world.site;
  world.site.indexStateOf = (url) =>
    dropped.has(url)
      ? { verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed', newField: 'unknown' }
      : indexStateOf(url);
  t.equal(await inspect(world), '30 inspected, 0 failed, 0 forgotten');
  const found = await index(world);
  t.match(found, { inspectedAt: '2026-03-15T19:00:00.000Z', reason: null, paging: { total: 30 } });
  t.strictSame(found.pages[0], {
    ...{ url: urlOf(0), verdict: 'PASS', coverageState: 'Submitted and indexed', robotsTxtState: 'ALLOWED' },
    ...{ indexingState: 'INDEXING_ALLOWED', pageFetchState: 'SUCCESSFUL', googleCanonical: urlOf(0) },
    ...{ userCanonical: urlOf(0), crawledAs: 'MOBILE', lastCrawlTime: '2026-03-14T08:00:00.000Z' },
    ...{ inspectedAt: '2026-03-15T19:00:00.000Z', since: '2026-03-15T19:00:00.000Z' },
  });
  const some = await index(world, '?filter=verdict:not_equals:PASS&sort=-url&limit=1');
  t.match(some, { paging: { total: 2, limit: 1 }, pages: [{ url: urlOf(5), robotsTxtState: null }] });
  t.equal((await world.ask('/index?sort=-clicks')).status, 400);
  // What the database selects is what is selected from all pages, as with a second field of the order.
  const either = [
    ['verdict', 'equals', 'PASS'],
    ['url', 'contains', 'p003'],
  ].map(([field, op, value]) => ({ field, op, value }));
  for (const filter of [
    ...['', 'verdict:equals:pass', 'verdict:not_equals:PASS', 'url:contains:/P00', 'url:contains:p0%'],
    ...(['all', 'any'] as const).map((match) => JSON.stringify({ match, conditions: either })),
  ])
    for (const sort of ['url', '-url', 'since', '-inspectedAt', '-lastCrawlTime']) {
      const of = `${filter && `filter=${encodeURIComponent(filter)}&`}limit=4&offset=1&sort=${sort}`;
      const byAll = await index(world, `?${of},${sort.endsWith('url') ? 'verdict' : 'url'}`);
      t.strictSame(await index(world, `?${of}`), byAll, of);
    }
  const none = await index(world, '?filter=url:contains:nowhere');
  t.match(none, { paging: { total: 0 }, inspectedAt: String, pages: [] });
  const lines = world.lines.filter((line) => 'outcome' in line);
  t.match(lines, [{ project: 'Proj1', requests: 30, pages: 30, outcome: 'fetched' }], 'one line for a batch');
  t.strictSame(await runJob(world), {}, 'nothing is due');
});

t.test(
  'a change is dated and kept in the history; the verdict keeps its date if only other words change',
  async (t) => {
    const world = await pagesWorld(t, 2);
    await inspect(world);
    world.clock += DAY;
    change(world, () => ({ crawledAs: 'DESKTOP' }));
    await inspect(world);
    const [first, second, third] = ['15', '16', '17'].map((day) => `2026-03-${day}T19:00:00.000Z`);
    t.match((await history(world, 0))['page'], { since: first, inspectedAt: second });
    world.clock += DAY;
    change(world, () => ({ crawledAs: 'MOBILE', verdict: 'NEUTRAL' }));
    await inspect(world);
    t.match(await history(world, 0), {
      page: { verdict: 'NEUTRAL', since: third, inspectedAt: third },
      history: [
        { since: third, verdict: 'NEUTRAL', crawledAs: 'MOBILE' },
        { since: second, verdict: 'PASS', crawledAs: 'DESKTOP' },
        { since: first, verdict: 'PASS', crawledAs: 'MOBILE' },
      ],
    });
  },
);

t.test('no more requests than a day has, over all runs: pages with most clicks first, the rest tomorrow', async (t) => {
  const world = await pagesWorld(t);
  const limits = { perDay: 12, perSecond: 1000 };
  // The provider would answer more.
  world.provider.model.quotas.options.inspectionsPerDay = 2000;
  const runs = [await inspect(world, limits)];
  world.clock += HOUR;
  runs.push(await inspect(world, limits));
  const mostClicks = Array.from({ length: 12 }, (_, at) => urlOf(2 * at));
  t.strictSame([asked(world).toSorted(), await state(world)], [mostClicks, '12']);
  world.clock = nextPacificMidnight(world.clock);
  runs.push(await inspect(world, limits));
  t.strictSame(
    runs.map((run) => Number.parseInt(run, 10)),
    [12, 0, 12],
  );
  t.equal(new Set(asked(world)).size, 24, 'each of them another page');
  world.clock = nextPacificMidnight(world.clock);
  const before = asked(world).length;
  await Promise.all([inspect(world, limits), inspect(world, limits)]);
  t.equal(asked(world).length - before, 12, 'also of two processes at a time');
});

t.test('a quota that others have used ends the batch, which keeps its results, and is tried again later', async (t) => {
  const world = await pagesWorld(t);
  world.provider.model.quotas.options.inspectionsPerDay = 7;
  t.equal(await inspect(world), '7 inspected, 0 failed, 0 forgotten');
  t.match(await state(world), /^7: .*limit of the search provider/);
  const sent = asked(world).length;
  t.equal(await inspect(world), '0 inspected, 0 failed, 0 forgotten');
  t.equal(asked(world).length, sent, 'not at once');
  t.match(await world.sync({ maxWindows: 1 }), { outcome: 'part' }, 'the reporting API has another quota');
  world.provider.model.quotas.options.inspectionsPerDay = 2000;
  world.clock += HOUR;
  t.strictSame([await inspect(world), await state(world)], ['23 inspected, 0 failed, 0 forgotten', '30']);
});

t.test('at most ten requests a second are sent for a property', async (t) => {
  const world = await pagesWorld(t, 12);
  await runJob(world);
  const [{ requests, ms }] = world.lines.filter((line) => 'outcome' in line) as [{ requests: number; ms: number }];
  t.equal(requests, 12);
  t.ok(ms > 990, `the eleventh waits: ${ms} ms`);
});

t.test('a page that fails ends nothing, and waits a day, then two', async (t) => {
  const world = await pagesWorld(t, 8);
  world.provider.fail(FAILURES.badRequest, ofPage(2));
  t.strictSame([await inspect(world), await state(world)], ['7 inspected, 1 failed, 0 forgotten', '7']);
  const runs: number[] = [];
  for (let day = 0; day < 4; day++) {
    world.clock += DAY;
    await inspect(world);
    runs.push(asked(world).filter((page) => page === urlOf(2)).length);
  }
  t.strictSame(runs, [2, 2, 3, 3]);
});

t.test('a provider that fails for all pages, or access that is lost, is no failure of pages', async (t) => {
  const world = await pagesWorld(t);
  for (const how of [FAILURES.badRequest, FAILURES.forbidden, FAILURES.disabled]) {
    world.provider.fail(how, ofPages);
    const before = asked(world).length;
    t.equal(await inspect(world), '0 inspected, 0 failed, 0 forgotten');
    t.ok(asked(world).length - before < 10, `${asked(world).length - before} requests`);
    t.match(await index(world), { reason: String, pages: [] });
    world.provider.heal();
    world.clock += HOUR;
  }
  t.equal(await inspect(world), '30 inspected, 0 failed, 0 forgotten');
});

t.test('pages of other properties are not asked for, and forgotten; watched pages without clicks are', async (t) => {
  const world = await pagesWorld(t, 2);
  const targets = ['https://shop.example/new', 'https://other.example/'];
  await world.load({
    projects: [await world.row()],
    keywords: targets.map((target_url, at) => keyword(`KwAa${at}`, `boots ${at}`, { target_url })),
  });
  await inspect(world);
  t.strictSame(asked(world).toSorted(), [targets[0], urlOf(0), urlOf(1)]);
  const other = 'https://shop.example/p00';
  world.provider.model.addSite(other, world.searches);
  world.provider.give(other);
  await world.load({ projects: [{ ...PROJECT, ...SYNCED, property: other }] });
  t.match(await state(world), /^0: No page has been inspected/);
  world.clock += HOUR;
  t.equal(await inspect(world), '2 inspected, 0 failed, 0 forgotten');
  t.equal((await history(world, 0)).history.length, 1);
});

t.test('a stopped run keeps what was answered, and the next one goes on', async (t) => {
  const world = await pagesWorld(t);
  const stop = new AbortController();
  let seen = 0;
  world.provider.onRequest = ({ kind }) => {
    if (kind === 'inspection' && ++seen === 11) stop.abort(new Error('the process ends'));
  };
  await t.rejects(runJob(world, stop.signal));
  const { total } = (await index(world)).paging;
  t.ok(total >= 7, `${total} pages are stored`);
  world.provider.onRequest = () => {};
  t.equal(await inspect(world), `${30 - total} inspected, 0 failed, 0 forgotten`);
});

t.test('pages that are long out of the index, without impressions, are forgotten; others are not', async (t) => {
  const world = await pagesWorld(t, 5);
  await inspect(world);
  world.clock += DAY;
  // Of these, the first still has impressions, the second is watched, and the last is in the index.
  const gone = new Set([urlOf(0), urlOf(1), urlOf(2), urlOf(3)]);
  change(world, (url) => (gone.has(url) ? { verdict: 'NEUTRAL' } : {}));
  world.provider.fail(FAILURES.badRequest, ofPage(9));
  await world.load({
    projects: [{ ...(await world.row()), synced_through: '2026-06-13', provisional_after: '2026-06-12' }],
    keywords: [keyword('KwAa1', 'boots', { target_url: urlOf(1) })],
    page_daily: [0, 9].map((page) => pageRow(page, '2026-06-13', 0)),
  });
  const runs = [await inspect(world)];
  await world.load({
    projects: [{ ...(await world.row()), synced_through: '2026-07-25', provisional_after: '2026-07-24' }],
    page_daily: [pageRow(0, '2026-07-25', 0)],
  });
  for (const days of [400, 1, 1]) {
    world.clock += days * DAY;
    runs.push(await inspect(world));
  }
  t.strictSame(runs, [
    '5 inspected, 1 failed, 0 forgotten',
    // The page without any answer.
    '5 inspected, 0 failed, 1 forgotten',
    '3 inspected, 0 failed, 2 forgotten',
    '3 inspected, 0 failed, 0 forgotten',
  ]);
  t.match(await index(world), { pages: [urlOf(0), urlOf(1), urlOf(4)].map((url) => ({ url })), paging: { total: 3 } });
  t.match(await history(world, 2), { page: null, history: [] });
  t.equal((await history(world, 1)).history.length, 2);
});

t.test('the newest 200 states of a page are kept', async (t) => {
  const world = await pagesWorld(t, 1);
  const connected = { id: 'Proj1', property: String((await world.row())['property']) };
  for (let day = 0; day < 203; day++) {
    const at = toMicroseconds(world.clock + day * DAY);
    const state = { ...(world.site.indexStateOf(urlOf(0)) as IndexState), crawledAs: `${day}` };
    const result = { url: urlOf(0), at, clicks: 1, isWatched: false, inspection: { state, lastCrawlTime: null } };
    await putInspections(world.catalog, connected, [result], { dueAt: at, reason: null });
  }
  const kept = (await history(world, 0)).history.map((row) => row['crawledAs']);
  t.strictSame([kept.length, kept[0], kept.at(-1)], [200, '202', '3']);
});

t.test('a killed process loses the batch under way; what was stored is not asked for again', async (t) => {
  const world = await pagesWorld(t, 70);
  const { settings, catalog, provider } = world;
  // The sync of the project is not due.
  await putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, nextRunAt: Number.MAX_SAFE_INTEGER });
  const limits = { ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000', ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' };
  const { child, ended } = start(t, { ORDINATE_DATA: settings.dataFolder, ORDINATE_JOBS: 'on', ...limits }, 'work');
  const reached = new Promise<void>((done) => {
    provider.onRequest = ({ kind }) => {
      if (kind === 'inspection' && asked(world).length === 55) done();
    };
  });
  await Promise.race([reached, ended]);
  child.kill('SIGKILL');
  await ended;
  provider.onRequest = () => {};
  const stored = (await index(world)).pages.map(({ url }) => url);
  t.equal(stored.length, 50, 'the first batch');
  world.clock = Date.now();
  provider.forget();
  t.equal(await inspect(world), '20 inspected, 0 failed, 0 forgotten');
  t.strictSame(
    asked(world).filter((page) => stored.includes(page)),
    [],
  );
});
