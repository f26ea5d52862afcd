import { addDays, countDays, earlier, lastDayOf, monthOf } from './dates.ts';
import type { Range } from './range.ts';

/** What the days of a series are added up to. */
export const INTERVALS = ['day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

/** A part of a range, with its first and last day counted from the range's first one. */
export interface Bucket extends Range {
  readonly first: number;
  readonly last: number;
}

/** The days, weeks (from Monday) or months of a range, in order. Those at its ends have only the days in the range. */
export function bucketsOf(range: Range, interval: Interval): Bucket[] {
  const buckets: Bucket[] = [];
  for (let from = range.from, first = 0; from <= range.to; ) {
    const to = earlier(lastDay(from, interval), range.to);
    const last = first + countDays(from, to) - 1;
    buckets.push({ from, to, first, last });
    from = addDays(to, 1);
    first = last + 1;
  }
  return buckets;
}

/** The last day of the interval that a day is in. */
function lastDay(day: string, interval: Interval): string {
  if (interval === 'day') return day;
  if (interval === 'month') return lastDayOf(monthOf(day));
  // Sunday is 0.
  return addDays(day, (7 - new Date(day).getUTCDay()) % 7);
}
