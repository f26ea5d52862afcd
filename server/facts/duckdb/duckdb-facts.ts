import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../../domain/cache-key.ts';
import { countDays, type Day, eachDay } from '../../domain/dates.ts';
import type { Measures } from '../../domain/metrics.ts';
import type { ConcurrencyLimit } from '../../runtime/limits.ts';
import type { FileStore, StoredFile } from '../../storage/file-store.ts';
import { DayGrid } from '../day-grid.ts';
import { collectSiteDays, collectTotals, filesOfEach } from '../each-part.ts';
import type {
  Breakdown,
  CountryMonth,
  DayMeasures,
  Device,
  Facts,
  FactsPart,
  FactsQuery,
  KeywordTotalsQuery,
  NamedMeasures,
  SiteDayMeasures,
  TakeColumns,
} from '../facts.ts';
import { KeywordTotals } from '../keyword-totals.ts';
import type { TakeNumbers } from './columns.ts';
import type { Engine, Parameters } from './engine.ts';

/** Cached days of all tables, some 40 bytes each. */
const MAX_STORED_DAYS = 200_000;

/** `Facts` by DuckDB over Parquet files: each query is a SQL file of `sql/facts/`. */
export class DuckDBFacts implements Facts {
  readonly #engine: Engine;
  readonly #files: FileStore;
  readonly #heavy: ConcurrencyLimit;
  /** Days with rows, by range and files: a file never changes. */
  readonly #storedDays = new LRUCache<CacheKey, readonly Day[]>({
    maxSize: MAX_STORED_DAYS,
    sizeCalculation: (days) => days.length + 1,
  });

  /** @param heavy limits how many queries with many rows run at once */
  constructor(engine: Engine, files: FileStore, heavy: ConcurrencyLimit) {
    this.#engine = engine;
    this.#files = files;
    this.#heavy = heavy;
  }

  siteDays(query: FactsQuery, device: Device): Promise<SiteDayMeasures[]> {
    return this.#rows('facts/site_daily', query, { device });
  }

  async siteDaysOfEach(parts: readonly FactsPart[], device: Device, signal: AbortSignal): Promise<SiteDayMeasures[][]> {
    const { days, take } = collectSiteDays(parts);
    await this.#each('facts/site_daily_each', parts, { device }, signal, take);
    return days;
  }

  async queryTotalsOfEach(parts: readonly FactsPart[], signal: AbortSignal): Promise<Measures[]> {
    const { totals, take } = collectTotals(parts);
    await this.#each('facts/brand_totals_each', parts, {}, signal, take);
    return totals;
  }

  countryDays(query: FactsQuery, country: string): Promise<DayMeasures[]> {
    return this.#rows('facts/country_days', query, { country });
  }

  countryMonths(query: FactsQuery, country: string | null): Promise<CountryMonth[]> {
    return this.#rows('facts/country_months', query, { country });
  }

  totalsBy(breakdown: Breakdown, query: FactsQuery): Promise<NamedMeasures[]> {
    return this.#rows(`facts/${breakdown}_totals`, query, {});
  }

  /**
   * Reads the parts of the plan in parallel; a single statement would read them one after the other. Filtering by keyword
   * would be faster only for a handful of keywords.
   */
  async keywordTotals(
    { plan, range: { from, to }, signal }: KeywordTotalsQuery,
    device: Device,
    positions: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals> {
    const totals = new KeywordTotals(positions);
    const add = async (name: string, files: readonly StoredFile[], parameters: Parameters, sign = 1): Promise<void> => {
      using opened = await this.#files.open(files);
      const take: TakeNumbers = (columns, rows) => totals.add(columns, rows, sign);
      await this.#engine.numbers(`facts/${name}`, { ...parameters, files: opened.paths }, take, signal);
    };
    const parts = plan.cumulative.map(({ file, day, sign }) => {
      const columns = {
        clicks: `clicks_${day}`,
        impressions: `impressions_${day}`,
        sumPosition: `sum_position_${day}`,
      };
      return add('keyword_cumulative', [file], columns, sign);
    });
    if (plan.running !== undefined) {
      const { file, ...months } = plan.running;
      parts.push(add('keyword_running', [file], { ...months, device }));
    }
    if (plan.days.length > 0) parts.push(add('keyword_totals', plan.days, { device, from, to }));
    await Promise.all(parts);
    return totals;
  }

  async keywordDays(
    { files, range, signal }: FactsQuery,
    device: Device,
    keywords: readonly string[],
    priority: number,
  ): Promise<DayGrid> {
    const { from, to } = range;
    const grid = new DayGrid(eachDay(from, to), keywords.length);
    if (files.length === 0) return grid;
    using opened = await this.#files.open(files);
    const parameters = { device, keywords, from, to, days: grid.days.length, files: opened.paths };
    const fill: TakeNumbers = (columns, rows) => grid.fill(columns, rows);
    await this.#heavy.run(signal, () => this.#engine.numbers('facts/keyword_days', parameters, fill, signal), priority);
    return grid;
  }

  keywordImpressions(query: FactsQuery, keywords: readonly string[], take: TakeColumns): Promise<void> {
    return this.#eachFile('alerts/keyword_impressions', query, { keywords, days: daysOf(query) }, take);
  }

  async keywordCumulativeDays({ files, signal }: FactsQuery, take: TakeColumns): Promise<void> {
    using opened = await this.#files.open(files);
    await this.#engine.numbers('alerts/keyword_cumulative_days', { files: opened.paths }, take, signal);
  }

  keywordSums(query: FactsQuery, keywords: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('facts/keyword_sums', query, { keywords });
  }

  async storedDays(query: FactsQuery): Promise<readonly Day[]> {
    const { files, range } = query;
    const key = cacheKey(range, ...files.map(({ file }) => file));
    const known = this.#storedDays.get(key);
    if (known !== undefined) return known;
    const rows = await this.#rows<{ date: Day }>('alerts/table_days', query, {});
    const days = rows.map(({ date }) => date);
    this.#storedDays.set(key, days);
    return days;
  }

  keywordPages(query: FactsQuery, keywords: readonly string[] | 'all', take: TakeColumns): Promise<void> {
    const all = keywords === 'all';
    return this.#eachFile('alerts/keyword_pages', query, { all, keywords: all ? [] : keywords }, take);
  }

  async keywordPageNames(query: FactsQuery, keywords: readonly string[]): Promise<Map<number, string>> {
    const rows = await this.#rows<{ page: number; url: string }>('alerts/keyword_page_names', query, { keywords });
    return new Map(rows.map(({ page, url }) => [page, url]));
  }

  keywordPageTotals(query: FactsQuery, keyword: string, limit: number): Promise<NamedMeasures[]> {
    return this.#rows('facts/keyword_page_totals', query, { keyword, limit });
  }

  async pageNumbers(urls: readonly string[], signal: AbortSignal): Promise<number[]> {
    const rows = await this.#engine.query<{ url: string; page: number }>('alerts/page_numbers', { urls }, signal);
    const numbers = new Map(rows.map(({ url, page }) => [url, page]));
    return urls.map((url) => numbers.get(url)!);
  }

  async pageUrls(query: FactsQuery): Promise<string[]> {
    const rows = await this.#rows<{ url: string }>('alerts/page_urls', query, {});
    return rows.map(({ url }) => url);
  }

  pageSums(query: FactsQuery, urls: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('facts/page_sums', query, { urls });
  }

  /** One statement over the files of several properties; its first column is the place of a property in `parts`. */
  async #each(
    name: string,
    parts: readonly FactsPart[],
    parameters: Parameters,
    signal: AbortSignal,
    take: TakeNumbers,
  ): Promise<void> {
    const { files, ...lists } = filesOfEach(parts);
    if (files.length === 0) return;
    using opened = await this.#files.open(files);
    const bound = { ...parameters, ...lists, files: opened.paths };
    await this.#heavy.run(signal, () => this.#engine.numbers(name, bound, take, signal));
  }

  /** A file after the other, so that the rows of one only are in memory. */
  async #eachFile(
    name: string,
    { files, range: { from, to }, signal }: FactsQuery,
    parameters: Parameters,
    take: TakeColumns,
  ): Promise<void> {
    for (const file of files) {
      using opened = await this.#files.open([file]);
      await this.#engine.numbers(name, { ...parameters, from, to, files: opened.paths }, take, signal);
    }
  }

  /** All rows of `sql/NAME.sql` over the files and range of a query. */
  async #rows<Row>(name: string, { files, range, signal }: FactsQuery, parameters: Parameters): Promise<Row[]> {
    if (files.length === 0) return [];
    const { from, to } = range;
    using opened = await this.#files.open(files);
    return await this.#engine.query<Row>(name, { ...parameters, from, to, files: opened.paths }, signal);
  }
}

function daysOf({ range: { from, to } }: FactsQuery): number {
  return countDays(from, to);
}
