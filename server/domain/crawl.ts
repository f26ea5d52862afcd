import { type Day, earlier } from './dates.ts';
import { factDayTest } from './fact-days.ts';

/** What a crawler knows of a page. It does not say whether the page is in the index. */
export interface PageCrawl {
  /** The address is known as a folder of pages. */
  readonly isFolder: boolean;
  /** Instants, null if unknown. */
  readonly discoveredAt: string | null;
  readonly lastCrawlTime: string | null;
  /** Of the last answer, null if unknown. */
  readonly httpStatus: number | null;
  /** In bytes, null if unknown. */
  readonly documentSize: number | null;
}

/** What a crawler counts on a day, in the order of responses. */
export const CRAWL_COUNTS = [
  'crawledPages',
  'crawlErrors',
  'inIndex',
  'inLinks',
  'blockedByRobotsTxt',
  'containsMalware',
  'code2xx',
  'code301',
  'code302',
  'code4xx',
  'code5xx',
  'otherCodes',
] as const;
export type CrawlCount = (typeof CRAWL_COUNTS)[number];

/** Counts of a crawler on one day. */
export type CrawlDay = { readonly date: Day } & Readonly<Record<CrawlCount, number>>;

/**
 * Days that were told before beside those that are told now. The oldest one that is told may be about to be
 * forgotten: then the stored one is more complete. Days of another age than ours are left out.
 * @param now milliseconds
 */
export function mergeCrawlDays(stored: readonly CrawlDay[], answered: readonly CrawlDay[], now: number): CrawlDay[] {
  const isFactDay = factDayTest(now);
  const told = answered.filter(({ date }) => isFactDay(date));
  const known = new Map(stored.map((day) => [day.date, day]));
  const oldest = told.map(({ date }) => date).reduce(earlier, '9');
  for (const day of told) {
    const isKept = day.date === oldest && (known.get(oldest)?.crawledPages ?? -1) >= day.crawledPages;
    if (!isKept) known.set(day.date, day);
  }
  return [...known.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1));
}
