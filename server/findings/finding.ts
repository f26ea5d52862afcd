import type { RowGrids } from './grids.ts';

export const FINDING_TYPES = [
  'low_ctr',
  'high_ctr',
  'rising',
  'falling',
  'near_top',
  'decaying_page',
  'split',
  'new',
  'lost',
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];
export type RowKind = 'query' | 'page';

/** Clicks that would be gained, with an interval that holds the true gain in 90 % of cases. */
export interface Gain {
  readonly clicks: number;
  readonly low: number;
  readonly high: number;
}

/** A finding about a row; not rounded. */
export interface RowFinding {
  readonly type: FindingType;
  readonly kind: RowKind;
  readonly row: number;
  readonly evidence: Readonly<Record<string, number>>;
  readonly gain: Gain | null;
  /** Null in lists, which test nothing. */
  readonly p: number | null;
  /** Days from the day since which it is so to the last day of the range; null if unknown. */
  readonly sinceAge: number | null;
}

/** Tests whose share of false findings is controlled together, and lists. */
export const FAMILIES = {
  ctr: ['low_ctr', 'high_ctr'],
  moves: ['rising', 'falling'],
  nearTop: ['near_top'],
  decay: ['decaying_page'],
  split: ['split'],
  new: ['new'],
  lost: ['lost'],
} as const satisfies Readonly<Record<string, readonly FindingType[]>>;
export type Family = keyof typeof FAMILIES;

/** The p of all tested rows of a kind, and the finding that one of them makes. Few are listed, so only those are made. */
export interface RowTests {
  readonly p: Float64Array;
  readonly findingOf: (at: number) => RowFinding;
}

/** What was found, and how many rows were looked at. */
export interface Tests {
  readonly tested: number;
  readonly tests: readonly RowTests[];
  /** Of families that test nothing. */
  readonly list: readonly RowFinding[];
}

/** The tests of each family; without a family of which too little is known. */
export type Found = ReadonlyMap<Family, Tests>;

/** Rows of one kind. */
export interface KindRows {
  readonly kind: RowKind;
  readonly grids: RowGrids;
  /** Rows with the same number are compared with each other: 0 for pages and other queries, 1 for queries with a brand. */
  readonly stratum: Uint8Array;
}

/** Standard deviations on each side of a gain. */
export const SURE = 1.645;

/** A gain that is about normal. */
export function gainOf(clicks: number, variance: number): Gain {
  const deviation = SURE * Math.sqrt(variance);
  return { clicks, low: clicks - deviation, high: clicks + deviation };
}

/** The likelihood ratio from which on a change is dated. */
export const WORTH_DATING = 3;

/** Days from the first day of a week to the last day of all weeks. */
export const ageOf = (week: number | null, weeks: number): number | null =>
  week === null ? null : 7 * (weeks - week) - 1;

/**
 * The first week of the newest state of a series, by the split into two parts whose shares of what is expected differ most
 * (the greatest likelihood ratio of counts). Null if none is likelier than chance: it has always been so.
 * @param counts oldest first @param expected what they would be in proportion to
 */
export function changedSince(counts: ArrayLike<number>, expected: ArrayLike<number>, least: number): number | null {
  let [all, usual] = [0, 0];
  for (let week = 0; week < counts.length; week++) {
    all += counts[week]!;
    usual += expected[week]!;
  }
  if (all === 0 || usual === 0) return null;
  let [found, most, before, expectedBefore]: [number | null, number, number, number] = [null, least, 0, 0];
  for (let week = 1; week < counts.length; week++) {
    before += counts[week - 1]!;
    expectedBefore += expected[week - 1]!;
    const ratio =
      deviance(before, (all * expectedBefore) / usual) +
      deviance(all - before, (all * (usual - expectedBefore)) / usual);
    if (ratio > most) {
      most = ratio;
      found = week;
    }
  }
  return found;
}

const deviance = (count: number, expected: number): number =>
  count === 0 || expected === 0 ? 0 : count * Math.log(count / expected);

/** The week from which on a series falls, by the line that bends down there and fits best; flat before. */
export function fallingSince(series: ArrayLike<number>): number {
  const { length } = series;
  let [found, least] = [0, Number.POSITIVE_INFINITY];
  for (let bend = 0; bend <= length - 6; bend++) {
    let [x, y, xx, xy] = [0, 0, 0, 0];
    for (let week = 0; week < length; week++) {
      const at = Math.max(0, week - bend);
      x += at;
      y += series[week]!;
      xx += at * at;
      xy += at * series[week]!;
    }
    const slope = (length * xy - x * y) / (length * xx - x * x);
    const level = (y - slope * x) / length;
    let squares = 0;
    for (let week = 0; week < length; week++)
      squares += (series[week]! - level - slope * Math.max(0, week - bend)) ** 2;
    if (squares < least - 1e-12) [found, least] = [bend, squares];
  }
  return found;
}

/** Impressions of the pages of a query by day, in any order; pages are numbers, of equal ones the lowest counts. */
export interface ShownPages {
  readonly days: number[];
  readonly pages: number[];
  readonly impressions: number[];
}

export interface Split {
  /** The pages with large shares, the largest first. */
  readonly pages: readonly { readonly page: number; readonly impressions: number }[];
  readonly shownDays: number;
  /** Shown days on which the main page was another one than on the shown day before, and the first of them. */
  readonly changes: number;
  readonly firstChange: number;
}

const LEAST_SHARE = 0.15;
const LEAST_CHANGES = 0.2;
const LEAST_DAYS = 7;

/**
 * Whether a query is split over pages: at least two pages have 15 % of its impressions each, and the main page changes
 * from one shown day to the next on a fifth of them. Impressions of several pages are not added up, because a query may show
 * two of them at once.
 * @param impressions of the query in the range
 */
export function splitOf(shown: ShownPages, impressions: number): Split | null {
  const { byPage, byDay } = sumsOf(shown);
  const pages = largePages(byPage, impressions);
  if (pages.length < 2 || byDay.size < LEAST_DAYS) return null;
  let main: number | null = null;
  const changed: number[] = [];
  for (const day of [...byDay.keys()].sort((a, b) => a - b)) {
    const next = mainOf(byDay.get(day)!, byPage, main);
    if (main !== null && next !== main) changed.push(day);
    main = next;
  }
  if (changed.length < LEAST_CHANGES * (byDay.size - 1)) return null;
  return { pages, shownDays: byDay.size, changes: changed.length, firstChange: changed[0]! };
}

/** Whether a query has enough pages and days to be split over them. @param impressions of the query in the range */
export function maySplit(shown: ShownPages, impressions: number): boolean {
  const { byPage, byDay } = sumsOf(shown);
  return byDay.size >= LEAST_DAYS && largePages(byPage, impressions).length >= 2;
}

function sumsOf({ days, pages, impressions }: ShownPages) {
  const byPage = new Map<number, number>();
  const byDay = new Map<number, Map<number, number>>();
  for (const [at, day] of days.entries()) {
    const [page, count] = [pages[at]!, impressions[at]!];
    byPage.set(page, (byPage.get(page) ?? 0) + count);
    const ofDay = byDay.get(day) ?? new Map<number, number>();
    byDay.set(day, ofDay.set(page, (ofDay.get(page) ?? 0) + count));
  }
  return { byPage, byDay };
}

function largePages(byPage: ReadonlyMap<number, number>, impressions: number): Split['pages'] {
  return [...byPage]
    .map(([page, count]) => ({ page, impressions: count }))
    .filter(({ impressions: count }) => count >= LEAST_SHARE * impressions)
    .sort((a, b) => b.impressions - a.impressions || a.page - b.page);
}

/** The page with the most impressions of a day; of equal ones that of the day before, else the one of the range. */
function mainOf(day: ReadonlyMap<number, number>, range: ReadonlyMap<number, number>, before: number | null): number {
  const most = Math.max(...day.values());
  const equal = [...day].filter(([, count]) => count === most).map(([page]) => page);
  if (before !== null && equal.includes(before)) return before;
  return equal.reduce((a, b) => ((range.get(b)! - range.get(a)! || a - b) > 0 ? b : a));
}
