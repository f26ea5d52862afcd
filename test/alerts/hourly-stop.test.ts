// An alert opens when clicks stop for hours, by the same hours of the weeks before, and resolves when they are back.
import fc from 'fast-check';
import t from 'tap';
import { HourlyClicks } from '../../server/alerts/hourly-stop.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../../server/domain/dates.ts';
import { hoursOf, startOfPacificDay } from '../../server/domain/hours.ts';
import type { Row } from '../world.ts';
import { evaluate, factsOf, LAST, makeAlertWorld, projectUntil } from './world.ts';

const HOUR = 3_600_000;
const DAILY = factsOf(100, 109).site_daily;

type ClicksAt = (start: number, hour: number) => number;

/** Rows of `site_hourly`. Hours without clicks have none. */
function hourly(from: Day, to: Day, clicksAt: ClicksAt): Row[] {
  return eachDay(from, to).flatMap((date) =>
    hoursOf(date).flatMap((start, hour) => {
      const clicks = clicksAt(start, hour);
      if (clicks === 0) return [];
      const row = { project_id: 'Proj1', date, hour: new Date(start).toISOString() };
      return [{ ...row, clicks, impressions: 10 * clicks, sum_position: 0 }];
    }),
  );
}

/** An hour of the last stored day or, negative, before it. */
const at = (hour: number): number => startOfPacificDay(LAST) + hour * HOUR;

/** Ten clicks an hour; in some hours none but one at noon, so that each day has a row. */
const withoutHours = (...stops: readonly (readonly [from: number, to: number])[]): Row[] =>
  hourly(addDays(LAST, -70), LAST, (start, hour) => {
    if (!stops.some(([from, to]) => start >= at(from) && start < at(to))) return 10;
    return hour === 12 ? 1 : 0;
  });

async function alertsOf(rows: readonly Row[], more: Readonly<Record<string, readonly Row[]>> = {}) {
  const world = await makeAlertWorld(t, { site_daily: DAILY, site_hourly: rows, ...more });
  const { alerts } = (await evaluate(world))!;
  return { world, alerts: alerts.filter(({ type }) => type === 'hourly_stop') };
}

t.test('it opens on the second hour under a fifth of the usual ones, and resolves at half of them', async (t) => {
  const note = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a11', project_id: 'Proj1', scope: 'project', author: 'Ann' };
  const times = { workspace_id: 'acme', created_at: '2026-08-18T00:00:00Z', updated_at: '2026-08-18T00:00:00Z' };
  const { alerts, world } = await alertsOf(withoutHours([0, 9]), {
    notes: [{ ...note, ...times, date: LAST, category: 'technical', text: 'New server.', client_visible: false }],
  });
  t.match(alerts, [
    {
      ...{ type: 'hourly_stop', subject: 'site', severity: 'critical', date: LAST, resolvedOn: LAST },
      title: 'Clicks have stopped: 0 in 6 hours, against 60',
      body: /^From 2026-08-18 00:00 to 2026-08-18 06:00, Pacific time, the site had 0 clicks\. The same hours of the four weeks before had 60 on average\. Noted \(technical, 2026-08-18\): New server\. Resolved on 2026-08-18: 67% of the usual clicks are back\.$/,
    },
  ]);
  t.equal(alerts.length, 1);
  const { body } = await world.ask('/alerts?status=all');
  t.match(
    body.alerts.filter((alert: Row) => alert['type'] === 'hourly_stop'),
    [{ kind: 'Clicks stopped', date: LAST }],
  );
});

t.test('shorter stops, few clicks and missing days say nothing', async (t) => {
  t.same((await alertsOf(withoutHours([0, 4]))).alerts, [], 'a third of the clicks is left');
  const few = hourly(addDays(LAST, -70), LAST, (start) => (start >= at(0) ? 0 : 4));
  t.same((await alertsOf(few)).alerts, [], '24 clicks are usual');
  const stop = withoutHours([0, 12]);
  const without = (day: Day): Row[] => stop.filter(({ date }) => date !== day);
  t.same((await alertsOf(without(addDays(LAST, -14)))).alerts, [], 'a week before is missing');
  t.equal((await alertsOf(without(addDays(LAST, -15)))).alerts.length, 1, 'a day that nothing is compared with');
  // With hours of that day, it would open.
  t.same((await alertsOf(withoutHours([-4, 0]).filter(({ date }) => date !== LAST))).alerts, [], 'an unknown day');
});

t.test('usual hours count one after the other: those that are unknown in between begin the count again', async (t) => {
  // The last window of a day is half of the usual one; the day after it is not known, and then there are 67 % and 83 %.
  const rows = withoutHours([-48, -27], [0, 2]).filter(({ date }) => date !== addDays(LAST, -15));
  t.match((await alertsOf(rows)).alerts, [
    { date: addDays(LAST, -2), resolvedOn: LAST, body: /Resolved on \S+: 83% of the usual clicks are back\.$/ },
  ]);
});

t.test('two of one day are two alerts', async (t) => {
  const { alerts, world } = await alertsOf(withoutHours([0, 7], [13, 24]));
  t.match(alerts, [
    { date: LAST, resolvedOn: LAST },
    { date: LAST, resolvedOn: null },
  ]);
  t.same((await evaluate(world))!.opened, [], 'both are found again');
});

t.test('what stays is the new level after a week, however late that is seen', async (t) => {
  const { alerts } = await alertsOf(withoutHours([-240, 24]));
  t.match(alerts, [{ date: addDays(LAST, -10), resolvedOn: addDays(LAST, -3) }]);
  t.match(alerts[0]!.body, /after 7 days this is the new level\.$/);

  const world = await makeAlertWorld(t, { site_daily: DAILY, site_hourly: withoutHours([0, 12]).slice(0, -11) });
  const until = (now: string) => evaluate(world, { now: () => Date.parse(now) });
  await until('2026-08-19T12:00:00Z');
  const months = (await until('2026-12-19T12:00:00Z'))!;
  t.same([months.opened, months.removed], [[], []]);
  t.match(months.changed, [{ type: 'hourly_stop', body: /Resolved: after 7 days this is the new level\.$/ }]);
  t.ok(months.changed[0]!.resolvedAt);
});

t.test('daily loads, with an evaluation each, give the alerts of one', async (t) => {
  const rows = withoutHours([-60, -50], [-40, -2]);
  const whole = (await alertsOf(rows)).alerts;
  const world = await makeAlertWorld(t, { site_daily: DAILY, projects: [projectUntil(addDays(LAST, -5))] });
  for (let back = 5; back >= 0; back--) {
    const day = addDays(LAST, -back);
    const now = startOfPacificDay(day) + 30 * HOUR;
    await world.load({
      projects: [projectUntil(day)],
      site_hourly: rows.filter(({ date }) => (back === 5 ? String(date) <= day : date === day)),
    });
    await evaluate(world, { now: () => now });
  }
  const { alerts } = (await evaluate(world))!;
  const stops = alerts.filter(({ type }) => type === 'hourly_stop');
  t.equal(stops.length, 2);
  t.strictSame(stops, whole);
});

t.test('hours are compared with those that the clock called the same', (t) => {
  const format = new Intl.DateTimeFormat('en', { timeZone: 'America/Los_Angeles', hour: '2-digit', hourCycle: 'h23' });
  const known = new Map<number, string>();
  const clock = (start: number): string => known.getOrInsertComputed(start, () => format.format(start));
  fc.assert(
    fc.property(
      fc.constantFrom('2026-03-05', '2026-03-25', '2026-10-30', '2026-11-20', '2026-07-01'),
      fc.infiniteStream(fc.nat(60)),
      fc.array(fc.nat(40), { maxLength: 2 }),
      fc.nat(30),
      (last, values, missing, cut) => {
        const range = { from: addDays(last, -40), to: addDays(last, 3) };
        const days = eachDay(range.from, range.to);
        const absent = new Set(missing.map((index) => days[index]!));
        const all = days.filter((day) => !absent.has(day)).flatMap(hoursOf);
        const clicks = new Map(all.map((start) => [start, values.next().value as number]));
        const until = all.at(-1)! - cut * HOUR;
        const rows = all.map((start) => ({
          hour: start * 1000,
          clicks: clicks.get(start)!,
          impressions: 1,
          sumPosition: 0,
        }));
        const stored = new Set(days.filter((day) => !absent.has(day)));
        const sums = new HourlyClicks(range, { rows, stored, until });
        for (const hour of hoursOf(last)) {
          let [found, usual] = [0, 0];
          let isKnown = true;
          for (let start = hour - 5 * HOUR; start <= hour; start += HOUR) {
            const weeks = [7, 14, 21, 28].map((days) => addDays(pacificDayOf(start), -days));
            isKnown &&= start < until && [pacificDayOf(start), ...weeks].every((day) => stored.has(day));
            found += clicks.get(start) ?? 0;
            const same = weeks.flatMap(hoursOf).filter((each) => clock(each) === clock(start));
            if (same.length > 0) usual += same.reduce((sum, each) => sum + (clicks.get(each) ?? 0), 0) / same.length;
          }
          const stop = sums.stopAt(hour);
          if (isKnown !== (stop !== undefined)) return false;
          if (stop === undefined) continue;
          if (stop.clicks !== found || Math.abs(stop.usual - usual) > 1e-6) return false;
          if (Math.abs(found - 0.2 * usual) > 1e-6 && stop.opens !== (usual >= 30 && found < 0.2 * usual)) return false;
        }
        return true;
      },
    ),
    { numRuns: 40 },
  );
  t.end();
});
