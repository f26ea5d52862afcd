import { keywordHistoryFrom, lastDayOfData, type Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { addDays, dayOf, earlier } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { clampToHistory, type Range, type RangeParameters, resolveRange } from '../domain/range.ts';

/** The range of site and breakdowns. It ends with the last synced day by default. */
export function siteRange(parameters: RangeParameters, project: Project, now: number): Range {
  return resolveRange(parameters, lastDayOfData(project, now));
}

/** The range of keywords, limited to the plan's keyword history. */
export function keywordRange(parameters: RangeParameters, project: Project, now: number): Range & { clamped: boolean } {
  return clampToHistory(siteRange(parameters, project, now), keywordHistoryFrom(project, now));
}

/** The range of page and query lists, which must end before today (UTC). */
export function listRange(parameters: RangeParameters, project: Project, now: number): Range {
  const today: Day = dayOf(now);
  if (parameters.to !== undefined && parameters.to >= today) {
    throw invalidRequest(`to must be before today (${today}, UTC), not '${parameters.to}'.`);
  }
  return resolveRange(parameters, earlier(lastDayOfData(project, now), addDays(today, -1)));
}
