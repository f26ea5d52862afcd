import { once } from 'node:events';
import t from 'tap';
import { addDays, countDays, pacificDayOf } from '../../server/domain/dates.ts';
import { start, startServer, until } from '../process.ts';
import { holdsAll, makeSearches, newWorld, setClock, wanted } from './operator-world.ts';

/** Real time: other processes have their own clock. The provider's must be theirs. */
const REAL = performance.timeOrigin + performance.now();
/** Three windows of history or four. */
const FROM = addDays(pacificDayOf(REAL), -100);

t.test('killed at any moment it goes on where the last publication ended; two processes share the work', async (t) => {
  const world = await newWorld(t, { searches: makeSearches({ since: '2020-01-01', silent: [] }), from: FROM });
  setClock(REAL);
  world.site.options.timetable.stageHours = 1000;
  const today = pacificDayOf(REAL);
  let firstDay: string | null = null;
  /** Requests for days that were published when the process started, but for the newest ones. */
  const publishedAgain = () =>
    world.provider
      .asked()
      .filter(({ request }) => firstDay !== null && request.to >= firstDay && countDays(request.from, today) > 14)
      .map(({ request }) => ({ firstDay, ...request }));
  // In the first window, and in the history.
  for (const requests of [9, 45]) {
    world.provider.forget();
    const { child, ended } = start(t, world.settings, 'sync');
    let seen = 0;
    const reached = new Promise<void>((done) => {
      world.provider.onRequest = ({ kind }) => {
        if (kind === 'query' && ++seen === requests) done();
      };
    });
    await Promise.race([reached, once(child, 'exit')]);
    child.kill('SIGKILL');
    await ended;
    t.strictSame(publishedAgain(), [], `killed after ${requests} requests`);
    ({ firstDay } = (await world.status()).tables.site_daily);
  }
  t.ok(firstDay !== null && firstDay < addDays(today, -28), 'some of the history is in');

  world.provider.forget();
  world.provider.onRequest = () => {};
  const both = [start(t, world.settings, 'sync'), start(t, world.settings, 'sync')];
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
  await holdsAll(t, world, wanted(world, { from: FROM }), 'in the end');
  t.match(await world.status(), { status: 'ok' });
  t.match(await world.ordinate('verify'), { code: 0 });
});

t.test('a server fills a new project by itself, and lists go before its backfill', async (t) => {
  const world = await newWorld(t, {
    searches: makeSearches({ since: '2020-01-01', silent: [] }),
    from: FROM,
    tracked: [],
  });
  setClock(REAL);
  world.provider.latency = 10;
  const settings = { ...world.settings, ORDINATE_JOBS: 'on' };
  const server = await startServer(t, settings);
  // Asked without the API, which takes only so many requests in a minute.
  const project = () => world.catalog('select * from projects where id = :project')[0]!;
  await until('the first numbers', () => project()['synced_through'] ?? undefined);
  t.match(project(), { history_backfilling: 1, sync_status: 'ok' });
  // From now on the sync waits for its answers until the list is there.
  const listed = Promise.withResolvers<void>();
  world.provider.onRequest = ({ kind, request }) =>
    kind === 'query' && request?.dimensions.join() !== 'page' ? listed.promise : undefined;
  const list = await server.get(`/projects/${world.project}/pages`, world.key);
  t.equal(list.status, 200);
  t.ok(list.body.pages.length > 0);
  t.match(project(), { history_backfilling: 1 }, 'the sync is still under way');
  listed.resolve();
  world.provider.latency = 0;
  await until('the history', () => (project()['history_backfilling'] === 0 ? true : undefined));
  const line = await until('its line in the log', () =>
    server.printed.stderr.split('\n').find((each) => each.includes('"windows"') && each.includes(world.project)),
  );
  t.match(JSON.parse(line), { requests: Number, rows: Number, retries: Number, windows: Number, seconds: Number });
});
