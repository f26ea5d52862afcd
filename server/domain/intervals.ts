import { addDays, countDays, type Day, daysInMonth, monthOf } from './dates.ts';
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
  const days = countDays(range.from, range.to);
  // By number and not by day: the day after 9999-12-31 has no name.
  for (let first = 0; first < days; first = buckets.at(-1)!.last + 1) {
    const from = addDays(range.from, first);
    const last = Math.min(first + daysLeft(from, interval), days - 1);
    buckets.push({ from, to: addDays(range.from, last), first, last });
  }
  return buckets;
}

/** How many days of its interval follow a day. */
function daysLeft(day: Day, interval: Interval): number {
  if (interval === 'day') return 0;
  if (interval === 'month') return daysInMonth(monthOf(day)) - Number(day.slice(8));
  // Sunday is 0.
  return (7 - new Date(day).getUTCDay()) % 7;
}
