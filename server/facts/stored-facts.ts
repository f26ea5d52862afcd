import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { countDays, type Day, eachDay } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { DayGrid } from './day-grid.ts';
import { type Collected, collectSiteDays, collectTotals, groupsOf } from './each-part.ts';
import type {
  Breakdown,
  CountryMonth,
  DayMeasures,
  Device,
  DeviceMeasures,
  Facts,
  FactsPart,
  FactsQuery,
  HourMeasures,
  KeywordTotalsQuery,
  NamedMeasures,
  PageWeight,
  RowsQuery,
  RowTimes,
  SiteDayMeasures,
  TakeColumns,
  WeekSums,
} from './facts.ts';
import { KeywordTotals } from './keyword-totals.ts';
import type { QuestionQuery, ReadRows } from './question.ts';
import { hasManyValues, type QuestionRow, questionSql, readQuestionRows } from './question-sql.ts';
import { type FactsRead, type FactsReader, type FactsValues, UnreadableHere } from './reader.ts';

/** Cached rows, some 40 (days) to 100 bytes each. */
const MAX_CACHED_ROWS = 100_000;

type LocalReader = FactsReader & Pick<Facts, 'pageNumbers'>;

/** `Facts` over stored files: each query is a SQL file, run by the engine that is chosen for its files. */
export class StoredFacts implements Facts {
  readonly #local: LocalReader;
  readonly #choose: (files: readonly StoredFile[]) => FactsReader;
  /** Results by statement, range and files: a file never changes. */
  readonly #cached = new LRUCache<CacheKey, readonly unknown[]>({
    maxSize: MAX_CACHED_ROWS,
    sizeCalculation: (rows) => rows.length + 1,
  });

  /** @param local reads what the chosen reader cannot */
  constructor(local: LocalReader, choose: (files: readonly StoredFile[]) => FactsReader = () => local) {
    this.#local = local;
    this.#choose = choose;
  }

  siteDays(query: FactsQuery, device: Device): Promise<SiteDayMeasures[]> {
    return this.#rows('facts/site_daily', query, { device });
  }

  siteDaysOfEach(parts: readonly FactsPart[], device: Device, signal: AbortSignal): Promise<SiteDayMeasures[][]> {
    return this.#each('facts/site_daily_each', parts, { values: { device }, signal }, collectSiteDays);
  }

  queryTotalsOfEach(parts: readonly FactsPart[], signal: AbortSignal): Promise<(Measures | null)[]> {
    return this.#each('facts/brand_totals_each', parts, { signal }, collectTotals);
  }

  siteDevices(query: FactsQuery): Promise<readonly DeviceMeasures[]> {
    return this.#cache('facts/site_devices', query, (row: DeviceMeasures) => row);
  }

  siteHours(query: FactsQuery): Promise<HourMeasures[]> {
    return this.#rows('facts/site_hourly', query, {});
  }

  countryDays(query: FactsQuery, country: string): Promise<DayMeasures[]> {
    return this.#rows('facts/country_days', query, { country });
  }

  countryMonths(query: FactsQuery, country: string | null): Promise<CountryMonth[]> {
    return this.#rows('facts/country_months', query, { country });
  }

  totalsBy(breakdown: Breakdown, query: FactsQuery): Promise<NamedMeasures[]> {
    // Every other breakdown is named like its column.
    return this.#rows('facts/totals', query, {}, { name: breakdown === 'brand' ? 'segment' : breakdown });
  }

  /**
   * Reads the parts of the plan in parallel; a single statement would read them one after the other. Filtering by keyword
   * would be faster only for a handful of keywords.
   */
  keywordTotals(
    { plan, range: { from, to }, signal }: KeywordTotalsQuery,
    device: Device,
    indexes: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals> {
    const { cumulative, running, days } = plan;
    const all = [...cumulative.map(({ file }) => file), ...(running ? [running.file] : []), ...days];
    return this.#ask(all, async (reader) => {
      const totals = new KeywordTotals(indexes);
      const stopping = new AbortController();
      const either = AbortSignal.any([signal, stopping.signal]);
      const add = (name: string, files: readonly StoredFile[], values: FactsValues, sign = 1): Promise<void> =>
        reader.numbers(`facts/${name}`, { files, values, signal: either }, (columns, rows) =>
          totals.add(columns, rows, sign),
        );
      const reads = cumulative.map(({ file, day, sign }) => {
        const columns = {
          clicks: `clicks_${day}`,
          impressions: `impressions_${day}`,
          sumPosition: `sum_position_${day}`,
        };
        return add('keyword_cumulative', [file], columns, sign);
      });
      if (running !== undefined) {
        const { file, ...months } = running;
        reads.push(add('keyword_running', [file], { ...months, device }));
      }
      if (days.length > 0) reads.push(add('keyword_totals', days, { device, from, to }));
      try {
        await Promise.all(reads);
      } finally {
        // If one has failed, the others are not needed.
        stopping.abort();
      }
      return totals;
    });
  }

  async keywordDays(
    { files, range: { from, to }, signal }: FactsQuery,
    device: Device,
    keywords: readonly string[],
    priority: number,
  ): Promise<DayGrid> {
    const days = eachDay(from, to);
    if (files.length === 0) return new DayGrid(days, keywords.length);
    return this.#ask(files, async (reader) => {
      const grid = new DayGrid(days, keywords.length);
      const values = { device, keywords, from, to, days: days.length };
      await reader.numbers('facts/keyword_days', { files, values, priority, signal }, (columns, rows) =>
        grid.fill(columns, rows),
      );
      return grid;
    });
  }

  keywordImpressions(query: FactsQuery, keywords: readonly string[], take: TakeColumns): Promise<void> {
    const { files, range, signal } = query;
    const values = { ...daysOf(query), keywords, days: countDays(range.from, range.to) };
    return this.#take('alerts/keyword_impressions', { files, values, signal, isByFile: true }, take);
  }

  keywordCumulativeDays({ files, signal }: FactsQuery, take: TakeColumns): Promise<void> {
    return this.#take('alerts/keyword_cumulative_days', { files, signal }, take);
  }

  keywordSums(query: FactsQuery, keywords: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('facts/day_sums', query, { names: keywords }, { name: 'keyword_id' });
  }

  weekSums(query: FactsQuery): Promise<WeekSums[]> {
    return this.#rows('facts/week_sums', query, {});
  }

  storedDays(query: FactsQuery): Promise<readonly Day[]> {
    return this.#cache('alerts/table_days', query, ({ date }: { date: Day }) => date);
  }

  keywordPages(query: FactsQuery, keywords: readonly string[] | 'all', take: TakeColumns): Promise<void> {
    const { files, signal } = query;
    const all = keywords === 'all';
    const values = { ...daysOf(query), all, keywords: all ? [] : keywords };
    const pageNumbers: Facts['pageNumbers'] = (...of) => this.pageNumbers(...of);
    return this.#take('alerts/keyword_pages', { files, values, signal, isByFile: true, pageNumbers }, take);
  }

  async keywordPageNames(query: FactsQuery, keywords: readonly string[]): Promise<Map<number, string>> {
    const rows = await this.#rows<{ url: string }>('alerts/keyword_page_names', query, { keywords });
    const urls = rows.map(({ url }) => url);
    const numbers = await this.pageNumbers(urls, query.signal);
    return new Map(urls.map((url, index) => [numbers[index]!, url]));
  }

  keywordPageTotals(query: FactsQuery, keyword: string, limit: number): Promise<NamedMeasures[]> {
    return this.#rows('facts/keyword_page_totals', query, { keyword, limit });
  }

  keywordTopPages(query: FactsQuery, keywords: readonly string[]): Promise<{ keyword: string; url: string }[]> {
    return this.#rows('facts/keyword_top_pages', query, { keywords });
  }

  /** Always local, because it reads no files. */
  pageNumbers(urls: readonly string[], signal: AbortSignal): Promise<number[]> {
    return this.#local.pageNumbers(urls, signal);
  }

  async pageUrls(query: FactsQuery): Promise<string[]> {
    return (await this.#rows<{ url: string }>('alerts/page_urls', query, {})).map(({ url }) => url);
  }

  pageSums(query: FactsQuery, urls: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('facts/day_sums', query, { names: urls }, { name: 'url' });
  }

  segmentSums(query: FactsQuery, segment: 'brand' | 'non_brand'): Promise<DayMeasures[]> {
    return this.#rows('facts/day_sums', query, { names: [segment] }, { name: 'segment' });
  }

  pageClickTotals(query: FactsQuery, limit: number): Promise<{ name: string; clicks: number }[]> {
    return this.#rows('facts/page_click_totals', query, { limit });
  }

  pageWeights(query: FactsQuery, of: { recent: Day; newest: Day; limit: number }): Promise<PageWeight[]> {
    return this.#rows('facts/page_weights', query, of);
  }

  clickDays(query: FactsQuery, of: 'page' | 'keyword', names: readonly string[], take: TakeColumns): Promise<void> {
    const { files, range, signal } = query;
    const values = { ...daysOf(query), days: countDays(range.from, range.to), names };
    const parts = { name: of === 'page' ? 'url' : 'keyword_id' };
    return this.#take('facts/click_days', { files, values, parts, signal }, take);
  }

  async rowNames(query: RowsQuery): Promise<string[]> {
    const rows = await this.#rows<{ text: string }>('facts/row_names', query, rowsOf(query), { text: query.text });
    return rows.map(({ text }) => text);
  }

  rowSums(query: RowsQuery, times: RowTimes, take: TakeColumns): Promise<void> {
    const { files, signal } = query;
    const values = { ...daysOf(query), ...rowsOf(query), ...times, weekly: times.days % 7 === 0 };
    return this.#take('facts/row_sums', { files, values, parts: { text: query.text }, signal, priority: 0 }, take);
  }

  querySums(query: FactsQuery, queries: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('facts/day_sums', query, { names: queries }, { name: 'query' });
  }

  async question(query: FactsQuery & QuestionQuery): Promise<ReadRows> {
    const { files, signal } = query;
    if (files.length === 0) return readQuestionRows([], query);
    const { parts, values } = questionSql(query);
    const read = { files, parts, values: { ...values, ...daysOf(query) }, signal };
    const ask = (reader: FactsReader): Promise<QuestionRow[]> => reader.rows('facts/question', read);
    return readQuestionRows(await (hasManyValues(values) ? ask(this.#local) : this.#ask(files, ask)), query);
  }

  /** Like `#rows`, of results that are read again and again. */
  async #cache<Row, T>(name: string, query: FactsQuery, read: (row: Row) => T): Promise<readonly T[]> {
    const key = cacheKey(name, query.range, ...query.files.map(({ file }) => file));
    const known = this.#cached.get(key);
    if (known !== undefined) return known as readonly T[];
    const rows = (await this.#rows<Row>(name, query, {})).map(read);
    this.#cached.set(key, rows);
    return rows;
  }

  /** All rows of `sql/NAME.sql` over the files and range of a query. */
  async #rows<Row>(name: string, query: FactsQuery, more: FactsValues, parts = {}): Promise<Row[]> {
    const { files, signal } = query;
    if (files.length === 0) return [];
    const values = { ...more, ...daysOf(query) };
    return this.#ask(files, (reader) => reader.rows<Row>(name, { files, values, parts, signal }));
  }

  /** Passes the columns of `sql/NAME.sql`. Cannot fall back to another engine after the first rows. */
  async #take(name: string, read: FactsRead, take: TakeColumns): Promise<void> {
    if (read.files.length === 0) return;
    let hasTaken = false;
    await this.#ask(read.files, (reader) => {
      if (hasTaken) throw new Error(`sql/${name}.sql met a file that it could not read after it had read others`);
      return reader.numbers(name, read, (...rows) => {
        hasTaken = true;
        take(...rows);
      });
    });
  }

  /** One statement over the files of several properties; its first column is the index of a property in `parts`. */
  #each<T>(
    name: string,
    parts: readonly FactsPart[],
    { values, signal }: Pick<FactsRead, 'values' | 'signal'>,
    collect: (parts: readonly FactsPart[]) => Collected<T>,
  ): Promise<T[]> {
    const all = parts.flatMap(({ files }) => files);
    return this.#ask(all, async (reader) => {
      const { found, take } = collect(parts);
      for (const { files, ...lists } of groupsOf(parts, reader.maxFiles)) {
        await reader.numbers(name, { files, values: { ...values, ...lists }, priority: 0, signal }, take);
      }
      return found;
    });
  }

  /** Queries the chosen reader, or the local one if that cannot read the files. */
  async #ask<T>(files: readonly StoredFile[], ask: (reader: FactsReader) => Promise<T>): Promise<T> {
    const chosen = this.#choose(files);
    try {
      return await ask(chosen);
    } catch (error) {
      if (!(error instanceof UnreadableHere)) throw error;
      return ask(this.#local);
    }
  }
}

const rowsOf = ({ country, least, most }: RowsQuery): FactsValues => ({ country, least, most });
const daysOf = ({ range: { from, to } }: FactsQuery): { from: Day; to: Day } => ({ from, to });
