// Clicks of hours are compared with those that the clock called the same.
// Which alerts that gives: test/fixtures/alerts.txt.
import fc from 'fast-check';
import t from 'tap';
import { HourlyClicks } from '../../server/alerts/hours.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../../server/domain/dates.ts';
import { hoursOf } from '../../server/domain/hours.ts';

const HOUR = 3_600_000;
const format = new Intl.DateTimeFormat('en', { timeZone: 'America/Los_Angeles', hour: '2-digit', hourCycle: 'h23' });
const known = new Map<number, string>();
const clock = (start: number): string => known.getOrInsertComputed(start, () => format.format(start));
const weeksBefore = (start: number): Day[] => [7, 14, 21, 28].map((days) => addDays(pacificDayOf(start), -days));

t.test('six hours beside the averages of the same hours of four weeks, also where clocks change', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom('2026-03-05', '2026-03-25', '2026-10-30', '2026-11-20', '2026-07-01'),
      fc.infiniteStream(fc.nat(60)),
      fc.array(fc.nat(40), { maxLength: 2 }),
      fc.nat(30),
      (last, values, missing, cut) => {
        const range = { from: addDays(last, -40), to: addDays(last, 3) };
        const stored = new Set(eachDay(range.from, range.to).filter((_, at) => !missing.includes(at)));
        const all = [...stored].flatMap(hoursOf);
        const clicks = new Map(all.map((start) => [start, values.next().value as number]));
        const until = all.at(-1)! - cut * HOUR;
        const rows = all.map((start) => ({
          ...{ hour: start * 1000, impressions: 1, sumPosition: 0 },
          clicks: clicks.get(start)!,
        }));
        const sums = new HourlyClicks(range, { rows, stored, until });
        return hoursOf(last).every((hour) => {
          let [found, usual, isKnown] = [0, 0, true];
          for (let start = hour - 5 * HOUR; start <= hour; start += HOUR) {
            const weeks = weeksBefore(start);
            isKnown &&= start < until && [pacificDayOf(start), ...weeks].every((day) => stored.has(day));
            found += clicks.get(start) ?? 0;
            const same = weeks.flatMap(hoursOf).filter((each) => clock(each) === clock(start));
            if (same.length > 0) usual += same.reduce((sum, each) => sum + (clicks.get(each) ?? 0), 0) / same.length;
          }
          const stop = sums.stopAt(hour);
          if (stop === undefined) return !isKnown;
          const isNear = Math.abs(found - 0.2 * usual) < 1e-6;
          const opens = isNear ? stop.opens : usual >= 30 && found < 0.2 * usual;
          return isKnown && stop.clicks === found && Math.abs(stop.usual - usual) < 1e-6 && stop.opens === opens;
        });
      },
    ),
    { numRuns: 40 },
  );
  t.end();
});
