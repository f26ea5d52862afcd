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
