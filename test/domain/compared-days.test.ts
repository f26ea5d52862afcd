// One rule says which days are compared with which: months with months, weekdays with weekdays.
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
