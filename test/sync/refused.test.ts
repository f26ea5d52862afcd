// When a provider refuses, fails or returns too much, the sync keeps its data, reports why, and recovers.
import { copyFileSync, rmSync } from 'node:fs';
import t from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import { command } from '../command.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { HOUR, holdsAll, NOW, newWorld, ORIGIN, setClock, syncedWorld, TABLES, wanted } from './operator-world.ts';

const MINUTE = 60_000;
/** Their tables take as long as all others together. */
const NO_KEYWORDS = { tracked: [] };

t.test('access lost and given back', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  const expected = wanted(world);
  world.provider.take('sc-domain:shop.example');
  setClock(NOW + 7 * HOUR);
  const { code, stdout, stderr } = await world.ordinate('sync');
  t.not(code, 0);
  t.notMatch(stdout + stderr, /ya29|refresh-token-of|client-secret-of/);
  t.match(await world.status(), { status: 'failed', lastError: /access|permission/i });
  await holdsAll(t, world, expected, 'what was published stays');
  world.provider.give('sc-domain:shop.example');
  setClock(NOW + 14 * HOUR);
  await world.sync();
  t.match(await world.status(), { status: 'ok', lastError: null });
  await holdsAll(t, world, wanted(world), 'given back');
});

t.test('a revoked grant is lost access', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  world.provider.account.isRevoked = true;
  setClock(NOW + 7 * HOUR);
  t.not((await world.ordinate('sync')).code, 0);
  t.match(await world.status(), { status: 'failed' });
});

t.test('credentials that cannot be read', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  const { provider } = world;
  copyFileSync(provider.credentials, `${provider.credentials}.kept`);
  rmSync(provider.credentials);
  setClock(NOW + 7 * HOUR);
  try {
    t.not((await world.ordinate('sync')).code, 0);
    t.match(await world.status(), { status: 'failed', lastError: /credentials/ });
  } finally {
    copyFileSync(`${provider.credentials}.kept`, provider.credentials);
  }
});

t.test('load quota in the middle of a backfill: what is in stays, and the rest follows later', async (t) => {
  const world = await newWorld(t, { from: '2026-02-01', ...NO_KEYWORDS });
  const { options } = world.provider.model.quotas;
  // Enough for the first window and not for the next.
  options.load = 800;
  const { code } = await world.ordinate('sync');
  t.not(code, 0);
  t.match(await world.status(), { status: 'warning', lastError: /quota/i });
  const refused = world.provider.model.log.filter(({ status }) => status === 403).length;
  t.ok(refused >= 1 && refused <= 4, `left alone after ${refused} refusals`);
  const { firstDay } = (await world.status()).tables.site_daily;
  t.ok(firstDay !== null, 'something is published');

  world.provider.forget();
  setClock(NOW + 5 * MINUTE);
  await world.ordinate('sync');
  t.strictSame(world.provider.model.log, [], 'nothing is asked within the pause');

  options.load = Number.POSITIVE_INFINITY;
  setClock(NOW + 20 * MINUTE);
  const before = await world.status();
  const asked = await world.sync();
  t.match(await world.status(), { status: 'ok', lastError: null });
  await holdsAll(t, world, wanted(world), 'all of it');
  const pending = before.backfill.total - before.backfill.done;
  const sites = asked.filter(({ request }) => request.dimensions.join() === 'date,device');
  const days = sites.map(({ request: { from, to } }) => (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1);
  t.ok(days.reduce((sum, count) => sum + count, 0) <= pending + 13, 'no published window is fetched again');
});

t.test('a provider that is down', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  const expected = wanted(world);
  world.provider.fail(FAILURES.unavailable);
  setClock(NOW + 7 * HOUR);
  t.not((await world.ordinate('sync')).code, 0);
  t.match(await world.status(), { status: 'warning' });
  await holdsAll(t, world, expected, 'what was published stays');
});

t.test('a disk with less room than ORDINATE_MIN_FREE', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  world.provider.forget();
  setClock(NOW + 7 * HOUR);
  const { code } = await command({ ...world.settings, ORDINATE_MIN_FREE: '1000000TB' }, 'sync');
  t.equal(code, 1);
  t.strictSame(world.provider.model.log, [], 'nothing is requested that could not be stored');
  t.match(await world.status(), { status: 'warning', lastError: /disk.*is full.*less than ORDINATE_MIN_FREE/ });
  setClock(NOW + 8 * HOUR);
  await world.sync();
  t.match(await world.status(), { status: 'ok', lastError: null });
});

t.test('one table that fails does not hold up the others', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  const isByCountry = ({ request }: { request?: { dimensions: readonly string[] } }): boolean =>
    request?.dimensions.includes('country') ?? false;
  world.provider.fail(FAILURES.badRequest, { which: isByCountry });
  const before = await world.stored('country_daily');
  setClock(NOW + 24 * HOUR);
  t.not((await world.ordinate('sync')).code, 0);
  t.match(await world.status(), { status: 'warning', lastError: /country_daily/ });
  const others = TABLES.filter((table) => table !== 'country_daily');
  await holdsAll(t, world, wanted(world), 'the others', others);
  t.strictSame(await world.stored('country_daily'), before, 'nothing of it is lost');
  world.provider.heal();
  setClock(NOW + 48 * HOUR);
  await world.sync();
  t.match(await world.status(), { status: 'ok' });
  await holdsAll(t, world, wanted(world), 'all of it');
});

t.test('a second table that fails ends the run, which publishes nothing of its window', async (t) => {
  const world = await syncedWorld(t, NO_KEYWORDS);
  const before = await world.stored('site_daily');
  const isOfTwo = ({ request }: { request?: { dimensions: readonly string[] } }): boolean =>
    ['country', 'searchAppearance'].some((dimension) => request?.dimensions.includes(dimension));
  world.provider.fail(FAILURES.badRequest, { which: isOfTwo });
  setClock(NOW + 24 * HOUR);
  t.not((await world.ordinate('sync')).code, 0);
  t.strictSame(await world.stored('site_daily'), before);
  t.notMatch(await world.status(), { lastError: /country_daily|appearance_daily/ });
  world.provider.heal();
  setClock(NOW + 48 * HOUR);
  await world.sync();
  await holdsAll(t, world, wanted(world), 'all of it');
});

t.test('a day that is cut off is marked, and keywords beyond the cut are there', async (t) => {
  const day = '2026-03-11';
  const many = Array.from({ length: 50_020 }, (_, number): KnownSearch => {
    const results = [{ page: `${ORIGIN}${number % 7}`, position: 1 + (number % 9), clicks: number < 40_000 ? 1 : 0 }];
    return { date: day, query: `query ${number}`, country: 'usa', device: 'MOBILE', count: 2, results };
  });
  const world = await newWorld(t, { create: ['--archive', 'queries'], from: '2026-03-01', ...NO_KEYWORDS });
  world.provider.model.addSite('sc-domain:shop.example', new KnownSearches(many));
  const last = `query ${many.length - 1}`;
  await world.done('keywords', 'add', '--project', world.project, '--query', last);
  await world.sync();
  const status = await world.status();
  t.match(status, { tables: { query_daily: { cutOffDays: 1 }, keyword_daily: { cutOffDays: 0 } } });
  const queries = await world.stored('query_daily');
  t.equal(queries.length, 50_000);
  t.equal(new Set(queries.map(({ query }) => query)).size, 50_000);
  t.equal(queries.filter(({ clicks }) => clicks === 1).length, 40_000, 'the best of it');
  const id = world.keywords().find(({ query }) => query === last)!.id;
  t.match(await world.stored('keyword_daily'), [{ keyword_id: id, date: day, impressions: 2, clicks: 0 }]);
});
