import { type Compare, comparisonRange } from './comparison.ts';
import { addDays, type Day, dayOf, earlier } from './dates.ts';
import { invalidRequest } from './errors.ts';
import { clampToHistory, type Range, type RangeParameters, resolveRange } from './range.ts';

/** The days of a project that answers depend on. */
interface DatedProject {
  /** The last synced day; null before the first sync. */
  readonly syncedThrough: Day | null;
  /** The last final day, if known. */
  readonly provisionalAfter: Day | null;
}

interface KeywordProject extends DatedProject {
  /** Days of keyword data that the plan of the workspace can read. */
  readonly keywordHistoryDays: number;
}

/** The default end of a range: the last synced day, or yesterday (UTC) before the first sync. */
export function lastDayOfData({ syncedThrough }: Pick<DatedProject, 'syncedThrough'>, now: number): Day {
  return syncedThrough ?? addDays(dayOf(now), -1);
}

/** First day of keyword data that the workspace's plan can read (snapshot format, "What the server derives"). */
export function keywordHistoryFrom(
  project: Pick<KeywordProject, 'syncedThrough' | 'keywordHistoryDays'>,
  now: number,
): Day {
  return addDays(lastDayOfData(project, now), 1 - project.keywordHistoryDays);
}

/** The range of site and breakdowns. It ends with the last synced day by default. */
export function siteRange(parameters: RangeParameters, project: DatedProject, now: number): Range {
  return rangeUntil(lastDayOfData(project, now), parameters, project);
}

/** Without a last final day, no day is known to be provisional. */
function rangeUntil(lastDay: Day, parameters: RangeParameters, { provisionalAfter }: DatedProject): Range {
  return resolveRange(parameters, lastDay, earlier(provisionalAfter ?? lastDay, lastDay));
}

/** The range of keywords, limited to the plan's keyword history. */
export function keywordRange(
  parameters: RangeParameters,
  project: KeywordProject,
  now: number,
): Range & { clamped: boolean } {
  return clampToHistory(siteRange(parameters, project, now), keywordHistoryFrom(project, now));
}

/** The range of page and query lists, which must end before today (UTC). */
export function listRange(parameters: RangeParameters, project: DatedProject, now: number): Range {
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
  project: DatedProject,
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
  project: KeywordProject,
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
export function oneDevice<Device extends string>(device: Device): Exclude<Device, 'all'> | null {
  return device === 'all' ? null : (device as Exclude<Device, 'all'>);
}
