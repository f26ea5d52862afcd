import type { Day } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { DayGrid, KeywordFiles, KeywordTotals } from './keywords.ts';
import type { ReadRows, SumsQuery } from './sums.ts';

export type NamedMeasures = Measures & { readonly name: string };
export type DayMeasures = Measures & { readonly date: Day };
/** Only with a device: whether the devices of the day are unknown. */
export type SiteDayMeasures = DayMeasures & { readonly hasUnknownDevice: number };
/** `device` as stored: `unknown` on days that are known as a whole only. */
export type DeviceMeasures = DayMeasures & { readonly device: string };

export type Device = 'all' | 'desktop' | 'mobile' | 'tablet';

export interface PageWeight {
  readonly url: string;
  /** Days from the start of the range to the first with rows. */
  readonly first: number;
  /** Since the recent day. */
  readonly clicks: number;
  /** Since the newest day. */
  readonly newestClicks: number;
  readonly impressions: number;
}

/** A range, and the files that the manifest names for it. */
export interface StoredRange {
  readonly files: readonly StoredFile[];
  readonly range: Range;
}

export interface FactsQuery extends StoredRange {
  readonly signal: AbortSignal;
}

/** A query for rows of pages (`page_daily`) or queries (`query_daily`). */
export interface RowsQuery extends FactsQuery {
  readonly text: 'url' | 'query';
  /** Null for all. */
  readonly country: string | null;
  /** Impressions that a row must have. */
  readonly least: number;
  /** Maximum rows. */
  readonly most: number;
}

/** A page or a query, and the number that stands for it in `rowSums`. */
export interface NamedRow {
  readonly text: string;
  readonly page: number;
  readonly clicks: number;
}

/** Receives rows of a result by columns. The arrays are valid only during the call. */
export type TakeColumns = (columns: readonly Float64Array[], rows: number) => void;

/** A query for totals of keywords: its range, and the files to choose from; null if no day of it is stored. */
export interface KeywordTotalsQuery extends Omit<FactsQuery, 'files'> {
  readonly files: KeywordFiles | null;
  /** The ids of keywords that are unknown on a day of the range: so are their totals. */
  readonly unknown: ReadonlySet<string>;
}

/** A row of a list. */
export type TextRow = readonly [text: string, clicks: number, impressions: number, sumPosition: number];

/**
 * The queries over facts that reports need. A query without files has no rows. Throws `DamagedFile` for a file whose
 * content is not what was written.
 */
export interface Facts {
  /** The days of the property that have rows, in order; zeros for days on which only other devices have. As `siteDevices`. */
  siteDays(query: FactsQuery, device: Device): Promise<SiteDayMeasures[]>;

  /** Like `siteDays`, for several properties at once. */
  siteDaysOfEach(ranges: readonly StoredRange[], device: Device, signal: AbortSignal): Promise<SiteDayMeasures[][]>;

  /** The sum of brand and non-brand queries, for several properties at once; null if unknown. */
  queryTotalsOfEach(ranges: readonly StoredRange[], signal: AbortSignal): Promise<(Measures | null)[]>;

  /** Rows of the property (`site_daily`) by day and device, in order. Those of files that were read lately are in memory. */
  siteDevices(query: FactsQuery): Promise<readonly DeviceMeasures[]>;

  /** Totals of all keywords of `indexes` (see `KeywordTotals`). */
  keywordTotals(
    query: KeywordTotalsQuery,
    device: Device,
    indexes: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals>;

  /**
   * The stored days of keywords; the grid has the keywords in the given order.
   * @param priority queries with a higher one leave the queue first
   */
  keywordDays(query: FactsQuery, device: Device, keywords: readonly string[], priority: number): Promise<DayGrid>;

  /**
   * Impressions and positions of keywords by day over all devices, read a file (`keyword_all`) at a time. Columns: cell
   * (the keyword's ordinal times one more than the days of the range, the days after its first one, and one),
   * impressions, sum of positions.
   */
  keywordImpressions(query: FactsQuery, keywords: readonly string[], take: TakeColumns): Promise<void>;

  /**
   * Cumulative totals of all keywords at the end of each day of a month (a file of `keyword_cumulative`). Columns: the
   * keyword (`shortIdNumber`), impressions by 31 days of the month, sums of positions by the same.
   */
  keywordCumulativeDays(query: FactsQuery, take: TakeColumns): Promise<void>;

  /** Days on which a table has any row, in order. */
  storedDays(query: FactsQuery): Promise<readonly Day[]>;

  /**
   * Impressions of the pages of keywords by day, read a file (`keyword_page_daily`) at a time, unordered. Columns: the
   * keyword (`shortIdNumber`), days after the first one, page, impressions. A page is a number; fills are ignored.
   */
  keywordPages(query: FactsQuery, keywords: readonly string[] | 'all', take: TakeColumns): Promise<void>;

  /** The pages of keywords by their numbers, without fills, in the order of addresses. */
  keywordPageNames(query: FactsQuery, keywords: readonly string[]): Promise<Map<number, string>>;

  /** The page of each keyword with most impressions (`keyword_page_daily`), without its fragment; unordered. */
  keywordTopPages(
    query: FactsQuery,
    keywords: readonly string[],
  ): Promise<{ readonly keyword: string; readonly url: string }[]>;

  /** The numbers of pages, in the order of `urls`. */
  pageNumbers(urls: readonly string[], signal: AbortSignal): Promise<number[]>;

  /** Addresses of all pages of `page_daily`, unordered. */
  pageUrls(query: FactsQuery): Promise<string[]>;

  /** The pages of a range (`page_daily`) with most impressions, and their clicks since two of its days. */
  pageWeights(query: FactsQuery, of: { recent: Day; newest: Day; limit: number }): Promise<PageWeight[]>;

  /**
   * Clicks of pages (`page_daily`) or keywords (`keyword_all`) by day. Columns: cell (the index in `names` times the days of
   * the range, and the days after its first one), clicks.
   */
  clickDays(query: FactsQuery, of: 'page' | 'keyword', names: readonly string[], take: TakeColumns): Promise<void>;

  /** The pages or queries of `query` with the most impressions, in that order. */
  rowNames(query: RowsQuery): Promise<readonly NamedRow[]>;

  /**
   * All pages or queries by time before the last day: week of seven days, window of `days` days, and week before the newest
   * window; each several times if its days are in several files. Columns: the number that stands for the text, the ages in
   * days of the first and last of the days, clicks, impressions, sum of positions.
   */
  rowSums(query: RowsQuery, days: number, take: TakeColumns): Promise<void>;

  /**
   * Sums of the facts of any table, grouped by any of its columns; the other reads are for one purpose each. `Sums` are what
   * the table counts.
   * Throws `invalid_request` for values of tests that cannot be compared. Short pages are remembered.
   */
  sums<Sums = Measures>(query: FactsQuery & SumsQuery): Promise<ReadRows<Sums>>;
}
