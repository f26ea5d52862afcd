import type { Project } from '../catalog/projects.ts';
import { addDays, type Day, later, pacificDayOf } from '../domain/dates.ts';

/** Without word from the provider: data is final after two or three days; one more for the difference of clocks. */
const PROVISIONAL_DAYS = 4;
/** What the provider said longer ago than this is out of date, in milliseconds. */
const NEWS_VALID = 7 * 86_400_000;

type Known = Pick<Project, 'provisionalAfter' | 'lastSyncedAt'>;

/**
 * The last day whose data cannot change any more. The provider's own word decides alone as long as it is fresh: its
 * delays have been longer than usual. Days are Pacific ones.
 * @param now milliseconds
 */
export function lastFinalDay({ provisionalAfter, lastSyncedAt }: Known, now: number): Day {
  const settled = addDays(pacificDayOf(now), -PROVISIONAL_DAYS);
  if (provisionalAfter === null) return settled;
  const heard = Math.max((lastSyncedAt ?? 0) / 1000, Date.parse(provisionalAfter));
  return now - heard <= NEWS_VALID ? provisionalAfter : later(provisionalAfter, settled);
}
