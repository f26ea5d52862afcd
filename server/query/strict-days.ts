import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, type Covered, isLoaded, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { TrackedKeywords } from '../catalog/tracked.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { daySums, undividedDays } from '../facts/days.ts';
import type { DeviceMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import { type FactTable, siteTableOf, TABLES } from '../model/tables.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from './known-days.ts';
import { type Offer, RefusedQuestion } from './refuse.ts';

/** What to read to learn which days of a grain are known. */
export interface QuestionDaysPlan {
  readonly grain: FactTable;
  readonly known: KnownDaysPlan;
  /** The days that have rows of the grain; null without any. */
  readonly stored: Coverage | null;
  /** Up to this day countries are stored as totals of months; null if none are. */
  readonly monthlyThrough: Day | null;
  /** Whether the question is about devices. */
  readonly devices: boolean;
}

export async function planQuestionDays(
  catalog: Catalog,
  project: Project,
  grain: FactTable,
  {
    devices = false,
    ...days
  }: {
    readonly ranges: readonly Range[];
    readonly coverage: Covered;
    readonly devices?: boolean;
    readonly hasEvents?: boolean;
  },
): Promise<QuestionDaysPlan> {
  return {
    grain,
    known: await planKnownDays(catalog, project, grain, days),
    stored: days.coverage[grain] ?? null,
    monthlyThrough: days.coverage.country_monthly?.lastDay ?? null,
    devices,
  };
}

export const WITHOUT_COMPARE: Offer = { says: 'the same without compare', question: { compare: null } };

const NO_DAYS: ReadonlySet<Day> = new Set();

/**
 * The days of ranges on which the property has data and the grain is not known. A day is known if the sync has stored it,
 * a bulk export had it, or a load that had the table. Of days that an import knows as a whole only, nothing else is known.
 * @param site the rows of the property over the ranges
 */
export async function unknownDays(
  facts: Facts,
  plan: QuestionDaysPlan,
  { site, signal }: { readonly site: readonly DeviceMeasures[]; readonly signal: AbortSignal },
): Promise<{ readonly unknown: readonly Day[]; readonly known: KnownDays }> {
  const { grain, known: planned, stored, monthlyThrough, devices } = plan;
  const query = { files: planned.ownFiles, range: spanOf(planned.ranges), signal };
  const siteDays = new Set(site.map(({ date }) => date));
  const known = await KnownDays.read(facts, planned, signal, siteDays);
  const whole = undividedDays(site);
  if (grain === 'site_daily') return { unknown: daysIn(plan, (day) => devices && whole.has(day)), known };
  const unnamed = grain === 'brand_daily' ? await unknownSegments(facts, query) : new Set<Day>();
  const isUnknown = (day: Day, withRows: ReadonlySet<Day>): boolean => {
    if (grain === 'country_daily' && monthlyThrough !== null && day <= monthlyThrough) return siteDays.has(day);
    if (unnamed.has(day)) return true;
    const state = planned.unusual.get(day)?.state;
    if (!siteDays.has(day)) return false;
    if (known.cameFromExport(day)) return false;
    if (state === 'failed') return true;
    if (withRows.has(day) || state === 'empty') return false;
    // What was never loaded is unknown, not empty.
    if (stored === null) return true;
    if (!known.isStored(day) || whole.has(day)) return true;
    // Few results have an appearance, so the first and last days may have none. Daily countries may start long after monthly ones.
    return grain !== 'appearance_daily' && (day < stored.firstDay || day > stored.lastDay);
  };
  const unknown = daysIn(plan, (day) => isUnknown(day, NO_DAYS));
  // Rows make a day known, never unknown: most questions need not read which days have some.
  if (unknown.length === 0) return { unknown, known };
  const withRows = new Set(await facts.storedDays(query));
  return { unknown: unknown.filter((day) => isUnknown(day, withRows)), known };
}

/** The days of the ranges, as far as the project is synced, that pass a test: each once, in order. */
function daysIn({ known: { ranges, project } }: QuestionDaysPlan, test: (day: Day) => boolean): Day[] {
  const { syncedThrough } = project;
  if (syncedThrough === null) return [];
  const all = ranges.flatMap((range) => {
    const part = within(range, range.from, syncedThrough);
    return part === null ? [] : eachDay(part.from, part.to);
  });
  return [...new Set(all)].sort().filter(test);
}

async function unknownSegments(facts: Facts, query: FactsQuery): Promise<ReadonlySet<Day>> {
  const rows = await daySums(facts, query, { table: 'brand_daily', test: rowsWith('segment', ['unknown']) });
  return new Set(rows.map(({ date }) => date));
}

/** Throws `invalid_request` that says which days of the range, or of the one to compare with, are not known, and which are. */
export function refuseUnknown(
  { grain, monthlyThrough }: QuestionDaysPlan,
  range: Range,
  unknown: readonly Day[],
): void {
  if (unknown.length === 0) return;
  const [first, last] = [unknown[0]!, unknown.at(-1)!];
  const days = unknown.length === 1 ? `${first}` : `${unknown.length} days (${first} to ${last})`;
  const months = grain === 'country_daily' && monthlyThrough !== null && first <= monthlyThrough;
  const why = months ? `; until ${monthlyThrough} countries are stored as totals of months, which /breakdowns has` : '';
  const isOfComparison = unknown.every((day) => day < range.from || day > range.to);
  const longest = isOfComparison ? null : longestKnown(range, new Set(unknown));
  const offers: Offer[] = [
    ...(isOfComparison ? [WITHOUT_COMPARE] : []),
    ...(longest === null
      ? []
      : [{ says: `range from ${longest.from} to ${longest.to}`, question: { range: longest, compare: null } }]),
    { says: 'dimensions date, over any range', question: { dimensions: ['date'], filters: null, sort: null } },
  ];
  throw new RefusedQuestion(
    `${isOfComparison ? 'compare' : 'range'}: the ${TABLES[grain].question!.what} of ${days} is not known${why}.`,
    offers,
  );
}

/** The longest part of a range without some days. */
function longestKnown({ from, to }: Range, unknown: ReadonlySet<Day>): Range | null {
  let best: Day[] = [];
  let run: Day[] = [];
  for (const day of eachDay(from, to)) {
    run = unknown.has(day) ? [] : [...run, day];
    if (run.length > best.length) best = run;
  }
  return best.length === 0 ? null : { from: best[0]!, to: best.at(-1)! };
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
  // Days after the last synced one may be stored, too; they make nothing known.
  const asked = new Set(daysIn(days, () => true));
  const known = new Set(site.map(({ date }) => date)).intersection(asked);
  const isNothingKnown = known.size > 0 && unknown.length === known.size;
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

/** What to read to know on which days the rows of an explanation are stored. */
interface RowDaysPlan extends KnownDaysPlan {
  readonly files: FactsQuery['files'];
  /** Days that are stored as monthly totals. */
  readonly months: Range | null;
}

export async function planRowDays(
  catalog: Catalog,
  project: Project,
  table: FactTable,
  days: {
    readonly ranges: readonly Range[];
    readonly coverage: Covered;
    readonly notBefore?: Day;
  },
): Promise<RowDaysPlan> {
  const monthly = days.coverage[TABLES[table].months as FactTable];
  const known = await planKnownDays(catalog, project, table, { ...days, hasEvents: false });
  return {
    ...known,
    files: table === siteTableOf(table) ? known.siteFiles : known.ownFiles,
    months: monthly === undefined ? null : { from: monthly.firstDay, to: monthly.lastDay },
  };
}

/** What is known of the days of rows. */
interface RowDays {
  /**
   * Whether a day of the ranges has no rows, unless the sync knows that it is empty. Unlike in comparisons, rows of the site
   * alone do not prove that a day of its rows is stored: what they lack would look like a loss.
   */
  readonly lacks: boolean;
  /** The events of the provider that concern what the days came from. */
  readonly events: readonly ProviderEvent[];
}

export async function readRowDays(facts: Facts, plan: RowDaysPlan, signal: AbortSignal): Promise<RowDays> {
  const { ranges, files, months } = plan;
  if (ranges.length === 0) return { lacks: false, events: [] };
  const days = new Set(await facts.storedDays({ files, range: spanOf(ranges), signal }));
  const isMonthly = (day: Day): boolean => months !== null && months.from <= day && day <= months.to;
  const known = new KnownDays(plan, { has: (day) => days.has(day) || isMonthly(day) });
  const lacks = ranges.some(({ from, to }) => eachDay(from, to).some((day) => !known.isStored(day)));
  return { lacks, events: known.events };
}
