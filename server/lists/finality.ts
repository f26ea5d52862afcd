import type { Project } from '../catalog/projects.ts';
import { addDays, type Day, later, pacificDayOf } from '../domain/dates.ts';

/** Days until data is final, if the provider does not report it: two or three, plus one for clock differences. */
const PROVISIONAL_DAYS = 4;
/** How long a report of the provider is valid, in milliseconds. */
const REPORT_VALID_MS = 7 * 86_400_000;

type SyncedProject = Pick<Project, 'provisionalAfter' | 'lastSyncedAt'>;

/**
 * The last final day (Pacific). A recent report of the provider takes precedence, because its delays can be longer than
 * usual.
 * @param now milliseconds
 */
export function lastFinalDay({ provisionalAfter, lastSyncedAt }: SyncedProject, now: number): Day {
  const settled = addDays(pacificDayOf(now), -PROVISIONAL_DAYS);
  if (provisionalAfter === null) return settled;
  const reportedAt = Math.max((lastSyncedAt ?? 0) / 1000, Date.parse(provisionalAfter));
  return now - reportedAt <= REPORT_VALID_MS ? provisionalAfter : later(provisionalAfter, settled);
}
