// Synced days are Pacific days, also when clocks change or midnight comes during a run.
import t from 'tap';
import type { Site } from '../../cli/demo/provider/site.ts';
import { holdsAll, makeSearches, newWorld, type OperatorWorld, setClock, wanted } from './operator-world.ts';

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
