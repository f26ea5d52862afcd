import { addDays, type Day, earlier, FIRST_FACT_DAY, pacificDayOf } from './dates.ts';

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

/** Counts of a crawler on one day. */
export interface CrawlDay {
  readonly date: Day;
  readonly crawledPages: number;
  readonly crawlErrors: number;
  readonly inIndex: number;
  readonly inLinks: number;
  readonly blockedByRobotsTxt: number;
  readonly containsMalware: number;
  readonly code2xx: number;
  readonly code301: number;
  readonly code302: number;
  readonly code4xx: number;
  readonly code5xx: number;
  readonly otherCodes: number;
}

/**
 * Days that were told before beside those that are told now. The oldest one that is told may be about to be
 * forgotten: then the stored one is more complete. Days of another age than ours are left out.
 * @param now milliseconds
 */
export function mergeCrawlDays(stored: readonly CrawlDay[], answered: readonly CrawlDay[], now: number): CrawlDay[] {
  const last = addDays(pacificDayOf(now), 1);
  const told = answered.filter(({ date }) => date >= FIRST_FACT_DAY && date <= last);
  const known = new Map(stored.map((day) => [day.date, day]));
  const oldest = told.map(({ date }) => date).reduce(earlier, '9');
  for (const day of told) {
    const isKept = day.date === oldest && (known.get(oldest)?.crawledPages ?? -1) >= day.crawledPages;
    if (!isKept) known.set(day.date, day);
  }
  return [...known.values()].toSorted((a, b) => (a.date < b.date ? -1 : 1));
}
