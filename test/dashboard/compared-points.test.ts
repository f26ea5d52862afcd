// What a chart draws beneath its line: the compared days in their places, under their own names, or nothing.
import t from 'tap';
import type { DailyMetrics } from '../../server/dashboard/client/lib/types.ts';
import { comparedPointsOf } from '../../server/dashboard/client/parts/points.ts';

const metrics = (clicks: number) => ({ clicks, impressions: 100, ctr: null, position: null });
/** The rows of a series by their first days, with the clicks of the days beside them. */
const series = (
  [from, to]: readonly [string, string],
  [first, last]: readonly [string, string],
  rows: Readonly<Record<string, number | null>>,
) => ({
  range: { from, to, comparison: { from: first, to: last } },
  daily: Object.entries(rows).map(
    ([date, clicks]): DailyMetrics => ({
      ...{ date, ...metrics(1), comparison: clicks === null ? null : metrics(clicks), change: null },
      unsafe: clicks === null ? { clicks: ['missing_days'] } : {},
    }),
  ),
});

t.test('a day of a month lies over that of the month before, and the 31st over nothing', async (t) => {
  const answer = series(['2026-10-01', '2026-10-31'], ['2026-09-01', '2026-09-30'], {
    '2026-10-30': 7,
    '2026-10-31': null,
  });
  const points = comparedPointsOf(answer, 'clicks')!;
  t.equal(points.length, 31);
  t.strictSame(points.slice(28), [
    { date: '2026-09-29', to: '2026-09-29', value: null },
    { date: '2026-09-30', to: '2026-09-30', value: 7 },
    undefined,
  ]);
});

t.test('months lie over months, and a week names its days where they do not follow each other', async (t) => {
  const [now, base] = [
    ['2025-02-01', '2025-03-31'],
    ['2025-01-01', '2025-02-28'],
  ] as const;
  t.strictSame(comparedPointsOf(series(now, base, { '2025-02-01': 31, '2025-03-01': 28 }), 'clicks', 'month'), [
    { date: '2025-01-01', to: '2025-01-31', value: 31 },
    { date: '2025-02-01', to: '2025-02-28', value: 28 },
  ]);
  const weeks = comparedPointsOf(series(now, base, { '2025-02-24': 7 }), 'clicks', 'week')!;
  const pieces = [
    { from: '2025-01-24', to: '2025-01-28' },
    { from: '2025-02-01', to: '2025-02-02' },
  ];
  t.strictSame(weeks[4], { date: '2025-01-24', to: '2025-02-02', pieces, value: 7 });
});

t.test('other ranges lie over each other on the same weekdays only', async (t) => {
  const now = ['2026-10-05', '2026-10-11'] as const;
  t.equal(comparedPointsOf(series(now, ['2026-09-28', '2026-10-04'], {}), 'clicks')?.length, 7);
  t.equal(comparedPointsOf(series(now, ['2026-09-27', '2026-10-03'], {}), 'clicks'), undefined);
});
