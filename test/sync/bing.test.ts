// What Bing gives as a whole is stored by day and week, outlives what Bing keeps, and stops no other sync.
// Each change, what a sync does then, and what is stored: test/fixtures/sync-bing.txt.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createChannel } from '../../server/catalog/channels.ts';
import { removeConnection } from '../../server/catalog/connections.ts';
import { claimDeliveries } from '../../server/catalog/deliveries.ts';
import type { FactTable } from '../../server/catalog/manifest.ts';
import { listSyncDays } from '../../server/catalog/sync-days.ts';
import { BING_ERRORS, type FakeBing, fakeBing } from '../fakes/bing.ts';
import { connect } from '../fakes/connected.ts';
import { sameAsRecorded } from '../recorded.ts';
import { temporaryFolder } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const SITE = 'https://shop.example/';
const TABLES: readonly FactTable[] = ['site_daily_bing', 'query_weekly_bing', 'page_weekly_bing'];
const SHOES = { query: 'shoes', url: `${SITE}shoes`, position: 3 };
const CRAWL = { url: SITE, at: '2026-03-07T09:00:00-08:00', status: 503, size: 9 };
const refuse = (body: object) => () => ({ status: 400, body });

type Counts = Readonly<Record<string, string | number>>;

interface Bing {
  readonly world: SyncWorld;
  readonly fake: FakeBing;
  readonly t: Test;
}
type Step = (bing: Bing) => unknown;

async function open(t: Test, environment: NodeJS.ProcessEnv): Promise<Bing> {
  const world = await syncWorld(t, { tracked: 0, from: '2026-03-13', archive: 'none', environment });
  const fake = await fakeBing(t, '2026-03-15');
  fake.sites.push({ url: SITE, isVerified: true });
  fake.searches.push(
    { ...SHOES, day: '2026-02-27', clicks: 1, impressions: 10, position: 2 },
    { ...SHOES, day: '2026-03-06', clicks: 2, impressions: 20, position: 4 },
    { ...SHOES, day: '2026-03-07', query: 'boots', clicks: 0, impressions: 5, position: 9 },
    { ...SHOES, day: '2026-03-13', clicks: 3, impressions: 30 },
  );
  fake.crawls.push(
    { ...CRAWL, at: '2026-03-05T08:00:00-08:00', status: 200 },
    { ...CRAWL, at: '2026-03-06T08:00:00-08:00', status: 200 },
    { ...CRAWL, at: '2026-03-06T09:00:00-08:00', status: 404 },
  );
  await connect(world.catalog, { kind: 'bing', credentials: fake.keyFile, endpoint: fake.url });
  return { world, fake, t };
}

/** What a sync does, and what is stored then. */
async function told({ world, fake, t }: Bing, before: string): Promise<string[]> {
  const [asked, logged] = [fake.requests.length, world.lines.length];
  const { outcome, reason } = await world.sync();
  t.not((await world.project()).syncedThrough, null, 'the reporting API is read');
  t.notMatch(JSON.stringify(world.lines), fake.key);
  const lines = world.lines
    .slice(logged)
    .filter((line) => line['source'] === 'bing' && 'outcome' in line)
    .map((line) => {
      const { requests, rows, days, outcome } = line as Counts;
      return `  log: ${requests} requests, ${rows ?? days} rows or days, ${outcome}`;
    });
  const methods = fake.requests.slice(asked).map(({ method }) => method);
  const stored: string[] = [];
  for (const table of TABLES)
    for (const { project_id: _, clicks, impressions, sum_position, ...key } of (await world.stored(
      table,
    )) as Counts[]) {
      const texts = Object.values(key).map((value) => (String(value).length > 80 ? 'long' : String(value)));
      stored.push(`  ${table} ${JSON.stringify(texts.join(' '))}: ${clicks} ${impressions} ${sum_position}`);
    }
  const states = await listSyncDays(world.catalog, 'Proj1');
  const cut = states.flatMap(({ table, day, cutOff }) => (cutOff ? [`  cut off: ${table} ${day}`] : []));
  const { reason: why, days } = (await world.ask('/crawl')).body;
  const all = stored.sort().join('\n');
  return [
    `${outcome}${reason === null ? '' : `: ${reason}`}`,
    ...(methods.length > 0 ? [`  asked: ${methods.join(' ')}`] : []),
    ...lines.sort(),
    ...cut.sort(),
    ...(all === before ? ['  nothing new is stored'] : [all]),
    ...(why === null ? [] : [`  crawl: ${why}`]),
    ...(days as Counts[]).map(({ date, ...counts }) => {
      const told = Object.entries(counts).filter(([, count]) => count !== 0);
      return `  crawl ${date}: ${told.map((count) => count.join(' ')).join(', ')}`;
    }),
  ];
}

const CASES: Readonly<Record<string, readonly [environment: NodeJS.ProcessEnv, ...steps: Step[]]>> = {
  'Days, and queries and pages by week. Weeks end on Thursdays, and the last one is not complete.': [
    {},
    ({ fake }) => Object.assign(fake, { hasUndated: true }),
  ],
  'What Bing no longer keeps stays stored.': [
    {},
    () => {},
    ({ world, fake }) => {
      world.clock += 9 * DAY;
      Object.assign(fake, { today: '2026-03-25', retained: 18 });
      fake.searches.push({ ...SHOES, day: '2026-03-14', clicks: 4, impressions: 40 });
    },
  ],
  'A week of which Bing no longer tells the first day is cut off.': [
    {},
    ({ fake }) => {
      fake.retained = 15;
      fake.searches.push({ ...SHOES, day: '2026-02-28', clicks: 1, impressions: 10 });
    },
  ],
  'The first day of a new site grows, although it is the oldest.': [
    {},
    ({ fake }) => {
      fake.searches.splice(0, 3, { ...SHOES, day: '2026-03-06', clicks: 1, impressions: 10 });
      fake.crawls.splice(0, 2);
    },
    ({ fake }) => {
      fake.searches.push({ ...SHOES, day: '2026-03-06', query: 'sandals', clicks: 4, impressions: 40 });
      fake.crawls.push(fake.crawls[0]!);
    },
  ],
  'Days of the crawler that Bing no longer tells stay, and the others follow it; its failures stop no table.': [
    { ORDINATE_LISTS_WAIT_SECONDS: '3' },
    () => {},
    // It forgets one day and the first part of the next, corrects another, and goes on.
    ({ fake }) => fake.crawls.splice(0, 2, CRAWL, { ...CRAWL, at: '2026-03-08T09:00:00-08:00' }),
    ({ fake }) => fake.crawls.push({ ...CRAWL, at: '2026-03-06T10:00:00-08:00' }),
    ({ fake }) => fake.crawls.push(CRAWL),
    ({ fake }) => fake.crawls.splice(0),
    ({ fake }) => {
      fake.intercept = (method) => (method === 'GetCrawlStats' ? refuse(BING_ERRORS.invalidKey)() : undefined);
    },
    ({ world }) => removeConnection(world.catalog, 'Proj1', 'bing'),
  ],
  'Weeks that end on another weekday than stored ones are refused, as days would count twice; days are not.': [
    {},
    () => {},
    ({ fake }) => {
      Object.assign(fake, { weekday: 2, today: '2026-03-16' });
      fake.searches.push({ ...SHOES, day: '2026-03-14', clicks: 4, impressions: 40 });
    },
    ({ fake }) => Object.assign(fake, { weekday: 5 }),
  ],
  'Days that are not kept are not stored again.': [
    { ORDINATE_KEEP_DAYS: '10' },
    ({ fake }) => fake.crawls.unshift({ ...CRAWL, at: '2026-02-28T08:00:00-08:00' }),
    // What is told then is what is stored.
    ({ world }) => removeConnection(world.catalog, 'Proj1', 'bing'),
  ],
  'What cannot be stored is left out, and stops nothing; sums that are too large stop their table.': [
    {},
    ({ fake }) => {
      const row = { ...SHOES, day: '2026-03-06', clicks: 0, impressions: 1 };
      const long = `${SITE}${'x'.repeat(70_000)}`;
      for (const query of ['\ud800', '\u00a0', long]) fake.searches.push({ ...row, query });
      for (const url of ['not an address', '\udfff://x', long]) fake.searches.push({ ...row, url, query: 'a\u0000b' });
      fake.oddDates = [-62135568000001, -60000000000000, 4102444800000, 253402300799000].map((at) => `/Date(${at})/`);
    },
    ({ fake }) =>
      fake.searches.push({ ...SHOES, day: '2026-03-06', query: 'a', clicks: 1, impressions: 9e15, position: 9e6 }),
  ],
  'A key that is replaced while Bing answers is used at once; nor is it a failure that the connection is removed.': [
    {},
    ({ world, fake, t }) => {
      const file = join(temporaryFolder(t), 'new-key');
      fake.intercept = async (method) => {
        if (method !== 'GetPageStats' || fake.key === 'the-new-key-0123456789') return undefined;
        fake.key = 'the-new-key-0123456789';
        writeFileSync(file, fake.key, { mode: 0o600 });
        await connect(world.catalog, { kind: 'bing', credentials: file, endpoint: fake.url });
        return refuse(BING_ERRORS.invalidKey)();
      };
    },
    ({ world, fake }) => {
      fake.intercept = async (method) => {
        if (method === 'GetUserSites') await removeConnection(world.catalog, 'Proj1', 'bing');
        return refuse(BING_ERRORS.invalidKey)();
      };
    },
  ],
  'A throttled key rests for ten minutes, also in runs of other projects; the reporting API does not.': [
    {},
    ({ fake }) => Object.assign(fake, { intercept: refuse(BING_ERRORS.throttledUser) }),
    async ({ world, fake }) => {
      fake.intercept = () => undefined;
      world.clock += 9 * MINUTE - DAY;
      await world.catalog.transaction((tx) => tx.statements.run('sync_days_forget', { project: 'Proj1' }));
    },
    async ({ world }) => {
      world.clock += 2 * MINUTE - DAY;
      await world.catalog.transaction((tx) => tx.statements.run('sync_days_forget', { project: 'Proj1' }));
    },
  ],
};

t.test('after each change, what is stored', async (t) => {
  const all: string[] = [];
  for (const [promise, [environment, ...steps]] of Object.entries(CASES)) {
    const bing = await open(t, environment);
    all.push(`== ${promise}`);
    let stored = '';
    for (const [at, step] of steps.entries()) {
      if (at > 0) bing.world.clock += DAY;
      await step(bing);
      const lines = await told(bing, stored);
      stored = lines.find((line) => line.startsWith('  page_weekly') || line.startsWith('  query_weekly')) ?? stored;
      all.push(...lines);
    }
  }
  sameAsRecorded(t, 'sync-bing.txt', `${all.join('\n')}\n`, /\n(?=== )/);
});

t.test('lost access is told as that of Bing', async (t) => {
  const { world, fake } = await open(t, {});
  await world.sync();
  const about = { workspace: 'acme', project: null, types: null, minSeverity: null, name: 'Team' };
  const channel = { ...about, kind: 'webhook', shown: 'hooks.example', address: null } as const;
  await createChannel(world.catalog, world.settings, { ...channel, events: ['sync.failed'] }, { by: 'owner', at: 1 });
  world.clock += DAY;
  fake.intercept = refuse(BING_ERRORS.invalidKey);
  t.match(await world.sync(), { outcome: 'table-failed', reason: /bing: access lost: status 400, error 3/ });
  const deliveries = await claimDeliveries(world.catalog, world.clock * 1000, (body) => body);
  const bodies = deliveries.map(({ body }) => JSON.parse(body) as object);
  t.match(bodies, [{ data: { sync: { status: 'warning', reason: 'access_lost', provider: 'bing' } } }]);
});
