import type { Catalog } from '../catalog/catalog.ts';
import type { Coverage, Covered } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { daySums, undividedDays } from '../facts/days.ts';
import type { DeviceMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import { type FactTable, TABLES } from '../model/tables.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from './known-days.ts';
import { type Offer, RefusedQuestion } from './refuse.ts';

/** What to read to learn which days of a table are known. */
export interface QuestionDaysPlan {
  readonly table: FactTable;
  readonly known: KnownDaysPlan;
  /** The days that have rows of the table; null without any. */
  readonly stored: Coverage | null;
  /** Up to this day countries are stored as totals of months; null if none are. */
  readonly monthlyThrough: Day | null;
  /** Whether the question is about devices. */
  readonly devices: boolean;
}

export async function planQuestionDays(
  catalog: Catalog,
  project: Project,
  table: FactTable,
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
    table,
    known: await planKnownDays(catalog, project, table, days),
    stored: days.coverage[table] ?? null,
    monthlyThrough: days.coverage.country_monthly?.lastDay ?? null,
    devices,
  };
}

export const WITHOUT_COMPARE: Offer = { says: 'the same without compare', question: { compare: null } };

const NO_DAYS: ReadonlySet<Day> = new Set();

/**
 * The days of ranges on which the property has data and the table is not known. A day is known if the sync has stored it,
 * a bulk export had it, or a load that had the table. Of days that an import knows as a whole only, nothing else is known.
 * @param site the rows of the property over the ranges
 */
export async function unknownDays(
  facts: Facts,
  plan: QuestionDaysPlan,
  { site, signal }: { readonly site: readonly DeviceMeasures[]; readonly signal: AbortSignal },
): Promise<{ readonly unknown: readonly Day[]; readonly known: KnownDays }> {
  const { table, known: planned, stored, monthlyThrough, devices } = plan;
  const query = { files: planned.ownFiles, range: spanOf(planned.ranges), signal };
  const siteDays = new Set(site.map(({ date }) => date));
  const known = await KnownDays.read(facts, planned, signal, siteDays);
  const whole = undividedDays(site);
  if (table === 'site_daily') return { unknown: daysIn(plan, (day) => devices && whole.has(day)), known };
  const unnamed = table === 'brand_daily' ? await unknownSegments(facts, query) : new Set<Day>();
  const isUnknown = (day: Day, withRows: ReadonlySet<Day>): boolean => {
    if (table === 'country_daily' && monthlyThrough !== null && day <= monthlyThrough) return siteDays.has(day);
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
    return table !== 'appearance_daily' && (day < stored.firstDay || day > stored.lastDay);
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
  { table, monthlyThrough }: QuestionDaysPlan,
  range: Range,
  unknown: readonly Day[],
): void {
  if (unknown.length === 0) return;
  const months = table === 'country_daily' && monthlyThrough !== null && unknown[0]! <= monthlyThrough;
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
    `${isOfComparison ? 'compare' : 'range'}: the ${TABLES[table].question!.what} of ${daysInWords(unknown)} is not known${why}.`,
    offers,
  );
}

/** Days of a refusal in words. @param days in order, at least one */
export function daysInWords(days: readonly Day[]): string {
  const [first, last] = [days[0]!, days.at(-1)!];
  return days.length === 1 ? first : `${days.length} days (${first} to ${last})`;
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
