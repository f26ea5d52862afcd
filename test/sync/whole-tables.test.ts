// What Bing gives as a whole is stored by day and week, outlives what Bing keeps, and stops no other sync.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createChannel } from '../../server/catalog/channels.ts';
import { removeConnection } from '../../server/catalog/connections.ts';
import { readCrawlDays } from '../../server/catalog/crawl-days.ts';
import { claimDeliveries } from '../../server/catalog/deliveries.ts';
import type { DeliveryBody } from '../../server/catalog/delivery-body.ts';
import type { FactTable } from '../../server/catalog/manifest.ts';
import { listSyncDays } from '../../server/catalog/sync-days.ts';
import { messageOf } from '../../server/channels/message.ts';
import { BING_ERRORS, type FakeBing, fakeBing } from '../fakes/bing.ts';
import { connect } from '../fakes/connected.ts';
import { type Row, temporaryFolder } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
const SITE = 'https://shop.example/';
/** Fewer tables: these tests are about Bing. */
const SMALL = { tracked: 0, from: '2026-03-13', archive: 'none' } as const;

async function withBing(
  t: Parameters<typeof syncWorld>[0],
  environment: NodeJS.ProcessEnv = {},
): Promise<{ world: SyncWorld; fake: FakeBing }> {
  const world = await syncWorld(t, { ...SMALL, environment });
  const fake = await fakeBing(t, '2026-03-15');
  fake.sites.push({ url: SITE, isVerified: true });
  const shoes = { query: 'shoes', url: `${SITE}shoes` };
  fake.searches.push(
    { ...shoes, day: '2026-02-27', clicks: 1, impressions: 10, position: 2 },
    { ...shoes, day: '2026-03-06', clicks: 2, impressions: 20, position: 4 },
    { ...shoes, day: '2026-03-07', query: 'boots', clicks: 0, impressions: 5, position: 9 },
    { ...shoes, day: '2026-03-13', clicks: 3, impressions: 30, position: 3 },
  );
  fake.crawls.push(
    { url: SITE, at: '2026-03-05T08:00:00-08:00', status: 200, size: 9 },
    { url: SITE, at: '2026-03-06T08:00:00-08:00', status: 200, size: 9 },
    { url: SITE, at: '2026-03-06T09:00:00-08:00', status: 404, size: 9 },
  );
  await connect(world.catalog, { kind: 'bing', credentials: fake.keyFile, endpoint: fake.url });
  return { world, fake };
}

const rows = async ({ stored }: SyncWorld, table: FactTable): Promise<Row[]> =>
  (await stored(table)).map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'project_id')));
const lineOf = ({ lines }: SyncWorld) => lines.findLast((line) => line['source'] === 'bing' && 'rows' in line);
const crawled = async ({ ask }: SyncWorld) => (await ask('/crawl')).body as { reason: string | null; days: Row[] };

t.test('days, and queries and pages by week, with one line of the log and without the key', async (t) => {
  const { world, fake } = await withBing(t);
  fake.hasUndated = true;
  t.match(await world.sync(), { outcome: 'done' });
  t.strictSame(await rows(world, 'site_daily_bing'), [
    { date: '2026-02-27', device: 'unknown', clicks: 1, impressions: 10, sum_position: 0 },
    { date: '2026-03-06', device: 'unknown', clicks: 2, impressions: 20, sum_position: 0 },
    { date: '2026-03-07', device: 'unknown', clicks: 0, impressions: 5, sum_position: 0 },
    { date: '2026-03-13', device: 'unknown', clicks: 3, impressions: 30, sum_position: 0 },
  ]);
  // Weeks end on Thursdays; that of 2026-03-13 is not complete.
  t.strictSame(await rows(world, 'query_weekly_bing'), [
    { query: 'boots', week_end: '2026-03-12', clicks: 0, impressions: 5, sum_position: 40 },
    { query: 'shoes', week_end: '2026-03-05', clicks: 1, impressions: 10, sum_position: 10 },
    { query: 'shoes', week_end: '2026-03-12', clicks: 2, impressions: 20, sum_position: 60 },
  ]);
  t.strictSame(await rows(world, 'page_weekly_bing'), [
    { url: `${SITE}shoes`, week_end: '2026-03-05', clicks: 1, impressions: 10, sum_position: 10 },
    { url: `${SITE}shoes`, week_end: '2026-03-12', clicks: 2, impressions: 25, sum_position: 100 },
  ]);
  t.match(lineOf(world), { source: 'bing', requests: 4, rows: 9, outcome: 'fetched' });
  t.match(
    world.lines.findLast(({ days }) => days === 2),
    { source: 'bing', requests: 2, outcome: 'fetched' },
  );
  t.notMatch(JSON.stringify(world.lines), fake.key);
  t.strictSame(
    fake.requests.map(({ method }) => method),
    ['GetUserSites', 'GetRankAndTrafficStats', 'GetPageStats', 'GetQueryStats', 'GetUserSites', 'GetCrawlStats'],
  );
});

t.test('what Bing no longer keeps stays stored', async (t) => {
  const { world, fake } = await withBing(t);
  await world.sync();
  const before = await rows(world, 'query_weekly_bing');
  world.clock += 10 * 24 * HOUR;
  fake.today = '2026-03-25';
  fake.retained = 18;
  fake.searches.push({ ...fake.searches[3]!, day: '2026-03-14', clicks: 4, impressions: 40 });
  await world.sync();
  const now = await rows(world, 'query_weekly_bing');
  for (const row of before)
    t.ok(
      now.some((one) => JSON.stringify(one) === JSON.stringify(row)),
      JSON.stringify(row),
    );
  t.match(now.at(-1), { query: 'shoes', week_end: '2026-03-19', clicks: 7, impressions: 70 });
  t.equal((await rows(world, 'site_daily_bing'))[0]!['date'], '2026-02-27');
});

t.test('the first day of a new site grows, although it is the oldest', async (t) => {
  const { world, fake } = await withBing(t);
  const [day] = fake.searches.splice(0, 3, { ...fake.searches[3]!, day: '2026-03-06', clicks: 1, impressions: 10 });
  fake.crawls.splice(0, 2);
  await world.sync();
  fake.searches.push({ ...day!, day: '2026-03-06', query: 'sandals', clicks: 4, impressions: 40 });
  fake.crawls.push(fake.crawls[0]!);
  world.clock += 24 * HOUR;
  await world.sync();
  t.match(await rows(world, 'site_daily_bing'), [{ date: '2026-03-06', clicks: 5 }, { date: '2026-03-13' }]);
  t.match(await rows(world, 'query_weekly_bing'), [
    { query: 'sandals', clicks: 4 },
    { query: 'shoes', clicks: 1 },
  ]);
  const { days } = await crawled(world);
  t.match(days, [{ date: '2026-03-06', crawledPages: 2 }]);
});

t.test('lost access is told as that of Bing, and Google is read', async (t) => {
  const { world, fake } = await withBing(t);
  await world.sync();
  const about = { workspace: 'acme', project: null, types: null, minSeverity: null, name: 'Team' };
  const channel = { ...about, kind: 'slack', shown: 'hooks.example', address: null } as const;
  const writer = { by: 'owner', at: 1 };
  await createChannel(world.catalog, world.settings, { ...channel, events: ['sync.failed'] }, writer);
  world.clock += 24 * HOUR;
  fake.intercept = () => ({ status: 400, body: BING_ERRORS.invalidKey });
  t.match(await world.sync(), { outcome: 'table-failed', reason: /bing: access lost: status 400, error 3/ });
  const [delivery, ...more] = await claimDeliveries(world.catalog, world.clock * 1000, (body) => body);
  const body = JSON.parse(delivery!.body) as DeliveryBody;
  t.match(body.data.sync, { status: 'warning', reason: 'access_lost', provider: 'bing' });
  t.match(messageOf(body).lines, [/^Bing no longer accepts the API key/]);
  t.strictSame(more, []);
});

t.test('days of the crawler that Bing no longer tells stay, and the others follow it', async (t) => {
  // At the end Bing never answers; until then it may be slow.
  const { world, fake } = await withBing(t, { ORDINATE_LISTS_WAIT_SECONDS: '3' });
  await world.sync();
  const [first, second] = (await crawled(world)).days;
  t.match([first, second], [{ date: '2026-03-05' }, { date: '2026-03-06', crawledPages: 2, code4xx: 1 }]);
  // It forgets one day and the first part of the next, corrects another, and goes on.
  const late = { url: SITE, at: '2026-03-07T09:00:00-08:00', status: 503, size: 9 };
  fake.crawls.splice(0, 2);
  fake.crawls.push(late, { ...late, at: '2026-03-08T09:00:00-08:00' });
  world.clock += 24 * HOUR;
  await world.sync();
  const grown = [first, second, { date: '2026-03-07', code5xx: 1 }, { date: '2026-03-08', code5xx: 1 }];
  t.match((await crawled(world)).days, grown);
  fake.crawls.push(late);
  world.clock += 24 * HOUR;
  await world.sync();
  const corrected = [first, second, { date: '2026-03-07', code5xx: 2 }, { date: '2026-03-08' }];
  t.match((await crawled(world)).days, corrected);
  // Fewer rows, none and failures delete nothing.
  for (const [answer, reason] of [
    [undefined, null],
    [{ status: 400, body: BING_ERRORS.invalidKey }, /^Bing no longer accepts/],
  ] as const) {
    fake.crawls.splice(0);
    fake.intercept = (method) => (method === 'GetCrawlStats' ? answer : undefined);
    world.clock += 24 * HOUR;
    t.match(await world.sync(), { outcome: 'done' }, 'the crawler stops no other table');
    const now = await crawled(world);
    t.match(now.days, corrected);
    t.match(now.reason, reason);
  }
  world.clock += 24 * HOUR;
  fake.intercept = () => new Promise(() => {});
  t.match(await crawled(world), { reason: /not answered yet/, days: corrected });
  await removeConnection(world.catalog, 'Proj1', 'bing');
  t.match(await crawled(world), { reason: /connections set/, days: corrected });
  const property = 'sc-domain:other.example';
  t.strictSame(await readCrawlDays(world.catalog, { project: 'Proj1', property }), [], 'nothing of another property');
});

t.test('weeks that end on another weekday than stored ones are refused, as days would count twice', async (t) => {
  const { world, fake } = await withBing(t);
  await world.sync();
  const before = await rows(world, 'query_weekly_bing');
  fake.weekday = 2;
  fake.today = '2026-03-16';
  fake.searches.push({ ...fake.searches[3]!, day: '2026-03-14', clicks: 4, impressions: 40 });
  world.clock += 24 * HOUR;
  const { outcome, reason } = await world.sync();
  t.match({ outcome, reason }, { outcome: 'table-failed', reason: /bing: page_weekly_bing: .*another weekday/ });
  t.strictSame(await rows(world, 'query_weekly_bing'), before);
  t.match((await rows(world, 'site_daily_bing')).at(-1), { date: '2026-03-14', clicks: 4 }, 'days are stored');
  fake.weekday = 5;
  world.clock += 24 * HOUR;
  t.match(await world.sync(), { outcome: 'done', reason: null });
});

t.test('days that are not kept are not stored again', async (t) => {
  const { world, fake } = await withBing(t, { ORDINATE_KEEP_DAYS: '10' });
  const february = '2026-02-28T08:00:00-08:00';
  fake.crawls.unshift({ ...fake.crawls[0]!, at: february }, { ...fake.crawls[0]!, at: february });
  t.match(await world.sync(), { outcome: 'done' });
  t.match(await rows(world, 'site_daily_bing'), [
    { date: '2026-03-06' },
    { date: '2026-03-07' },
    { date: '2026-03-13' },
  ]);
  const of = { project: 'Proj1', property: (await world.project()).property };
  t.match(await readCrawlDays(world.catalog, of), [{ date: '2026-03-05' }, { date: '2026-03-06' }]);
  const weeks = (await listSyncDays(world.catalog, 'Proj1')).filter(({ table }) => table === 'query_weekly_bing');
  t.match(weeks, [{ day: '2026-03-05', cutOff: false }, { day: '2026-03-12' }], 'Bing told the days of the first one');
});

t.test('what cannot be stored is left out, and stops nothing', async (t) => {
  const { world, fake } = await withBing(t);
  await world.sync();
  const before = await rows(world, 'query_weekly_bing');
  const shoes = fake.searches[1]!;
  const long = `${SITE}${'x'.repeat(70_000)}`;
  for (const query of ['\ud800', '\u00a0', long]) fake.searches.push({ ...shoes, query, impressions: 1 });
  for (const url of ['not an address', '\udfff://x', long]) fake.searches.push({ ...shoes, url, query: 'a\u0000b' });
  fake.oddDates = [
    '/Date(-62135568000001)/',
    '/Date(-60000000000000)/',
    '/Date(4102444800000)/',
    '/Date(253402300799000)/',
  ];
  world.clock += 24 * HOUR;
  t.match(await world.sync(), { outcome: 'done', reason: null });
  t.match(
    (await rows(world, 'query_weekly_bing')).map(({ query }) => query),
    ['a\u0000b', 'boots', 'shoes', 'shoes'],
  );
  t.strictSame((await rows(world, 'query_weekly_bing')).slice(1), before);
  t.match(
    (await rows(world, 'page_weekly_bing')).map(({ url }) => url),
    [`${SITE}shoes`, `${SITE}shoes`],
  );
  const days = (await rows(world, 'site_daily_bing')).map(({ date }) => date);
  t.strictSame(days, ['2026-02-27', '2026-03-06', '2026-03-07', '2026-03-13']);
  t.match(
    (await crawled(world)).days.map(({ date }) => date),
    ['2026-03-05', '2026-03-06'],
  );
  const stored = await rows(world, 'site_daily_bing');
  fake.searches.push({
    ...shoes,
    url: `${SITE}monster`,
    query: 'monster',
    impressions: 9e15,
    clicks: 1,
    position: 9e6,
  });
  world.clock += 24 * HOUR;
  t.match(await world.sync(), { outcome: 'table-failed', reason: /bing: site_daily_bing: .*too large/ });
  t.strictSame(await rows(world, 'site_daily_bing'), stored);
});

t.test(
  'a key that is replaced while Bing answers is used at once, and the failure of the former is none',
  async (t) => {
    const { world, fake } = await withBing(t);
    const former = { kind: 'bing', credentials: fake.keyFile, endpoint: fake.url };
    const keyFile = join(temporaryFolder(t), 'new-key');
    fake.intercept = async (method) => {
      if (method !== 'GetPageStats' || fake.key === 'the-new-key-0123456789') return undefined;
      fake.key = 'the-new-key-0123456789';
      writeFileSync(keyFile, fake.key, { mode: 0o600 });
      await connect(world.catalog, { ...former, credentials: keyFile });
      return { status: 400, body: BING_ERRORS.invalidKey };
    };
    t.match(await world.sync(), { outcome: 'done', reason: null });
    t.equal((await rows(world, 'site_daily_bing')).length, 4);
    // Or it is removed.
    fake.intercept = async (method) => {
      if (method === 'GetUserSites') await removeConnection(world.catalog, 'Proj1', 'bing');
      return { status: 400, body: BING_ERRORS.invalidKey };
    };
    world.clock += 24 * HOUR;
    t.match(await world.sync(), { outcome: 'done', reason: null });
  },
);

t.test('a throttled key rests for ten minutes, and other syncs go on', async (t) => {
  const { world, fake } = await withBing(t);
  fake.intercept = () => ({ status: 400, body: BING_ERRORS.throttledUser });
  const { outcome, reason } = await world.sync();
  t.match({ outcome, reason }, { outcome: 'table-failed', reason: /bing: status 400, error 4/ });
  t.not((await world.project()).syncedThrough, null, 'the reporting API was read');
  fake.intercept = () => undefined;
  const asked = fake.requests.length;
  const [failed] = (await listSyncDays(world.catalog, 'Proj1')).filter(({ nextTry }) => nextTry !== null);
  t.match(failed, { table: 'site_daily_bing', state: 'failed' });
  // Another run of the same key, such as that of another project, sends nothing either.
  await world.catalog.transaction((tx) => tx.statements.run('sync_days_forget', { project: 'Proj1' }));
  world.clock += 9 * 60_000;
  t.match(await world.sync(), { reason: /bing is paused until/ });
  t.equal(fake.requests.length, asked);
  await world.catalog.transaction((tx) => tx.statements.run('sync_days_forget', { project: 'Proj1' }));
  world.clock += 2 * 60_000;
  t.match(await world.sync(), { outcome: 'done', reason: null });
  t.equal((await rows(world, 'site_daily_bing')).length, 4);
});
