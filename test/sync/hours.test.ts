// Complete hours are stored once and kept; until then, whole days are replaced when they change.
import t from 'tap';
import { listProjectsToEvaluate } from '../../server/catalog/evaluations.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../../server/domain/dates.ts';
import { evaluate } from '../alerts/world.ts';
import type { Row } from '../world.ts';
import { modelled, type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
const FIRST = '2026-03-06';
/** Fewer tables: these tests are about hours. */
const SMALL = { tracked: 0, from: '2026-03-08', archive: 'none' } as const;

/** What the hours of the API must be. */
const expected = (world: SyncWorld, from: Day, to: Day, country: string | null = null): Row[] =>
  modelled(world, { from, to }, { by: 'hour', country });

async function answered(world: SyncWorld, from: Day, to: Day): Promise<Row[]> {
  return (await world.ask(`/hours?from=${from}&to=${to}`)).body.hours as Row[];
}

/** The hours of the API that have any impression. */
async function stored(world: SyncWorld, from: Day, to: Day): Promise<Row[]> {
  return (await answered(world, from, to))
    .filter(({ impressions }) => Number(impressions) > 0)
    .map(({ hour, clicks, impressions }) => ({ hour, clicks, impressions }));
}

const isHours = ({ request }: { request?: { dimensions: readonly string[] } }) => request?.dimensions[0] === 'hour';
/** What was asked for hours since the last time. */
function asked({ provider }: SyncWorld): string[] {
  const all = provider.asked().filter(isHours);
  provider.forget();
  return all.map(({ request: { from, to, dataState } }) => `${from} to ${to}, ${dataState}`);
}

t.test('ten days, one of 23 hours; provisional ones are replaced, and complete days not asked again', async (t) => {
  const world = await syncWorld(t, SMALL);
  t.match(await world.sync(), { outcome: 'done' });
  t.strictSame(asked(world), ['2026-03-06 to 2026-03-15, hourly_all']);
  const first = await stored(world, FIRST, '2026-03-15');
  t.strictSame(first, expected(world, FIRST, '2026-03-15'));
  t.ok(first.length > 200 && !first.some(({ hour }) => String(hour).startsWith('2026-03-08T02')));
  const { range } = (await world.ask('/hours')).body;
  t.equal(range.provisionalAfter, '2026-03-14T05:00:00-07:00', 'the hour before the first incomplete one');

  const { factsRevision } = await world.project();
  await world.sync();
  t.equal((await world.project()).factsRevision, factsRevision, 'nothing changed, so nothing is published');
  await evaluate(world, { now: () => world.clock });

  // Of the second and third syncs, the first incomplete hours are the last of a day and the first of the next.
  for (const [hours, from] of [
    [6, '2026-03-14'],
    [11, '2026-03-14'],
    [1, '2026-03-14'],
    [7, '2026-03-15'],
    [40, '2026-03-15'],
  ] as const) {
    world.clock += hours * HOUR;
    world.provider.forget();
    await world.sync();
    const today = pacificDayOf(world.clock);
    t.strictSame(await stored(world, FIRST, today), expected(world, FIRST, today), `${hours} hours later`);
    t.strictSame(asked(world), [`${from} to ${today}, hourly_all`], 'each day until it is complete');
  }
  t.ok((await world.project()).factsRevision > factsRevision);
  t.strictSame(await listProjectsToEvaluate(world.catalog), ['Proj1'], 'alerts are evaluated');
});

t.test('days that the provider has dropped stay; those that were missed are unknown, not zero', async (t) => {
  const world = await syncWorld(t, SMALL);
  await world.sync();
  const before = await stored(world, FIRST, '2026-03-13');
  world.clock += 20 * 24 * HOUR;
  await world.sync();
  t.strictSame(await stored(world, FIRST, '2026-03-13'), before);
  const days = new Set((await answered(world, FIRST, '2026-04-04')).map(({ hour }) => String(hour).slice(0, 10)));
  t.strictSame([...days], [...eachDay(FIRST, '2026-03-15'), ...eachDay('2026-03-26', '2026-04-04')]);
});

t.test('only every few hours, and of the country of the project', async (t) => {
  const world = await syncWorld(t, { ...SMALL, project: { country: 'usa' } });
  await world.sync();
  t.strictSame(await stored(world, FIRST, '2026-03-15'), expected(world, FIRST, '2026-03-15', 'usa'));
  world.provider.forget();
  const requests: number[] = [];
  for (const hours of [2, 3]) {
    world.clock += hours * HOUR;
    await world.sync({ staleAfter: 4 * HOUR });
    requests.push(asked(world).length);
  }
  t.strictSame(requests, [0, 1]);
});

t.test('without a first incomplete hour, the hours of final days are final', async (t) => {
  const world = await syncWorld(t, SMALL);
  world.site.options.metadata = 'none';
  await world.sync();
  const { range } = (await world.ask('/hours')).body;
  const { provisionalAfter } = await world.project();
  t.equal(range.provisionalAfter, `${provisionalAfter}T23:00:00-07:00`);
  t.ok(provisionalAfter! <= addDays('2026-03-15', -2));
});

t.test('a day is asked for again until its last hour is complete', async (t) => {
  const world = await syncWorld(t, SMALL);
  for (const [from, firstIncompleteHour] of [
    [FIRST, '2026-03-14T22:00:00-07:00'],
    ['2026-03-14', '2026-03-14T23:00:00-07:00'],
    ['2026-03-14', '2026-03-15T00:00:00-07:00'],
    ['2026-03-15', '2026-03-15T00:00:00-07:00'],
  ]) {
    const rows = [{ keys: ['2026-03-14T12:00:00-07:00'], clicks: 1, impressions: 2, ctr: 0.5, position: 1 }];
    world.provider.heal();
    world.provider.fail({ status: 200, body: { rows, metadata: { firstIncompleteHour } } }, { which: isHours });
    t.match(await world.sync(), { outcome: 'done' });
    t.strictSame(asked(world), [`${from} to 2026-03-15, hourly_all`]);
  }
});
