import type { Catalog } from '../catalog/catalog.ts';
import { type Covered, isLoaded, keywordFilesUntil } from '../catalog/fact-files.ts';
import {
  type KeywordGaps,
  readKeywordGaps,
  type TrackedKeyword,
  type TrackedKeywords,
  type TrackedKeywordsCache,
  unknownIn,
} from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Group, selectKeywords, withDescendants } from '../domain/groups.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { undividedDays } from '../facts/days.ts';
import type { Device, Facts } from '../facts/facts.ts';
import type { KeywordFiles, KeywordTotals } from '../facts/keywords.ts';
import { tableFor } from '../model/tables.ts';
import { inTurns } from '../runtime/turns.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import { daysInWords, planQuestionDays, type QuestionDaysPlan, unknownDays } from './question-days.ts';

/** The table of the days of keywords. */
export const KEYWORD_TABLE = tableFor('web', ['keyword'])!;

/** What to read of the totals of keywords over any range up to a day. */
export interface TotalsPlan {
  readonly device: Device;
  /** Null if nothing is stored. */
  readonly files: KeywordFiles | null;
  /** The stored days on which keywords are unknown. */
  readonly gaps: KeywordGaps;
}

/** Plans what to read of the totals of keywords over some ranges. @param span of all of them */
export async function planTotals(
  catalog: Catalog,
  { id, syncedThrough }: Project,
  span: Range,
  device: Device = 'all',
): Promise<TotalsPlan> {
  return {
    device,
    files: syncedThrough === null ? null : await keywordFilesUntil(catalog, id, span.to, device === 'all'),
    gaps: await readKeywordGaps(catalog, id, span),
  };
}

/** The totals of all keywords over a range of a plan; zeros over one that ends before it begins. */
export function readTotals(
  facts: Facts,
  { device, files, gaps }: TotalsPlan,
  { from, to }: Range,
  { indexes }: Pick<TrackedKeywords, 'indexes'>,
  signal: AbortSignal,
): Promise<KeywordTotals> {
  const range = { from, to };
  const asked = { files: from > to ? null : files, range, unknown: unknownIn(gaps, range), signal };
  return facts.keywordTotals(asked, device, indexes);
}

/** The keywords of a group or folder, in their order; those of rules by their totals. */
export async function groupMembers(
  cache: TrackedKeywordsCache,
  tracked: TrackedKeywords,
  group: Group,
  totals: KeywordTotals,
): Promise<TrackedKeyword[]> {
  const matches = await cache.matches(tracked, withDescendants(group, tracked.groups));
  return inTurns(selectKeywords(tracked.keywords, matches, (keyword) => totals.of(keyword)));
}

export interface KeywordDaysPlan {
  readonly days: QuestionDaysPlan;
  /** Whether any day of a keyword is stored. */
  readonly hasDays: boolean;
  /** Whether no load ever had the days of keywords: one that had them without rows says that they had no clicks. */
  readonly areNeverLoaded: boolean;
  /** Whether all keywords came with a load: one without their days says that they had no clicks. */
  readonly areLoaded: boolean;
}

/** Plans the check that keywords are known in a range; null without keywords, sync or facts. */
export async function planKeywordDays(
  catalog: Catalog,
  project: Project,
  { from, to }: Range,
  {
    tracked: { keywords },
    coverage,
  }: { readonly tracked: Pick<TrackedKeywords, 'keywords'>; readonly coverage: Covered },
): Promise<KeywordDaysPlan | null> {
  if (keywords.length === 0 || project.syncedThrough === null) return null;
  // Before the first facts there is nothing that keywords could be a part of.
  if (Object.keys(coverage).length === 0) return null;
  const hasDays = coverage[KEYWORD_TABLE] !== undefined;
  return {
    days: await planQuestionDays(catalog, project, KEYWORD_TABLE, {
      ranges: [{ from, to }],
      coverage,
      hasEvents: false,
    }),
    hasDays,
    areNeverLoaded: !hasDays && !(await isLoaded(catalog, project.id, KEYWORD_TABLE)),
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
  throw invalidRequest(
    `${parameter}: the clicks of keywords of ${daysInWords(found.unknown)} are unknown, not zero: they were not loaded by keyword. Choose other days, load keyword_daily (an import needs rows by date, query and device), or wait for the sync of a connected project.`,
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
  const stored = await siteOrNone(facts.siteDevices({ files: siteFiles, range, signal }), hasDays);
  // Days after the last synced one may be stored, too; they make nothing known.
  const site = stored.filter(({ date }) => date <= project.syncedThrough!);
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
