// Days and months follow the calendar, and days of the search engine follow Pacific time.
import fc from 'fast-check';
import t from 'tap';
import * as dates from '../../server/domain/dates.ts';
import { within } from '../../server/domain/range.ts';

const DAY = 86_400_000;
const at = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const text = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Days of realistic years. */
const days = fc.integer({ min: at('1990-01-01') / DAY, max: at('2100-12-31') / DAY }).map((n) => text(n * DAY));

t.test('a day is valid if it is on the calendar of Date', async () => {
  const number = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 9999 }), number, number, (y, m, d) => {
      const pad = (n: number): string => String(n).padStart(2, '0');
      const written = `${y}-${pad(m)}-${pad(d)}`;
      const date = new Date(Date.UTC(y, m - 1, d));
      const isReal = date.getUTCMonth() === m - 1 && date.getUTCDate() === d;
      return dates.parseDay(written) === (isReal ? written : undefined);
    }),
    { numRuns: 500 },
  );
  fc.assert(fc.property(fc.string(), (any) => [any, undefined].includes(dates.parseDay(any))));
});

t.test('adding and counting days, and each of them', async () => {
  fc.assert(
    fc.property(days, fc.integer({ min: -1000, max: 1000 }), (day, n) => {
      const other = dates.addDays(day, n);
      return other === text(at(day) + n * DAY) && dates.countDays(day, other) === n + 1;
    }),
  );
  fc.assert(
    fc.property(days, fc.integer({ min: -3, max: 500 }), (day, n) => {
      const each = dates.eachDay(day, dates.addDays(day, n));
      return each.length === Math.max(0, n + 1) && each.every((one, index) => one === dates.addDays(day, index));
    }),
  );
});

t.test('months: their days, their order, and the same day some months earlier', async () => {
  fc.assert(
    fc.property(days, fc.integer({ min: 0, max: 40 }), (day, n) => {
      const to = dates.addDays(day, n * 30);
      const months = dates.eachMonth(day, to);
      const expected = [...new Set(dates.eachDay(day, to).map(dates.monthOf))];
      return months.join() === expected.join();
    }),
    { numRuns: 50 },
  );
  fc.assert(
    fc.property(days, (day) => {
      const month = dates.monthOf(day);
      const last = dates.lastDayOf(month);
      return (
        dates.monthOf(last) === month &&
        dates.monthOf(dates.addDays(last, 1)) !== month &&
        last === `${month}-${dates.daysInMonth(month)}`
      );
    }),
  );
  fc.assert(
    fc.property(days, fc.integer({ min: 1, max: 30 }), (day, n) => {
      const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
      const first = new Date(Date.UTC(year, month - 1 - n, 1)).toISOString().slice(0, 7);
      const expected = `${first}-${String(Math.min(date, dates.daysInMonth(first))).padStart(2, '0')}`;
      return dates.monthsEarlier(day, n) === expected;
    }),
  );
});

t.test('earlier and later', async () => {
  fc.assert(
    fc.property(days, days, (a, b) => {
      const [first, last] = at(a) <= at(b) ? [a, b] : [b, a];
      return dates.earlier(a, b) === first && dates.later(a, b) === last;
    }),
  );
});

t.test('the part of a range between two days', async () => {
  fc.assert(
    fc.property(days, fc.nat(60), fc.integer({ min: -60, max: 60 }), fc.nat(60), (from, length, shift, span) => {
      const range = { from, to: dates.addDays(from, length) };
      const first = dates.addDays(from, shift);
      const last = dates.addDays(first, span);
      const both = dates.eachDay(range.from, range.to).filter((day) => day >= first && day <= last);
      const part = within(range, first, last);
      return part === null ? both.length === 0 : dates.eachDay(part.from, part.to).join() === both.join();
    }),
  );
});

t.test('the search engine counts Pacific days, in winter and in summer', async (t) => {
  t.equal(dates.pacificDayOf(Date.parse('2026-01-15T07:59:59.999Z')), '2026-01-14');
  t.equal(dates.pacificDayOf(Date.parse('2026-01-15T08:00:00.000Z')), '2026-01-15');
  t.equal(dates.pacificDayOf(Date.parse('2026-07-15T06:59:59.999Z')), '2026-07-14');
  t.equal(dates.pacificDayOf(Date.parse('2026-07-15T07:00:00.000Z')), '2026-07-15');
  t.equal(
    dates.pacificDayOf(Date.parse('2026-07-15T06:59:59.999Z') + 0.5),
    '2026-07-14',
    'clocks may have parts of milliseconds',
  );
});
