// The hours endpoint gives each stored hour in Pacific time, also on days of 23 and 25 hours.
import t from 'tap';
import { filesOf } from '../../server/catalog/manifest.ts';
import { putSyncDays, type SyncDay } from '../../server/catalog/sync-days.ts';
import { NEVER_SYNCED, putHoursUntil, putSyncProject } from '../../server/catalog/sync-projects.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { hoursOf, hourText } from '../../server/domain/hours.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { facts, makeWorld, NOW, PROJECT, type Row, refusedFor } from '../world.ts';

/** 23 hours, and 25. */
const [SHORT, LONG] = ['2026-03-08', '2025-11-02'];

/** A row for each hour of a day, of which `number` is the first click. */
function hoursOfDay(day: string, number = 1, count = 25): (string | number)[][] {
  return hoursOf(day)
    .slice(0, count)
    .map((start, index) => [day, new Date(start).toISOString(), number + index, 10 * (number + index), 5]);
}

const site_hourly = facts(
  'date hour',
  ...hoursOfDay(LONG),
  ...hoursOfDay('2026-03-07', 100).filter((_, index) => index !== 5),
  ...hoursOfDay(SHORT, 200),
  // of a day that is not over
  ...hoursOfDay('2026-03-10', 300, 6),
);

const world = await makeWorld(t, {
  projects: [PROJECT, { ...PROJECT, id: 'Empty' }],
  site_daily: facts('date device', [SHORT, 'mobile', 7, 70, 0]),
  site_hourly,
});

const ask = async (query: string) => (await world.ask(`/hours?${query}`)).body as { range: Row; hours: Row[] };

t.test('days of 23 and 25 hours, each hour once, with its offset', async (t) => {
  const short = await ask(`from=${SHORT}&to=${SHORT}`);
  t.equal(short.hours.length, 23);
  t.strictSame(
    short.hours.slice(1, 3).map(({ hour }) => hour),
    ['2026-03-08T01:00:00-08:00', '2026-03-08T03:00:00-07:00'],
  );
  t.strictSame(short.hours[0], {
    hour: '2026-03-08T00:00:00-08:00',
    clicks: 200,
    impressions: 2000,
    ctr: 0.1,
    position: 1,
  });
  const long = await ask(`from=${LONG}&to=${LONG}`);
  t.equal(long.hours.length, 25);
  t.strictSame(
    long.hours.slice(0, 3).map(({ hour, clicks }) => [hour, clicks]),
    [
      ['2025-11-02T00:00:00-07:00', 1],
      ['2025-11-02T01:00:00-07:00', 2],
      ['2025-11-02T01:00:00-08:00', 3],
    ],
  );
  t.match(long.range, { from: '2025-11-02T00:00:00-07:00', to: '2025-11-02T23:00:00-08:00' });
});

t.test('an hour without a row is zeros on a stored day; other days, and hours to come, are left out', async (t) => {
  const { hours, range } = await ask('from=2026-03-06&to=2026-03-10');
  const days = Map.groupBy(hours, ({ hour }) => String(hour).slice(0, 10));
  t.strictSame(
    [...days].map(([day, rows]) => [day, rows.length]),
    [
      ['2026-03-07', 24],
      [SHORT, 23],
      ['2026-03-10', 6],
    ],
  );
  t.match(days.get('2026-03-07')![5], { clicks: 0, impressions: 0, ctr: null, position: null });
  t.equal(range['provisionalAfter'], '2026-03-07T23:00:00-08:00', 'hours of final days are final');
  t.equal((await world.get('/projects/Empty/hours')).body.hours.length, 0);
});

t.test('instants are the limits of hours, in any offset', async (t) => {
  const at = async (from: string, to: string) =>
    (await ask(`from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`)).hours.map(({ clicks }) => clicks);
  t.strictSame(await at('2026-03-08T01:00:00-08:00', '2026-03-08T03:00:00-07:00'), [201, 202]);
  t.strictSame(await at('2026-03-08T09:00:00Z', '2026-03-08T11:59:59+01:00'), [201, 202]);
  t.strictSame(await at('2026-03-08T09:00:01Z', '2026-03-08T10:00Z'), [202]);
  t.strictSame(await at('2026-03-08T22:00:00-07:00', SHORT), [221, 222]);
});

t.test('the newest week by default, at most 62 days a question', async (t) => {
  t.match((await ask('')).range, { from: '2026-03-09T00:00:00-07:00', to: '2026-03-15T23:00:00-07:00' });
  t.match((await ask('to=2026-03-08')).range, { from: '2026-03-02T00:00:00-08:00' });
  t.match((await ask('from=2026-01-08&to=2026-03-10')).range, { from: '2026-01-08T00:00:00-08:00' });
  refusedFor(t, await world.ask('/hours?from=2026-01-07&to=2026-03-10'), '62 days');
  refusedFor(t, await world.ask('/hours?from=2026-03-09&to=2026-03-08'), 'from');
  const within = await world.ask('/hours?from=2026-03-09T07:30:00Z&to=2026-03-09T07:59:00Z');
  t.match(within.body.error, { message: /no first minute of an hour/ });
  for (const wrong of [
    '2026-03',
    '2026-03-08T07',
    '2026-03-08T07:00:00',
    '2026-02-30',
    '2026-02-30T07:00:00Z',
    'today',
  ]) {
    refusedFor(t, await world.ask(`/hours?from=${wrong}`), 'from must be');
    refusedFor(t, await world.ask(`/hours?to=${wrong}`), 'to must be');
  }
});

t.test('hours do not change any answer about days', async (t) => {
  const { body } = await world.ask(`/site?from=${SHORT}&to=${SHORT}`);
  t.match(body.totals, { clicks: 7, impressions: 70 });
});

t.test('the last final hour is what the sync knows; days that it found empty are zeros', async (t) => {
  const other = await makeWorld(t, { projects: [PROJECT], site_hourly });
  await putSyncProject(other.catalog, 'Proj1', NEVER_SYNCED);
  const [until] = hoursOf('2026-03-09').slice(4);
  await putHoursUntil(other.catalog, 'Proj1', until! * 1000);
  const day = { table: 'site_hourly', state: 'empty', final: true, cutOff: false, rows: 0, clicks: 0 } as const;
  const rest = {
    impressions: 0,
    digest: '',
    compared: 0,
    fetchedAt: NOW * 1000,
    attempts: 0,
    reason: null,
    nextTry: null,
  };
  const days: SyncDay[] = [{ ...day, ...rest, day: '2026-03-06' }];
  await putSyncDays(other.catalog, 'Proj1', days);
  const { body } = await other.ask('/hours?from=2026-03-06&to=2026-03-06');
  t.equal(body.range.provisionalAfter, hourText(until! - 3_600_000));
  t.strictSame(new Set(body.hours.map(({ clicks }: Row) => clicks)), new Set([0]));
  t.equal(body.hours.length, 24);
});

t.test('hours of another day, or within an hour, are rejected with the table and column', async (t) => {
  const wrong: Row[] = facts(
    'date hour',
    ['2026-03-01', '2026-03-01T08:30:00Z', 1, 1, 0],
    ['2026-03-02', '2026-03-01T08:00:00Z', 1, 1, 0],
    [addDays(SHORT, 1), '2026-03-10T08:00:00Z', 1, 1, 0],
  );
  const load = world.load({ site_hourly: wrong });
  await t.rejects(load, /site_hourly\.hour.*not the start of an hour of that Pacific day/s);
});

t.test('a year of hours of a large property takes less than 2 MB', async (t) => {
  const random = (index: number, most: number): number => (Math.imul(index + 1, 2_654_435_761) >>> 0) % most;
  const rows = eachDay('2025-01-01', '2025-12-31').flatMap((day) =>
    hoursOf(day).map((start): (string | number)[] => {
      const index = start / 3_600_000;
      const impressions = 500_000 + random(index, 1_000_000);
      return [
        day,
        new Date(start).toISOString(),
        random(index + 7, 90_000),
        impressions,
        impressions * 9 + random(index, 9999),
      ];
    }),
  );
  t.equal(rows.length, 8760);
  const other = await makeWorld(t, { projects: [PROJECT], site_hourly: facts('date hour', ...rows) });
  const files = await filesOf(other.catalog, 'Proj1', 'site_hourly', EVERY_DAY);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  t.equal(files.length, 12);
  t.comment(`${bytes} bytes`);
  t.ok(bytes < 2_000_000, `${bytes} bytes`);
});
