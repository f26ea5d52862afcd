import { STALE_AFTER_DAYS } from '../model/surfaces.ts';
import { addDays, countDays, type Day, later, pacificDayOf } from './dates.ts';
import type { Microseconds } from './instants.ts';

/** Final data of the search engine trails by two to three days. */
const PROVISIONAL_DAYS = 3;
/** How long a report of the provider is valid, in milliseconds. */
const REPORT_VALID_MS = 7 * 86_400_000;

/** The newest day that is certainly final on a day (Pacific), if the provider does not report it. */
export function settledDay(today: Day): Day {
  return addDays(today, -PROVISIONAL_DAYS);
}

/**
 * The last final day at the provider. A recent report takes precedence, because delays can be longer than usual.
 * @param provisionalAfter the last final day that the provider reported; `now` in milliseconds
 */
export function lastFinalDay(provisionalAfter: Day | null, lastSyncedAt: Microseconds | null, now: number): Day {
  const settled = settledDay(pacificDayOf(now));
  if (provisionalAfter === null) return settled;
  const reportedAt = Math.max((lastSyncedAt ?? 0) / 1000, Date.parse(provisionalAfter));
  return now - reportedAt <= REPORT_VALID_MS ? provisionalAfter : later(provisionalAfter, settled);
}

/** Whether a surface has reported no day for so long that its data is stale. @param last its newest day */
export function isStale(last: Day, today: Day): boolean {
  return countDays(last, today) - 1 > STALE_AFTER_DAYS;
}
