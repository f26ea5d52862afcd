// One rule says which days are compared with which: months with months, weekdays with weekdays.
import fc from 'fast-check';
import t from 'tap';
import {
  liesBeside,
  monthsMoved,
  pairingOf,
  previousDays,
  previousWeeks,
  weeksBefore,
  yearBefore,
} from '../../server/domain/compared-days.ts';
import { addDays, countDays, eachDay } from '../../server/domain/dates.ts';
import { bucketsOf } from '../../server/domain/intervals.ts';

const OCTOBER = { from: '2026-10-01', to: '2026-10-31' };
const SEPTEMBER = { from: '2026-09-01', to: '2026-09-30' };

t.test('a month is compared with the month before, several with as many', async () => {
  for (const before of [previousDays, previousWeeks]) {
    t.strictSame(before(OCTOBER), SEPTEMBER);
    t.strictSame(before({ from: '2026-01-01', to: '2026-01-31' }), { from: '2025-12-01', to: '2025-12-31' });
    t.strictSame(before({ from: '2024-03-01', to: '2024-03-31' }), { from: '2024-02-01', to: '2024-02-29' });
    t.strictSame(before({ from: '2026-07-01', to: '2026-09-30' }), { from: '2026-04-01', to: '2026-06-30' });
  }
  t.strictSame(yearBefore({ from: '2025-02-01', to: '2025-02-28' }), { from: '2024-02-01', to: '2024-02-29' });
  t.strictSame(monthsMoved(SEPTEMBER, 1), OCTOBER);
});

t.test('other ranges: as many days before, whole weeks before, 364 days before', async () => {
  const range = { from: '2026-10-01', to: '2026-10-30' };
  t.strictSame(previousDays(range), { from: '2026-09-01', to: '2026-09-30' });
  t.strictSame(previousWeeks(range), { from: '2026-08-27', to: '2026-09-25' });
  t.strictSame(yearBefore(range), { from: '2025-10-02', to: '2025-10-31' });
  t.equal(monthsMoved(range, -1), undefined);
});

t.test('weeks that are as long as a month stay weeks', async (t) => {
  const weeks = { from: '2026-02-01', to: '2026-02-28' };
  t.strictSame(weeksBefore(weeks, 'previous'), { from: '2026-01-04', to: '2026-01-31' });
  t.strictSame(weeksBefore(weeks, 'year'), { from: '2025-02-02', to: '2025-03-01' });
});

/** The days that parts of a range are compared with, as texts. */
const beside = (now: typeof OCTOBER, base: typeof OCTOBER, parts: readonly (typeof OCTOBER)[]): string[] =>
  parts.map((part) =>
    pairingOf(
      now,
      base,
    )(part)
      .map(({ from, to }) => `${from}..${to}`)
      .join(' '),
  );
const day = (date: string) => ({ from: date, to: date });

t.test(
  'in whole months, a month is compared with the one in its place, and a day with that of the same number',
  async (t) => {
    const [now, base] = [
      { from: '2026-02-01', to: '2026-04-30' },
      { from: '2025-11-01', to: '2026-01-31' },
    ];
    t.strictSame(beside(now, base, bucketsOf(now, 'month')), [
      '2025-11-01..2025-11-30',
      '2025-12-01..2025-12-31',
      '2026-01-01..2026-01-31',
    ]);
    t.strictSame(beside(now, base, ['2026-02-28', '2026-03-01', '2026-03-31', '2026-04-30'].map(day)), [
      '2025-11-28..2025-11-28',
      '2025-12-01..2025-12-01',
      '2025-12-31..2025-12-31',
      '2026-01-30..2026-01-30',
    ]);
    t.strictSame(
      beside(now, base, [{ from: '2026-02-23', to: '2026-03-01' }]),
      ['2025-11-23..2025-11-28 2025-12-01..2025-12-01'],
      'a week has the days of its days: none of those that its month lacks',
    );
    t.strictSame(beside(base, now, [{ from: '2025-11-24', to: '2025-11-30' }]), ['2026-02-24..2026-02-28']);
    t.strictSame(
      beside(base, now, [{ from: '2025-12-29', to: '2026-01-04' }]),
      ['2026-03-29..2026-04-04'],
      'in one range',
    );
    t.strictSame(beside(OCTOBER, SEPTEMBER, [day('2026-10-31'), OCTOBER]), ['', '2026-09-01..2026-09-30']);
    t.strictSame(
      beside(now, OCTOBER, bucketsOf(now, 'month')),
      ['2026-10-01..2026-10-31', '', ''],
      'of one month only',
    );
  },
);

t.test('in other ranges, days are compared by their place', async (t) => {
  const now = { from: '2026-10-01', to: '2026-11-15' };
  t.strictSame(beside(now, SEPTEMBER, [day('2026-10-30'), day('2026-10-31'), OCTOBER]), [
    '2026-09-30..2026-09-30',
    '',
    '2026-09-01..2026-09-30',
  ]);
  t.strictSame(beside(SEPTEMBER, now, [SEPTEMBER]), ['2026-10-01..2026-10-30']);
});

t.test('days lie beside each other on the same weekdays, or by day of the month', async () => {
  t.ok(liesBeside(OCTOBER, SEPTEMBER));
  const quarter = { from: '2025-10-01', to: '2025-12-31' };
  t.ok(liesBeside(quarter, previousDays(quarter)), 'December 1 is compared with September 1, not with August 31');
  const range = { from: '2026-10-01', to: '2026-10-30' };
  t.notOk(liesBeside(range, previousDays(range)));
  t.ok(liesBeside(range, previousWeeks(range)));
});

const range = fc
  .tuple(fc.integer({ min: 0, max: 9000 }), fc.integer({ min: 0, max: 485 }))
  .map(([start, length]) => ({ from: addDays('2004-01-01', start), to: addDays('2004-01-01', start + length) }));

t.test('of any range: the days before end on the day before it, and those of charts never overlap it', async () => {
  fc.assert(
    fc.property(range, (days) => {
      const [before, weeks] = [previousDays(days), previousWeeks(days)];
      const isMonths = monthsMoved(days, -1) !== undefined;
      return (
        before.to === addDays(days.from, -1) &&
        weeks.to < days.from &&
        liesBeside(days, weeks) &&
        (isMonths || countDays(before.from, before.to) === countDays(days.from, days.to))
      );
    }),
  );
});

const whole = fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 14 })).map(([start, months]) => {
  const dayOf = (month: number): string => new Date(Date.UTC(2004, month, 1)).toISOString().slice(0, 10);
  return { from: dayOf(start), to: addDays(dayOf(start + months), -1) };
});
const pairs = fc.oneof(
  fc.tuple(whole, whole),
  fc.tuple(range, range),
  fc
    .tuple(fc.oneof(whole, range), fc.constantFrom(previousDays, previousWeeks, yearBefore))
    .map(([now, baseOf]) => [now, baseOf(now)] as [typeof now, typeof now]),
);

t.test(
  'of any two ranges: a day is compared once, and drawn only on the same weekday or day of the month',
  async () => {
    fc.assert(
      fc.property(
        pairs,
        fc.constantFrom('day' as const, 'week' as const, 'month' as const),
        ([now, base], interval) => {
          const daysOf = pairingOf(now, base);
          const found = bucketsOf(now, interval).map((bucket) => daysOf(bucket));
          const days = found.flat().flatMap(({ from, to }) => eachDay(from, to));
          const isOnce = days.every(
            (one, at) => one >= base.from && one <= base.to && (at === 0 || one > days[at - 1]!),
          );
          // Ranges that follow each other are one.
          const hasGaps = found.every((ranges) =>
            ranges.every(({ from }, at) => at === 0 || from > addDays(ranges[at - 1]!.to, 1)),
          );
          const both = bucketsOf(now, 'day').flatMap((one) => daysOf(one).map(({ from }) => [one.from, from] as const));
          const isBeside =
            both.every(([a, b]) => new Date(a).getUTCDay() === new Date(b).getUTCDay()) ||
            both.every(([a, b]) => a.slice(8) === b.slice(8));
          return isOnce && hasGaps && (isBeside || !liesBeside(now, base));
        },
      ),
    );
  },
);

t.test('whole months against as many: a month has all days of the other, a day only that of its number', async () => {
  fc.assert(
    fc.property(whole, fc.constantFrom(previousDays, yearBefore), (now, baseOf) => {
      const base = baseOf(now);
      const daysOf = pairingOf(now, base);
      const months = bucketsOf(base, 'month').map(({ from, to }) => [{ from, to }]);
      const isEach = bucketsOf(now, 'month').every((month, at) => {
        const [{ from, to }] = months[at]! as [typeof base];
        const days = bucketsOf(month, 'day').flatMap((one) => daysOf(one));
        const same = eachDay(from, to).slice(0, countDays(month.from, month.to));
        return days.length === same.length && days.every((one, place) => one.from === same[place]);
      });
      return isEach && JSON.stringify(bucketsOf(now, 'month').map(daysOf)) === JSON.stringify(months);
    }),
  );
});
