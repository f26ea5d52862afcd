// The sync has Pacific days that are kept; of old ones by country, the 20 with most clicks and a row of all others.
import t from 'tap';
import { type KnownSearch, KnownSearches } from '../../cli/demo/provider/known-searches.ts';
import type { Site } from '../../cli/demo/provider/site.ts';
import { type Day, eachDay } from '../../server/domain/dates.ts';
import { sameAsRecorded } from '../recorded.ts';
import {
  HOUR,
  holdsAll,
  makeSearches,
  NOW,
  newWorld,
  type OperatorWorld,
  ORIGIN,
  openApi,
  PROPERTY,
  setClock,
  wanted,
} from './operator-world.ts';

const read = (world: OperatorWorld) =>
  world.catalog('select provisional_after, synced_through from projects where id = :project')[0];

t.test('days are Pacific ones, also in the night in which clocks change', async (t) => {
  const searches = makeSearches({ since: '2026-02-20', silent: [] });
  const world = await newWorld(t, { searches, from: '2026-02-18', tracked: [] });
  // The 8th of March has 23 hours: it begins at 8:00 and ends at 7:00.
  const nights: [string, string, string][] = [
    ['2026-03-08T07:59:00Z', '2026-03-04', '2026-03-07'],
    ['2026-03-08T08:01:00Z', '2026-03-05', '2026-03-07'],
    ['2026-03-09T06:59:00Z', '2026-03-05', '2026-03-08'],
    ['2026-03-09T07:01:00Z', '2026-03-06', '2026-03-08'],
  ];
  for (const [time, final, newest] of nights) {
    setClock(Date.parse(time));
    await world.sync();
    t.strictSame({ ...read(world) }, { provisional_after: final, synced_through: newest }, time);
    await holdsAll(t, world, wanted(world), time);
  }

  // Midnight comes while it runs: what was said to be final is kept to, and the next run makes it right.
  setClock(Date.parse('2026-03-12T06:59:50Z'));
  let requests = 0;
  world.provider.onRequest = () => {
    requests += 1;
    if (requests === 4) setClock(Date.parse('2026-03-12T07:00:10Z'));
  };
  await world.sync();
  t.ok(String(read(world)?.['provisional_after']) <= '2026-03-09');
  world.provider.onRequest = () => {};
  setClock(Date.parse('2026-03-12T13:30:00Z'));
  await world.sync();
  t.match(read(world), { provisional_after: '2026-03-09' });
  await holdsAll(t, world, wanted(world), 'after midnight');

  // The provider does not say what is final.
  const { options }: Site = world.site;
  options.metadata = 'none';
  setClock(Date.parse('2026-03-14T19:00:00Z'));
  await world.sync();
  t.match(read(world), { provisional_after: '2026-03-11' }, 'three Pacific days ago');
  options.metadata = 'first_incomplete_date';
  // It is late with counting.
  options.timetable.finalAfterDays = 4;
  setClock(Date.parse('2026-03-15T19:00:00Z'));
  await world.sync();
  t.match(read(world), { provisional_after: '2026-03-11', synced_through: '2026-03-15' });
  await holdsAll(t, world, wanted(world), 'late');
});

const FROM = '2026-01-12';
/** With 30 days until 2026-03-15, the month of 2026-02-14. */
const KEPT = '2026-02-01';

t.test('the sync does not fetch what retention has dropped, and fetches it again when it is to be kept', async (t) => {
  const searches = makeSearches({ since: '2026-01-01', silent: [] });
  const world = await newWorld(t, { searches, from: FROM });
  const days = (of: Awaited<ReturnType<typeof world.sync>>) => of.map(({ request }) => request.from).sort();
  t.ok(days(await world.sync())[0]! < KEPT);
  await holdsAll(t, world, wanted(world, { from: FROM }), 'before');

  await world.done('workspaces', 'set', 'acme', '--keep-days', '30');
  await world.done('prune');
  await holdsAll(t, world, wanted(world, { from: KEPT }), 'what is kept');
  t.match(await world.ordinate('sync', '--dry-run'), { code: 0, stdout: /^(?![\s\S]*2026-01-)/ });
  t.strictSame(
    days(await world.sync()).filter((day) => day < KEPT),
    [],
    'no dropped day is asked for',
  );
  await world.done('keywords', 'add', '--project', world.project, '--query', 'warm boots');
  t.strictSame(
    days(await world.sync()).filter((day) => day < KEPT),
    [],
    'nor for a new keyword',
  );
  t.match(await world.status(), { status: 'ok', backfill: { from: KEPT }, tables: { site_daily: { pendingDays: 0 } } });
  t.equal(world.catalog('select history_backfilling as it from projects')[0]!['it'], 0);
  await holdsAll(t, world, wanted(world, { from: KEPT }), 'after two more syncs');
  t.match(await world.ordinate('verify'), { code: 0 });
  t.match(await world.ordinate('prune'), { stdout: /Nothing is older/ });

  await world.done('workspaces', 'set', 'acme', '--keep-days', 'all');
  t.ok(days(await world.sync())[0]! < KEPT);
  await holdsAll(t, world, wanted(world, { from: FROM }), 'all again');
  t.match(await world.ordinate('verify'), { code: 0 });
});

t.test('a new project is filled from the first day that is kept', async (t) => {
  const searches = makeSearches({ since: '2026-01-01', silent: [] });
  const world = await newWorld(t, { searches, from: FROM, settings: { ORDINATE_KEEP_DAYS: '10' } });
  const asked = await world.sync();
  t.strictSame(
    asked.map(({ request }) => request.from).filter((day) => day < '2026-03-01'),
    [],
  );
  await holdsAll(t, world, wanted(world, { from: '2026-03-01' }), 'from the first of the month');
});

/** 30 countries of a day, with ties of clicks, in which the first by name has the fewest impressions. */
function searchesOf(date: Day): KnownSearch[] {
  return Array.from({ length: 30 }, (_, at): KnownSearch => {
    const country = `c${'abc'[Math.floor(at / 10)]}${'abcdefghij'[at % 10]}`;
    const results = [{ page: ORIGIN, position: 1 + (at % 3), clicks: Math.floor(at / 4) }];
    return { date, query: null, country, device: 'MOBILE', count: 100 + at, results };
  });
}

t.test('months, also after one of their days has changed, and the next month when it is old enough', async (t) => {
  const world = await newWorld(t, { from: '2026-01-20', tracked: [], settings: { ORDINATE_COUNTRY_DAYS: '20' } });
  const days = [...eachDay('2026-01-28', '2026-02-02'), '2026-02-28', '2026-03-01', '2026-03-12'];
  const source = new KnownSearches(days.flatMap(searchesOf));
  world.provider.model.addSite(PROPERTY, source);
  const told: string[] = [];
  const tell = async (name: string): Promise<void> => {
    const rows = (await world.stored('country_monthly')).map(
      ({ month, country, clicks, impressions, sum_position }) =>
        `${String(month)} ${String(country)}: ${Number(clicks)} ${Number(impressions)} ${Number(sum_position)}`,
    );
    const [first] = (await world.stored('country_daily')).map(({ date }) => String(date)).sort();
    const ask = await openApi(t, world, NOW + 480 * HOUR);
    const { body } = await ask(`/projects/${world.project}/breakdowns?from=2026-01-20&to=2026-03-01`);
    const { countryMonthlyThrough } = (body as { range: { countryMonthlyThrough: string } }).range;
    told.push(`== ${name}: days from ${first}, months through ${countryMonthlyThrough}`, ...rows.sort());
  };
  await world.sync();
  // 20 days before 2026-03-15 is in February: January is the last whole month before it.
  await tell('January');

  const [first, ...others] = searchesOf('2026-01-31');
  const more = { ...first!, count: 900, results: [{ ...first!.results[0]!, clicks: 500 }] };
  source.replace('2026-01-31', [more, ...others]);
  await world.ordinate('verify', '--project', world.project, '--days', '60', '--repair');
  await tell('500 clicks more of one country in January');

  setClock(NOW + 480 * HOUR);
  await world.sync();
  await tell('20 days later');
  sameAsRecorded(t, 'sync-countries.txt', `${told.join('\n')}\n`);
});
