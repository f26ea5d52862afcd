import { addDays, type Day, lastDayOf, monthOf, monthsEarlier } from './dates.ts';
import { HOUR } from './hours.ts';
import type { Range } from './range.ts';

export const DIGEST_PERIODS = ['week', 'month'] as const;
export type DigestPeriod = (typeof DIGEST_PERIODS)[number];

/** The last Monday to Sunday, or calendar month, before a day. */
export function digestRange(period: DigestPeriod, asOf: Day): Range {
  if (period === 'month') {
    const month = monthOf(monthsEarlier(asOf, 1));
    return { from: `${month}-01`, to: lastDayOf(month) };
  }
  // Sunday is 0.
  const weekday = new Date(asOf).getUTCDay();
  const to = addDays(asOf, weekday === 0 ? -7 : -weekday);
  return { from: addDays(to, -6), to };
}

/** Hour of the day (UTC) from which digests are sent. */
const FROM_HOUR = 6;
/** Days that a digest waits for days that are provisional. */
const WAIT_DAYS = 3;
/** Days after which a digest is no longer news. */
const MAX_LATE_DAYS = 7;

/** When a digest is sent: at `due` if its days are final, at `latest` in any case, no longer at `end`. In milliseconds. */
export function digestTimes({ to }: Range): { readonly due: number; readonly latest: number; readonly end: number } {
  const after = (days: number): number => Date.parse(addDays(to, days)) + FROM_HOUR * HOUR;
  return { due: after(1), latest: after(1 + WAIT_DAYS), end: after(1 + MAX_LATE_DAYS) };
}
