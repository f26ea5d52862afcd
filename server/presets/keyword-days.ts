import type { Catalog } from '../catalog/catalog.ts';
import { isLoaded, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { TrackedKeywords } from '../catalog/tracked.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { undividedDays } from '../facts/days.ts';
import type { Facts } from '../facts/facts.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import { planQuestionDays, type QuestionDaysPlan, unknownDays } from './question-days.ts';

export interface KeywordDaysPlan {
  readonly days: QuestionDaysPlan;
  /** Whether any day of a keyword is stored. */
  readonly hasDays: boolean;
  /** Whether no load ever had the days of keywords: one that had them without rows says that they had no clicks. */
  readonly areNeverLoaded: boolean;
  /** Whether all keywords came with a load: one without their days says that they had no clicks. */
  readonly areLoaded: boolean;
}

/** Plans what to read to learn whether keywords are known in a range; null if they are. */
export async function planKeywordDays(
  catalog: Catalog,
  project: Project,
  { from, to }: Range,
  { keywords }: Pick<TrackedKeywords, 'keywords'>,
): Promise<KeywordDaysPlan | null> {
  if (keywords.length === 0 || project.syncedThrough === null) return null;
  const coverage = await readCoverage(catalog, project.id);
  // Before the first facts there is nothing that keywords could be a part of.
  if (Object.keys(coverage).length === 0) return null;
  const hasDays = coverage.keyword_daily !== undefined;
  return {
    days: await planQuestionDays(catalog, project, 'keyword_daily', {
      ranges: [{ from, to }],
      coverage,
      hasEvents: false,
    }),
    hasDays,
    areNeverLoaded: !hasDays && !(await isLoaded(catalog, project.id, 'keyword_daily')),
    areLoaded: keywords.every(({ source }) => source === 'import'),
  };
}

/**
 * Throws `invalid_request` where sums of keywords over a range would be made up: an import knows only the site's total of
 * some of its days, or no day of the range was ever loaded for keywords. Single days that the sync has not fetched yet
 * are left out of sums instead, as those of the site are.
 */
export async function refuseUnknownKeywords(
  facts: Facts,
  plan: KeywordDaysPlan | null,
  signal: AbortSignal,
  parameter = 'from and to',
): Promise<void> {
  const found = plan && (await unknownKeywordDays(facts, plan, signal));
  if (!found) return;
  const { unknown } = found;
  const [first, last] = [unknown[0]!, unknown.at(-1)!];
  const days = unknown.length === 1 ? `of ${first}` : `of ${unknown.length} days (${first} to ${last})`;
  throw invalidRequest(
    `${parameter}: the clicks of keywords ${days} are unknown, not zero: they were not loaded by keyword. Choose other days, load keyword_daily (an import needs rows by date, query and device), or wait for the sync of a connected project.`,
  );
}

/**
 * Whether an import has no days of keywords in a range, or nothing ever had. Days that later loads will bring are missing
 * instead, which is said beside rows.
 */
export async function areKeywordsUnknown(
  facts: Facts,
  plan: KeywordDaysPlan | null,
  signal: AbortSignal,
): Promise<boolean> {
  return plan !== null && (await unknownKeywordDays(facts, plan, signal))?.areMissing === false;
}

async function unknownKeywordDays(
  facts: Facts,
  { days, hasDays, areNeverLoaded, areLoaded }: KeywordDaysPlan,
  signal: AbortSignal,
): Promise<{ readonly unknown: readonly Day[]; readonly areMissing: boolean } | undefined> {
  const { siteFiles, ranges, unusual, project } = days.known;
  const range = spanOf(ranges);
  if (areNeverLoaded && !areLoaded) {
    const expected = within(range, range.from, project.syncedThrough!);
    const all = expected === null ? [] : eachDay(expected.from, expected.to);
    const isUnknown = all.length > 0 && all.every((day) => unusual.get(day)?.state !== 'empty');
    return isUnknown ? { unknown: all, areMissing: false } : undefined;
  }
  const site = await siteOrNone(facts.siteDevices({ files: siteFiles, range, signal }), hasDays);
  if (site.length === 0) return undefined;
  const { unknown } = await unknownDays(facts, days, { site, signal });
  const undivided = undividedDays(site);
  if (unknown.some((day) => undivided.has(day))) return { unknown, areMissing: false };
  const isNothingKnown = unknown.length === new Set(site.map(({ date }) => date)).size;
  return isNothingKnown && hasDays ? { unknown, areMissing: true } : undefined;
}

/** The days of the site. If they are damaged, stored days of keywords, which are files of their own, are answered without. */
async function siteOrNone(site: ReturnType<Facts['siteDevices']>, hasDays: boolean): ReturnType<Facts['siteDevices']> {
  try {
    return await site;
  } catch (error) {
    if (error instanceof DamagedFile && hasDays) return [];
    throw error;
  }
}
