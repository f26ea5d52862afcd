// A killed sync continues from its last publication, and several processes share the work.
import { once } from 'node:events';
import t from 'tap';
import type { AnalyticsRequest } from '../../cli/demo/provider/request.ts';
import { addDays, countDays, pacificDayOf } from '../../server/domain/dates.ts';
import { fakeBing } from '../fakes/bing.ts';
import { isNight } from '../night.ts';
import { start, startServer, until } from '../process.ts';
import { holds, syncWorld } from './sync-world.ts';

/** Two windows of history or three. */
const FROM = addDays(pacificDayOf(Date.now()), -62);

t.test('killed at any moment it goes on where the last publication ended; two processes share the work', async (t) => {
  const world = await syncWorld(t, { since: '2020-01-01', from: FROM, clock: Date.now });
  world.site.options.timetable.stageHours = 1000;
  world.site.options.types.image = 0.5;
  const today = pacificDayOf(Date.now());
  let firstDay: string | null = null;
  /** Requests for days that were published when the process started, but for the newest ones. */
  const publishedAgain = () =>
    world.provider
      .asked()
      .filter(({ request }) => firstDay !== null && request.to >= firstDay && countDays(request.from, today) > 14)
      .map(({ request }) => ({ firstDay, ...request }));
  const bing = await fakeBing(t, today);
  const site = 'https://shop.example/';
  bing.sites.push({ url: site, isVerified: true });
  const yesterday = addDays(today, -1);
  for (let age = 1; age < 20; age++)
    bing.searches.push({
      day: addDays(today, -age),
      query: 'boots',
      url: site,
      clicks: 1,
      impressions: 9,
      position: 2,
    });
  bing.crawls.push({ url: site, at: `${yesterday}T08:00:00-07:00`, status: 200, size: 9 });
  const connected = ['--kind', 'bing', '--api-key-file', bing.keyFile, '--endpoint', bing.url];
  t.match(await world.run(['connections', 'set', '--project', 'Proj1', ...connected]), { code: 0 });
  for (const wantedMethod of isNight ? ['GetPageStats', 'GetCrawlStats'] : ['GetCrawlStats']) {
    const { child, ended } = start(t, world.environment, 'sync');
    const reached = new Promise<void>((done) => {
      bing.intercept = (method) => {
        if (method !== wantedMethod) return undefined;
        done();
        // It is never answered, so that the sync is killed while it waits.
        return once(child, 'exit').then(() => undefined);
      };
    });
    await Promise.race([reached, once(child, 'exit')]);
    child.kill('SIGKILL');
    await ended;
    t.strictSame(world.sql("select * from fact_files where fact_table like '%bing'"), [], wantedMethod);
  }
  bing.intercept = () => undefined;
  const isOfHistory = ({ from }: { from: string }): boolean => countDays(from, today) > 28;
  // In the middle of the first window, and of the second month of the history.
  const moments: [string, number, (request: AnalyticsRequest) => boolean][] = [
    ['the hours', 1, ({ dimensions }) => dimensions.join() === 'hour'],
    ['the newest days', 9, () => true],
    ['a type', 2, ({ type }) => type === 'image'],
    [
      'the history',
      2,
      (request) => isOfHistory(request) && request.type === 'web' && request.dimensions.join() === 'date,device',
    ],
  ];
  for (const [where, wantedRequests, counts] of isNight ? moments : moments.slice(-1)) {
    world.provider.forget();
    const { child, ended } = start(t, world.environment, 'sync');
    let seen = 0;
    const reached = new Promise<void>((done) => {
      world.provider.onRequest = ({ request }) => {
        if (request !== undefined && counts(request) && ++seen === wantedRequests) done();
      };
    });
    await Promise.race([reached, once(child, 'exit')]);
    child.kill('SIGKILL');
    await ended;
    t.strictSame(publishedAgain(), [], `killed in ${where}`);
    ({ firstDay } = (await world.status()).tables.site_daily);
  }
  t.ok(firstDay !== null && isOfHistory({ from: firstDay }), 'some of the history is in');

  world.provider.forget();
  world.provider.onRequest = () => {};
  const both = [start(t, world.environment, 'sync'), start(t, world.environment, 'sync')];
  const ends = await Promise.all(both.map(({ ended }) => ended));
  t.strictSame(
    ends.map(({ code }) => code),
    [0, 0],
    ends.map(({ stderr }) => stderr).join(),
  );
  t.strictSame(publishedAgain(), []);
  const sites = world.provider.asked().filter(({ request }) => {
    return request.dimensions.join() === 'date,device' && countDays(request.from, today) > 14;
  });
  t.equal(new Set(sites.map(({ request }) => request.from)).size, sites.length, 'each window once');
  await holds(t, world);
  const images = world.sql(`select fact_table, count(*) as days, count(case state when 'failed' then 1 end) as failed
    from sync_days where fact_table like '%image' group by fact_table order by fact_table`);
  t.match(images, [
    { fact_table: 'country_daily_image', days: countDays(FROM, today), failed: 0 },
    { fact_table: 'site_daily_image', days: countDays(FROM, today), failed: 0 },
  ]);
  t.match(world.sql("select fact_table, sum(rows) as days from fact_files where fact_table like '%bing' group by 1"), [
    { fact_table: 'page_weekly_bing' },
    { fact_table: 'query_weekly_bing' },
    { fact_table: 'site_daily_bing', days: 19 },
  ]);
  t.match(world.sql('select day from crawl_days'), [{ day: yesterday }]);
  t.match(await world.status(), { status: 'ok' });
  t.match(await world.run(['verify']), { code: 0 });
});

t.test('a server fills a new project by itself, and lists go before its backfill', async (t) => {
  const world = await syncWorld(t, {
    ...{ since: '2020-01-01', from: FROM, tracked: 0, clock: Date.now },
    // However slow the machine is, the list is waited for.
    environment: { ORDINATE_LISTS_WAIT_SECONDS: '60' },
  });
  world.provider.latency = 10;
  const settings = { ...world.environment, ORDINATE_JOBS: 'on' };
  const server = await startServer(t, settings);
  // Asked without the API, which takes only so many requests in a minute.
  const project = () => world.sql('select * from projects')[0]!;
  await until('the first numbers', () => project()['synced_through'] ?? undefined);
  t.match(project(), { history_backfilling: 1, sync_status: 'ok' });
  // From now on the sync waits for its answers until the list is there.
  const listed = Promise.withResolvers<void>();
  world.provider.onRequest = ({ kind, request }) =>
    kind === 'query' && request?.dimensions.join() !== 'page' ? listed.promise : undefined;
  const list = await server.get('/projects/Proj1/pages', world.key);
  t.equal(list.status, 200);
  t.ok(list.body.pages.length > 0);
  t.match(project(), { history_backfilling: 1 }, 'the sync is still under way');
  listed.resolve();
  world.provider.latency = 0;
  await until('the history', () => (project()['history_backfilling'] === 0 ? true : undefined));
  const line = await until('its line in the log', () =>
    server.printed.stderr.split('\n').find((each) => each.includes('"windows"') && each.includes('Proj1')),
  );
  t.match(JSON.parse(line), { requests: Number, rows: Number, retries: Number, windows: Number, seconds: Number });
});
