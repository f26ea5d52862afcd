import { keywordHistoryFrom, lastDayOfData, type Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { addDays, dayOf, earlier } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { clampToHistory, type Range, type RangeParameters, resolveRange } from '../domain/range.ts';

/** The range of site and breakdowns: as asked, ending with the last synced day by default. */
export function siteRange(asked: RangeParameters, project: Project, now: number): Range {
  return resolveRange(asked, lastDayOfData(project, now));
}

/** The range of keywords: not before the plan's keyword history. */
export function keywordRange(asked: RangeParameters, project: Project, now: number): Range & { clamped: boolean } {
  return clampToHistory(siteRange(asked, project, now), keywordHistoryFrom(project, now));
}

/** The range of page and query lists: it must end before today (UTC), by default too. */
export function listRange(asked: RangeParameters, project: Project, now: number): Range {
  const today: Day = dayOf(now);
  if (asked.to !== undefined && asked.to >= today) {
    throw invalidRequest(`to must be before today (${today}, UTC), not '${asked.to}'.`);
  }
  return resolveRange(asked, earlier(lastDayOfData(project, now), addDays(today, -1)));
}
