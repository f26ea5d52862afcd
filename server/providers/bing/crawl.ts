import type { CrawlCount, CrawlDay, PageCrawl } from '../../domain/crawl.ts';
import { invalid, isCount, readDate, readInstant, rowsOf } from './rows.ts';

/** The counts of a day, and their names in responses. */
const COUNTS = {
  crawledPages: 'CrawledPages',
  crawlErrors: 'CrawlErrors',
  inIndex: 'InIndex',
  inLinks: 'InLinks',
  blockedByRobotsTxt: 'BlockedByRobotsTxt',
  containsMalware: 'ContainsMalware',
  code2xx: 'Code2xx',
  code301: 'Code301',
  code302: 'Code302',
  code4xx: 'Code4xx',
  code5xx: 'Code5xx',
  otherCodes: 'AllOtherCodes',
} as const satisfies Readonly<Record<CrawlCount, string>>;

/** What Bing knows of an address, null if nothing. Zeros of its status and size mean that it does not tell. Throws `ProviderFailure`. */
export function readPageCrawl(data: unknown): PageCrawl | null {
  if (data === null) return null;
  const [info] = rowsOf([data]);
  const { IsPage: isPage, HttpStatus: status, DocumentSize: size } = info!;
  if (typeof isPage !== 'boolean' || !isCount(status) || !isCount(size)) throw invalid('has no state of the page');
  return {
    isFolder: !isPage,
    discoveredAt: readInstant(info!['DiscoveryDate']),
    lastCrawlTime: readInstant(info!['LastCrawledDate']),
    httpStatus: status === 0 ? null : status,
    documentSize: size === 0 ? null : size,
  };
}

/** The days of the crawler, in order; those without a date are left out. Throws `ProviderFailure`. */
export function readCrawlDays(data: unknown): CrawlDay[] {
  return rowsOf(data)
    .flatMap((row): CrawlDay[] => {
      const date = readDate(row['Date']);
      const counts = Object.entries(COUNTS).map(([name, told]) => {
        if (!isCount(row[told])) throw invalid('has a row without its numbers');
        return [name, row[told]];
      });
      return date === null ? [] : [{ date, ...(Object.fromEntries(counts) as Omit<CrawlDay, 'date'>) }];
    })
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}
