// One rule says which days are compared with which: months with months, weekdays with weekdays.
import fc from 'fast-check';
import t from 'tap';
import { liesBeside, monthsMoved, previousDays, previousWeeks, yearBefore } from '../../server/domain/compared-days.ts';
import { addDays, countDays } from '../../server/domain/dates.ts';

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

t.test('days lie beside each other on the same weekdays, or by day of the month', async () => {
  t.ok(liesBeside(OCTOBER, SEPTEMBER));
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
