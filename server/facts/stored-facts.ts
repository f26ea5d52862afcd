import { countDays, type Day, WEEK } from '../domain/dates.ts';
import { invalidRequest, type KnownError } from '../domain/errors.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Measures } from '../domain/metrics.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { daysOfDevice } from './days.ts';
import { collectSiteDays, collectTotals } from './each-range.ts';
import type {
  Device,
  DeviceMeasures,
  Facts,
  FactsQuery,
  KeywordTotalsQuery,
  NamedRow,
  PageWeight,
  RowsQuery,
  SiteDayMeasures,
  StoredRange,
  TakeColumns,
} from './facts.ts';
import { DayGrid, KeywordTotals, NO_KEYWORD_TOTALS, planKeywordTotals } from './keywords.ts';
import type { FactsReader, FactsValues } from './reader.ts';
import { daysOf, FactStatements } from './statements.ts';
import { EVERY_ROW, hasManyValues, type ReadRows, readSums, type SumsQuery, type SumsRow, sumsSql } from './sums.ts';

/** Rows of a page of sums that are remembered, at most. */
const MAX_REMEMBERED = 1000;

/** Windows, and weeks before the newest one, where they do not begin with weeks. */
const WINDOWS = ', cast(floor(age / cast($days as double)) as smallint), cast(floor((age - $days) / 7e0) as smallint)';

type LocalReader = FactsReader & Pick<Facts, 'pageNumbers'>;

/** `Facts` over stored files: each query is a SQL file, run by the engine that is chosen for its files. */
export class StoredFacts implements Facts {
  readonly #local: LocalReader;
  readonly #statements: FactStatements;
  /** Always local, because it reads no files. */
  readonly pageNumbers: Facts['pageNumbers'] = (texts, signal) => this.#local.pageNumbers(texts, signal);

  /** @param local reads what the chosen reader cannot */
  constructor(local: LocalReader, choose: (files: readonly StoredFile[]) => FactsReader = () => local) {
    this.#local = local;
    this.#statements = new FactStatements(local, choose);
  }

  async siteDays(query: FactsQuery, device: Device): Promise<SiteDayMeasures[]> {
    return daysOfDevice(await this.siteDevices(query), device);
  }

  siteDaysOfEach(ranges: readonly StoredRange[], device: Device, signal: AbortSignal): Promise<SiteDayMeasures[][]> {
    return this.#statements.each('facts/site_daily_each', ranges, { values: { device }, signal }, collectSiteDays);
  }

  queryTotalsOfEach(ranges: readonly StoredRange[], signal: AbortSignal): Promise<(Measures | null)[]> {
    return this.#statements.each('facts/brand_totals_each', ranges, { signal }, collectTotals);
  }

  async siteDevices({ files, range, signal }: FactsQuery): Promise<readonly DeviceMeasures[]> {
    // Files are read once, whatever ranges are asked for.
    const all = { files, range: EVERY_DAY, signal };
    const read = async (): Promise<DeviceMeasures[]> => {
      // All tables of sites have the same columns.
      const sums = { table: 'site_daily', by: ['date', 'device'], test: EVERY_ROW, hasZeros: true } as const;
      const { rows } = await this.sums({ ...all, ...sums });
      return rows
        .map(({ names: [date, device], now }) => ({ date: date!, device: device!, ...now }))
        .sort((a, b) => (a.date === b.date ? (a.device < b.device ? -1 : 1) : a.date < b.date ? -1 : 1));
    };
    const rows = await this.#statements.remember(
      'site devices',
      all,
      {},
      { read, rowsOf: ({ length }) => length, check: () => this.#check(files) },
    );
    return rows.filter(({ date }) => date >= range.from && date <= range.to);
  }

  /**
   * Reads the parts of the plan in parallel; a single statement would read them one after the other. Filtering by keyword
   * would be faster only for a handful of keywords.
   */
  keywordTotals(
    { files, range, unknown, signal }: KeywordTotalsQuery,
    device: Device,
    indexes: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals> {
    const { cumulative, running, days } = files === null ? NO_KEYWORD_TOTALS : planKeywordTotals(files, range);
    const all = [...cumulative.map(({ file }) => file), ...(running ? [running.file] : []), ...days];
    return this.#statements.withReader(all, async (reader) => {
      const totals = new KeywordTotals(indexes);
      const stopping = new AbortController();
      const either = AbortSignal.any([signal, stopping.signal]);
      const add = (name: string, of: readonly StoredFile[], values: FactsValues, sign = 1): Promise<void> =>
        reader.numbers(`facts/${name}`, { files: of, values, signal: either }, (columns, rows) =>
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
      if (days.length > 0) reads.push(add('keyword_totals', days, { device, from: range.from, to: range.to }));
      try {
        await Promise.all(reads);
      } finally {
        // If one has failed, the others are not needed.
        stopping.abort();
      }
      totals.forget([...unknown].map(shortIdNumber));
      return totals;
    });
  }

  async keywordDays(
    { files, range: { from, to }, signal }: FactsQuery,
    device: Device,
    keywords: readonly string[],
    priority: number,
  ): Promise<DayGrid> {
    const days = countDays(from, to);
    if (files.length === 0) return new DayGrid(days, keywords.length);
    return this.#statements.withReader(files, async (reader) => {
      const grid = new DayGrid(days, keywords.length);
      const values = { device, keywords, from, to, days };
      await reader.numbers('facts/keyword_days', { files, values, priority, signal }, (columns, rows) =>
        grid.fill(columns, rows),
      );
      return grid;
    });
  }

  keywordImpressions(query: FactsQuery, keywords: readonly string[], take: TakeColumns): Promise<void> {
    const { files, range, signal } = query;
    const values = { ...daysOf(query), keywords, days: countDays(range.from, range.to) };
    return this.#statements.take('alerts/keyword_impressions', { files, values, signal, isByFile: true }, take);
  }

  keywordCumulativeDays({ files, signal }: FactsQuery, take: TakeColumns): Promise<void> {
    return this.#statements.take('alerts/keyword_cumulative_days', { files, signal }, take);
  }

  storedDays(query: FactsQuery): Promise<readonly Day[]> {
    return this.#statements.cached('alerts/table_days', query, ({ date }: { date: Day }) => date);
  }

  keywordPages(query: FactsQuery, keywords: readonly string[] | 'all', take: TakeColumns): Promise<void> {
    const { files, signal } = query;
    const all = keywords === 'all';
    const values = { ...daysOf(query), all, keywords: all ? [] : keywords };
    const read = { files, values, signal, isByFile: true, pageNumbers: this.pageNumbers };
    return this.#statements.take('alerts/keyword_pages', read, take);
  }

  async keywordPageNames(query: FactsQuery, keywords: readonly string[]): Promise<Map<number, string>> {
    const rows = await this.#statements.rows<{ url: string }>('alerts/keyword_page_names', query, { keywords });
    const urls = rows.map(({ url }) => url);
    const numbers = await this.pageNumbers(urls, query.signal);
    return new Map(urls.map((url, index) => [numbers[index]!, url]));
  }

  keywordTopPages(query: FactsQuery, keywords: readonly string[]): Promise<{ keyword: string; url: string }[]> {
    return this.#statements.rows('facts/keyword_top_pages', query, { keywords });
  }

  async pageUrls(query: FactsQuery): Promise<string[]> {
    return (await this.#statements.rows<{ url: string }>('alerts/page_urls', query, {})).map(({ url }) => url);
  }

  pageWeights(query: FactsQuery, of: { recent: Day; newest: Day; limit: number }): Promise<PageWeight[]> {
    return this.#statements.rows('facts/page_weights', query, of);
  }

  clickDays(query: FactsQuery, of: 'page' | 'keyword', names: readonly string[], take: TakeColumns): Promise<void> {
    const { files, range, signal } = query;
    const values = { ...daysOf(query), days: countDays(range.from, range.to), names };
    const fills = { name: of === 'page' ? 'url' : 'keyword_id' };
    return this.#statements.take('facts/click_days', { files, values, fills, signal }, take);
  }

  rowNames(query: RowsQuery): Promise<NamedRow[]> {
    const { text, country, least, most } = query;
    return this.#statements.rows('facts/row_names', query, { country, least, most }, { text }, this.pageNumbers);
  }

  rowSums(query: RowsQuery, days: number, take: TakeColumns): Promise<void> {
    const { files, signal, text, country } = query;
    const isWeeks = days % WEEK === 0;
    const values = { ...daysOf(query), country, ...(!isWeeks && { days }) };
    const fills = { text, times: isWeeks ? '' : WINDOWS };
    const read = { files, values, fills, signal, priority: 0, pageNumbers: this.pageNumbers };
    return this.#statements.take('facts/row_sums', read, take);
  }

  async sums<Sums = Measures>(query: FactsQuery & SumsQuery): Promise<ReadRows<Sums>> {
    const { files, signal, page } = query;
    if (files.length === 0) return readSums([], query);
    const { fills, values } = sumsSql(query);
    const asked = { files, fills, values: { ...values, ...daysOf(query) }, signal };
    const readWith = async (reader: FactsReader): Promise<ReadRows<Sums>> => {
      const rows = await reader.rows<SumsRow>('facts/sums', asked).catch((error: unknown) => {
        throw ofClient(error) ?? error;
      });
      return readSums(rows, query);
    };
    if (hasManyValues(values)) return readWith(this.#local);
    const read = (): Promise<ReadRows<Sums>> => this.#statements.withReader(files, readWith);
    // Reports read long lists from the store when they are asked again.
    if (page === undefined || page.limit > MAX_REMEMBERED) return read();
    return this.#statements.remember(
      'facts/sums',
      query,
      { fills, values },
      { read, rowsOf: ({ rows }) => rows.length, check: () => this.#check(files) },
    );
  }

  /** Nothing is answered from memory once the files are damaged. */
  #check(files: readonly StoredFile[]): Promise<void> {
    return this.#statements.withReader(files, (reader) => reader.check(files));
  }
}

/** The refusal of a value that a client sent, such as an expression; undefined for other errors of DuckDB. */
function ofClient(error: unknown): KnownError | undefined {
  const [, problem] = /^(?:Invalid Input|Conversion|Out of Range) Error: (.*)/.exec((error as Error).message) ?? [];
  return problem === undefined ? undefined : invalidRequest(`filters: the values cannot be compared: ${problem}.`);
}
