import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, filesOf, readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKind, ListPair } from '../catalog/stored-lists.ts';
import { listUnusualDays, readFirstKept, type UnusualDay } from '../catalog/sync-days.ts';
import { weeksBefore } from '../domain/compared-days.ts';
import type { Compare, UnsafeReason } from '../domain/comparison.ts';
import { addDays, type Day, earlier, later, WEEK, weekdayOf } from '../domain/dates.ts';
import { invalidRequest, unavailable } from '../domain/errors.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { daySums } from '../facts/days.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { EVERY_ROW } from '../facts/sums.ts';
import { type OtherEngine, SURFACES } from '../model/surfaces.ts';
import { siteTable, weekTable } from '../model/tables.ts';

interface WeeksQuery {
  readonly kind: ListKind;
  readonly sent: { readonly compare: Compare | undefined };
  readonly pair?: ListPair;
}

/** The whole weeks of a range, and of the range to compare with. */
export interface WeeksPlan extends Range {
  readonly comparison: Range | null;
  readonly surface: OtherEngine;
  /** The weeks that can be answered. */
  readonly stored: Coverage;
  readonly unusual: ReadonlyMap<Day, UnusualDay>;
  /** Of pages by week, and of the site by day, in the weeks of the range. */
  readonly files: { readonly pages: FactsQuery['files']; readonly site: FactsQuery['files'] };
}

/**
 * Other engines tell pages and queries by week, and do not say on which weekday weeks end: stored weeks do. Throws `unavailable` if
 * there are none, and `invalid_request` for a range without a whole week that is stored. Pairs of queries and pages are not
 * stored: their weeks begin with those that the engine still keeps.
 */
export async function planWeeks(
  catalog: Catalog,
  project: Project,
  surface: OtherEngine,
  { kind, from, to, sent: { compare }, pair }: Range & WeeksQuery,
): Promise<WeeksPlan> {
  const table = weekTable(surface, kind)!;
  const { label } = SURFACES[surface];
  const all = (await readCoverage(catalog, project.id))[table];
  if (all === undefined) {
    throw unavailable(
      `There is no source of ${kind} of ${label}: none are stored, and the sync stores them of projects that are connected to ${label}.`,
      'list-without-source',
    );
  }
  const kept = pair === undefined ? null : await readFirstKept(catalog, project.id, table);
  const stored = kept === null ? all : { ...all, firstDay: kept };
  const weeks = storedWeeks(label, { from, to }, stored, kept !== null);
  const base = compare === undefined ? null : comparedWeeks(label, weeks, compare, stored.lastDay);
  const span = spanOf(base === null ? [weeks] : [weeks, base]);
  const [unusual, pages, site] = await Promise.all([
    listUnusualDays(catalog, project.id, table, span),
    filesOf(catalog, project.id, weekTable(surface, 'pages')!, weeks),
    filesOf(catalog, project.id, siteTable(surface), weeks),
  ]);
  return { ...weeks, surface, comparison: base, stored, unusual, files: { pages, site } };
}

/** The stored weeks that lie in a range. @param isOfPairs whether those are meant that the engine still keeps */
function storedWeeks(engine: string, { from, to }: Range, { firstDay, lastDay }: Coverage, isOfPairs: boolean): Range {
  const asked = { from: later(from, addDays(firstDay, 1 - WEEK)), to: earlier(to, lastDay) };
  const weeks = wholeWeeks(asked, lastDay);
  if (weeks !== null) return weeks;
  const which = isOfPairs
    ? `the last stored one ends on ${lastDay}, and pairs of queries and pages are kept since that of ${firstDay}`
    : `those are stored that end every seven days from ${firstDay} to ${lastDay}`;
  throw invalidRequest(`from and to must have a whole week, not ${from} to ${to}: ${engine} tells weeks; ${which}.`);
}

/** As many weeks before, the same a year before, or those that lie in a range. */
function comparedWeeks(engine: string, weeks: Range, compare: Compare, weekEnd: Day): Range {
  const base = typeof compare === 'object' ? compare : weeksBefore(weeks, compare);
  const found = wholeWeeks(base, weekEnd);
  if (found !== null) return found;
  throw invalidRequest(
    `compare must have a whole week, not ${base.from} to ${base.to}: ${engine} tells weeks, of which one ends on ${weekEnd}.`,
  );
}

/** The whole weeks of a range; null if it has none. @param weekEnd the last day of any week */
function wholeWeeks({ from, to }: Range, weekEnd: Day): Range | null {
  const daysAfter = (day: Day): number => (WEEK + weekdayOf(day) - weekdayOf(weekEnd)) % WEEK;
  const last = addDays(to, -daysAfter(to));
  const first = addDays(from, (WEEK - daysAfter(addDays(from, -1))) % WEEK);
  return first < last ? { from: first, to: last } : null;
}

/** Why weeks are unsafe to compare with others. */
export function weekReasons({ stored, unusual, comparison, ...now }: WeeksPlan): UnsafeReason[] {
  const reasons: UnsafeReason[] = [];
  for (const { from, to } of comparison === null ? [now] : [now, comparison]) {
    if (addDays(from, WEEK - 1) < stored.firstDay || to > stored.lastDay) reasons.push('missing_days');
    for (let end = addDays(from, WEEK - 1); end <= to; end = addDays(end, WEEK)) {
      if (unusual.get(end)?.cutOff === true) reasons.push('cut_off');
    }
  }
  return reasons;
}

/** Whether the pages of weeks add up to the days of the site: engines do not say which seven days a week has. */
export async function areReconciled(
  facts: Facts,
  { surface, from, to, files }: WeeksPlan,
  signal: AbortSignal,
): Promise<boolean> {
  const query = { range: { from, to }, signal };
  const [weeks, days] = await Promise.all([
    daySums(facts, { ...query, files: files.pages }, { table: weekTable(surface, 'pages')!, test: EVERY_ROW }),
    facts.siteDays({ ...query, files: files.site }, 'all'),
  ]);
  return (['clicks', 'impressions'] as const).every((metric) => {
    const [ofWeeks, ofDays] = [weeks, days].map((rows) => rows.reduce((sum, row) => sum + row[metric], 0));
    return ofWeeks === ofDays;
  });
}
