// Complete hours are stored once and kept; until then, whole days are replaced when they change.
import t from 'tap';
import { stageOf } from '../../cli/demo/provider/days.ts';
import { firstIncompleteHour, newestHour, spreadOverHours } from '../../cli/demo/provider/hours.ts';
import { countByProperty } from '../../cli/demo/provider/searches.ts';
import { listProjectsToEvaluate } from '../../server/catalog/evaluations.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../../server/domain/dates.ts';
import { hoursOf, hourText } from '../../server/domain/hours.ts';
import { evaluate } from '../alerts/world.ts';
import type { Row } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
/** Fewer tables: these tests are about hours. */
const SMALL = { tracked: 0, from: '2026-03-08', archive: 'none' } as const;

/** The clicks and impressions of each hour that has any, from the searches alone. */
function expected({ site, clock: now }: SyncWorld, from: Day, to: Day, country: string | null = null): Row[] {
  const { timetable } = site.options;
  const first = firstIncompleteHour(now, timetable);
  return eachDay(from, to).flatMap((day) => {
    const sums = new Map(hoursOf(day).map((start) => [start, [0, 0] as [number, number]]));
    for (const isComplete of [true, false]) {
      const stage = isComplete ? 'final' : stageOf(day, now, timetable);
      for (const search of site.source.searches(day, stage)) {
        if (country !== null && search.country !== country) continue;
        for (const [hour, { clicks, impressions }] of spreadOverHours(day, search, countByProperty(search))) {
          if (hour < first !== isComplete || hour > newestHour(now, timetable)) continue;
          const sum = sums.get(hour)!;
          sum[0] += clicks;
          sum[1] += impressions;
        }
      }
    }
    const rows = [...sums].filter(([, [, impressions]]) => impressions > 0);
    return rows.map(([start, [clicks, impressions]]) => ({ hour: hourText(start), clicks, impressions }));
  });
}

/** The hours of the API that have any impression. */
async function stored(world: SyncWorld, from: Day, to: Day): Promise<Row[]> {
  const { hours } = (await world.ask(`/hours?from=${from}&to=${to}`)).body as { hours: Row[] };
  return hours
    .filter(({ impressions }) => Number(impressions) > 0)
    .map(({ hour, clicks, impressions }) => ({ hour, clicks, impressions }));
}

const asked = (world: SyncWorld) =>
  world.provider.asked().filter(({ request }) => request.dimensions.join() === 'hour');

t.test(
  'ten days of hours, the day of 23 included; what is provisional is replaced, complete days are not asked again',
  async (t) => {
    const world = await syncWorld(t, SMALL);
    t.match(await world.sync(), { outcome: 'done' });
    t.match(
      asked(world).map(({ request: { from, to, dataState } }) => ({ from, to, dataState })),
      [{ from: '2026-03-06', to: '2026-03-15', dataState: 'hourly_all' }],
    );
    const first = await stored(world, '2026-03-06', '2026-03-15');
    t.strictSame(first, expected(world, '2026-03-06', '2026-03-15'));
    t.ok(first.length > 200);
    t.equal(first.filter(({ hour }) => String(hour).startsWith('2026-03-08T02')).length, 0);
    const { range } = (await world.ask('/hours')).body;
    t.equal(range.provisionalAfter, '2026-03-14T05:00:00-07:00', 'the hour before the first incomplete one');

    const { factsRevision } = await world.project();
    await world.sync();
    t.equal((await world.project()).factsRevision, factsRevision, 'nothing changed, so nothing is published');

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
      t.strictSame(
        await stored(world, '2026-03-06', today),
        expected(world, '2026-03-06', today),
        `${hours} hours later`,
      );
      t.equal(asked(world).length, 1);
      t.equal(asked(world)[0]!.request.from, from, 'each day until it is complete');
    }
    t.ok((await world.project()).factsRevision > factsRevision);
  },
);

t.test('days that the provider has dropped stay; those that were missed are unknown, not zero', async (t) => {
  const world = await syncWorld(t, SMALL);
  await world.sync();
  const before = await stored(world, '2026-03-06', '2026-03-13');
  world.clock += 20 * 24 * HOUR;
  await world.sync();
  t.strictSame(await stored(world, '2026-03-06', '2026-03-13'), before);
  const { hours } = (await world.ask('/hours?from=2026-03-06&to=2026-04-04')).body as { hours: Row[] };
  const days = new Set(hours.map(({ hour }) => String(hour).slice(0, 10)));
  t.ok(days.has('2026-03-15') && days.has('2026-03-26'));
  for (const day of eachDay('2026-03-16', '2026-03-25')) t.notOk(days.has(day), day);
});

t.test('only every few hours, and of the country of the project', async (t) => {
  const world = await syncWorld(t, { ...SMALL, project: { country: 'usa' } });
  await world.sync();
  t.strictSame(await stored(world, '2026-03-06', '2026-03-15'), expected(world, '2026-03-06', '2026-03-15', 'usa'));
  world.provider.forget();
  world.clock += 2 * HOUR;
  await world.sync({ staleAfter: 4 * HOUR });
  t.equal(asked(world).length, 0);
  world.clock += 3 * HOUR;
  await world.sync({ staleAfter: 4 * HOUR });
  t.equal(asked(world).length, 1);
});

t.test('hours that the provider answers wrongly stop no other table, and are asked again later', async (t) => {
  const world = await syncWorld(t, SMALL);
  const isHours = ({ request }: { request?: { dimensions: readonly string[] } }) => request?.dimensions[0] === 'hour';
  const rows = [{ keys: ['2026-03-14T05:30:00-07:00'], clicks: 1, impressions: 1, ctr: 1, position: 1 }];
  world.provider.fail({ status: 200, body: { rows } }, { which: isHours });
  t.match(await world.sync(), { outcome: 'table-failed', reason: /site_hourly/ });
  t.match(await world.project(), { syncStatus: 'warning', syncedThrough: '2026-03-15' });
  t.strictSame(await stored(world, '2026-03-06', '2026-03-15'), []);
  world.provider.heal();
  world.provider.forget();
  await world.sync();
  t.equal(asked(world).length, 0, 'not before its pause ends');
  world.clock += 2 * HOUR;
  t.match(await world.sync(), { outcome: 'done' });
  t.strictSame(await stored(world, '2026-03-06', '2026-03-15'), expected(world, '2026-03-06', '2026-03-15'));
});

t.test('clicks that stop are an alert after the next sync', async (t) => {
  const world = await syncWorld(t, SMALL);
  const isHours = ({ request }: { request?: { dimensions: readonly string[] } }) => request?.dimensions[0] === 'hour';
  /** Twenty clicks an hour, for the ten days that the provider keeps, until they stop. */
  const sync = async (stop = Number.POSITIVE_INFINITY): Promise<void> => {
    const complete = Math.floor(world.clock / HOUR) * HOUR - 3 * HOUR;
    const today = pacificDayOf(world.clock);
    const rows = eachDay(addDays(today, -9), today)
      .flatMap(hoursOf)
      .filter((start) => start < Math.min(complete, stop))
      .map((start) => ({ keys: [hourText(start)], clicks: 20, impressions: 100, ctr: 0.2, position: 2 }));
    const body = { rows, metadata: { firstIncompleteHour: hourText(complete) } };
    world.provider.heal();
    world.provider.fail({ status: 200, body }, { which: isHours });
    t.match(await world.sync(), { outcome: 'done' });
  };
  const evaluated = async (): Promise<Row[]> => {
    t.strictSame(await listProjectsToEvaluate(world.catalog), ['Proj1'], 'there is something to evaluate');
    const { opened } = (await evaluate(world, { now: () => world.clock }))!;
    return opened.filter(({ type }) => type === 'hourly_stop') as unknown as Row[];
  };
  for (let days = 0; days < 5; days++) {
    await sync();
    world.clock += 8 * 24 * HOUR;
  }
  const stop = world.clock - 6 * HOUR;
  await sync(stop);
  t.strictSame(await evaluated(), [], 'three hours are not enough');
  world.clock += 6 * HOUR;
  await sync(stop);
  t.match(await evaluated(), [{ title: 'Clicks have stopped: 0 in 6 hours, against 120', severity: 'critical' }]);
});

t.test('an exhausted quota ends the run before days too, and hours that were stored stay', async (t) => {
  const world = await syncWorld(t, SMALL);
  await world.sync();
  const before = await stored(world, '2026-03-06', '2026-03-13');
  world.clock += 7 * HOUR;
  const error = { domain: 'usageLimits', reason: 'quotaExceeded', message: 'Load quota' };
  world.provider.fail({ status: 403, body: { error: { code: 403, message: 'Load quota', errors: [error] } } });
  t.match(await world.sync(), { outcome: 'quota' });
  t.strictSame(await stored(world, '2026-03-06', '2026-03-13'), before);
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
  const isHours = ({ request }: { request?: { dimensions: readonly string[] } }) => request?.dimensions[0] === 'hour';
  for (const [from, firstIncompleteHour] of [
    ['2026-03-06', '2026-03-14T22:00:00-07:00'],
    ['2026-03-14', '2026-03-14T23:00:00-07:00'],
    ['2026-03-14', '2026-03-15T00:00:00-07:00'],
    ['2026-03-15', '2026-03-15T00:00:00-07:00'],
  ]) {
    const rows = [{ keys: ['2026-03-14T12:00:00-07:00'], clicks: 1, impressions: 2, ctr: 0.5, position: 1 }];
    world.provider.heal();
    world.provider.fail({ status: 200, body: { rows, metadata: { firstIncompleteHour } } }, { which: isHours });
    world.provider.forget();
    t.match(await world.sync(), { outcome: 'done' });
    t.strictSame(
      asked(world).map(({ request }) => request.from),
      [from],
    );
  }
});
