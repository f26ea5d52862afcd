import { addDays, countDays, type Day, daysInMonth, earlier, monthOf } from './dates.ts';
import type { Range } from './range.ts';

/** The intervals of a series. */
export const INTERVALS = ['day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

/** A part of a range; `first` and `last` count days from the start of the range. */
export interface Bucket extends Range {
  readonly first: number;
  readonly last: number;
}

/** The number of days of a week or month in the range, up to the last one with data. */
export function daysUntil({ from, to }: Bucket, lastDay: Day): number {
  return Math.max(0, countDays(from, earlier(to, lastDay)));
}

/** The days, weeks (from Monday) or months of a range, in order. The first and last have only days in the range. */
export function bucketsOf(range: Range, interval: Interval): Bucket[] {
  const buckets: Bucket[] = [];
  const days = countDays(range.from, range.to);
  // Counts days, because the day after 9999-12-31 has no name.
  for (let first = 0; first < days; first = buckets.at(-1)!.last + 1) {
    const from = addDays(range.from, first);
    const last = Math.min(first + daysLeft(from, interval), days - 1);
    buckets.push({ from, to: addDays(range.from, last), first, last });
  }
  return buckets;
}

/** The number of days that follow a day in its interval. */
function daysLeft(day: Day, interval: Interval): number {
  if (interval === 'day') return 0;
  if (interval === 'month') return daysInMonth(monthOf(day)) - Number(day.slice(8));
  // Sunday is 0.
  return (7 - new Date(day).getUTCDay()) % 7;
}
