import { keywordHistoryFrom, lastDayOfData, type Project } from '../catalog/projects.ts';
import { type Compare, comparisonRange } from '../domain/comparison.ts';
import type { Day } from '../domain/dates.ts';
import { addDays, dayOf, earlier } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { clampToHistory, type Range, type RangeParameters, resolveRange } from '../domain/range.ts';
import type { Device } from '../facts/facts.ts';

type DatedProject = Pick<Project, 'syncedThrough' | 'provisionalAfter'>;

/** The range of site and breakdowns. It ends with the last synced day by default. */
export function siteRange(parameters: RangeParameters, project: DatedProject, now: number): Range {
  return rangeUntil(lastDayOfData(project, now), parameters, project);
}

/** Without a last final day, no day is known to be provisional. */
function rangeUntil(lastDay: Day, parameters: RangeParameters, { provisionalAfter }: DatedProject): Range {
  return resolveRange(parameters, lastDay, earlier(provisionalAfter ?? lastDay, lastDay));
}

/** The range of keywords, limited to the plan's keyword history. */
export function keywordRange(parameters: RangeParameters, project: Project, now: number): Range & { clamped: boolean } {
  return clampToHistory(siteRange(parameters, project, now), keywordHistoryFrom(project, now));
}

/** The range of page and query lists, which must end before today (UTC). */
export function listRange(parameters: RangeParameters, project: Project, now: number): Range {
  const today: Day = dayOf(now);
  if (parameters.to !== undefined && parameters.to !== 'final' && parameters.to >= today) {
    throw invalidRequest(`to must be before today (${today}, UTC), not '${parameters.to}'.`);
  }
  return rangeUntil(earlier(lastDayOfData(project, now), addDays(today, -1)), parameters, project);
}

/**
 * The final days of a range, by default the last 28 of them, and whether others were left out. Throws `invalid_request` for a
 * range without any.
 */
export function finalRange(
  parameters: RangeParameters,
  project: Project,
  now: number,
): Range & { readonly cut: boolean; readonly finalThrough: Day } {
  const lastDay = earlier(lastDayOfData(project, now), addDays(dayOf(now), -1));
  const finalThrough = earlier(project.provisionalAfter ?? lastDay, lastDay);
  const { from, to } =
    parameters.to === undefined ? resolveRange(parameters, finalThrough) : listRange(parameters, project, now);
  if (from > finalThrough) {
    throw invalidRequest(
      `from (${from}) must not be after ${finalThrough}, the last final day: later days may still change.`,
    );
  }
  return { from, to: earlier(to, finalThrough), cut: to > finalThrough, finalThrough };
}

/** The range to compare with; null if none is requested. */
export function comparedRange(range: Range, compare: Compare | undefined): Range | null {
  return compare === undefined ? null : comparisonRange(range, compare);
}

/** Like `comparedRange`, for keywords: not before the plan's keyword history; `asked` may begin before it. */
export function comparedKeywordRange(
  range: Range,
  compare: Compare | undefined,
  project: Project,
  now: number,
): (Range & { readonly clamped: boolean; readonly asked: Range }) | null {
  const asked = comparedRange(range, compare);
  return asked && { ...clampToHistory(asked, keywordHistoryFrom(project, now), 'compare'), asked };
}

/** Like `comparedRange`, for page and query lists. */
export function comparedListRange(range: Range, compare: Compare | undefined, now: number): Range | null {
  const then = comparedRange(range, compare);
  const today = dayOf(now);
  if (then !== null && then.to >= today) {
    throw invalidRequest(`compare must end before today (${today}, UTC), not on '${then.to}'.`);
  }
  return then;
}

/** The device of the rows; null for all together. */
export function oneDevice(device: Device): Exclude<Device, 'all'> | null {
  return device === 'all' ? null : device;
}
