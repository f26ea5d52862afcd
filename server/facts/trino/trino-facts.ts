import { countDays, type Day, eachDay } from '../../domain/dates.ts';
import type { Measures } from '../../domain/metrics.ts';
import type { StoredFile } from '../../storage/file-store.ts';
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
import type { TrinoReader } from './reader.ts';
import type { TrinoValues } from './statement.ts';
import { CUMULATIVE_DAYS } from './tables.ts';

/** Max files of a statement about several properties. Trino takes statements of a million characters. */
const FILES_PER_STATEMENT = 2000;

/** The column of each breakdown. */
const NAMES: Readonly<Record<Breakdown, string>> = {
  country: 'country',
  device: 'device',
  appearance: 'appearance',
  brand: 'segment',
};

/** `Facts` by Trino over the same files as DuckDB: each query is a SQL file of `sql/trino/`. */
export class TrinoFacts implements Facts {
  readonly pageNumbers: Facts['pageNumbers'];
  readonly #reader: TrinoReader;

  /** @param pageNumbers of DuckDB: stored alerts have these numbers, which need no facts */
  constructor(reader: TrinoReader, pageNumbers: Facts['pageNumbers']) {
    this.#reader = reader;
    this.pageNumbers = pageNumbers;
  }

  siteDays(query: FactsQuery, device: Device): Promise<SiteDayMeasures[]> {
    return this.#rows('site_daily', query, { device });
  }

  async siteDaysOfEach(parts: readonly FactsPart[], device: Device, signal: AbortSignal): Promise<SiteDayMeasures[][]> {
    const { days, take } = collectSiteDays(parts);
    await this.#each('site_daily_each', parts, { device }, signal, take);
    return days;
  }

  async queryTotalsOfEach(parts: readonly FactsPart[], signal: AbortSignal): Promise<Measures[]> {
    const { totals, take } = collectTotals(parts);
    await this.#each('brand_totals_each', parts, {}, signal, take);
    return totals;
  }

  countryDays(query: FactsQuery, country: string): Promise<DayMeasures[]> {
    return this.#rows('country_days', query, { country });
  }

  countryMonths(query: FactsQuery, country: string | null): Promise<CountryMonth[]> {
    return this.#rows('country_months', query, { country });
  }

  totalsBy(breakdown: Breakdown, query: FactsQuery): Promise<NamedMeasures[]> {
    return this.#rows('totals', query, {}, { name: NAMES[breakdown] });
  }

  async keywordTotals(
    { plan, range, signal }: KeywordTotalsQuery,
    device: Device,
    positions: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals> {
    const totals = new KeywordTotals(positions);
    const stopping = new AbortController();
    const own = AbortSignal.any([signal, stopping.signal]);
    const add = (
      name: string,
      files: readonly StoredFile[],
      values: TrinoValues,
      sign = 1,
      parts = {},
    ): Promise<void> =>
      this.#reader.numbers(name, { files, signal: own, values, parts }, (columns, rows) =>
        totals.add(columns, rows, sign),
      );
    const reads = plan.cumulative.map(({ file, day, sign }) => {
      const columns = {
        clicks: `clicks_${day}`,
        impressions: `impressions_${day}`,
        sum_position: `sum_position_${day}`,
      };
      return () => add('keyword_cumulative', [file], {}, sign, columns);
    });
    const { running, days } = plan;
    if (running !== undefined) {
      const { file, through, before } = running;
      reads.push(() => add('keyword_running', [file], { through, before, device }));
    }
    if (days.length > 0) reads.push(() => add('keyword_totals', days, { ...range, device }));
    try {
      await Promise.all(reads.map((read) => read()));
    } finally {
      // If one failed, nobody needs the others.
      stopping.abort();
    }
    return totals;
  }

  async keywordDays(query: FactsQuery, device: Device, keywords: readonly string[]): Promise<DayGrid> {
    const { from, to } = query.range;
    const grid = new DayGrid(eachDay(from, to), keywords.length);
    const values = { device, keywords, days: grid.days.length };
    await this.#numbers('keyword_days', query, values, (columns, rows) => grid.fill(columns, rows));
    return grid;
  }

  keywordImpressions(query: FactsQuery, keywords: readonly string[], take: TakeColumns): Promise<void> {
    const { from, to } = query.range;
    return this.#numbers('keyword_impressions', query, { keywords, days: countDays(from, to) }, take);
  }

  async keywordCumulativeDays({ files, signal }: FactsQuery, take: TakeColumns): Promise<void> {
    const parts = { columns: CUMULATIVE_DAYS.join(', ') };
    await this.#reader.numbers('keyword_cumulative_days', { files, signal, parts }, take);
  }

  keywordSums(query: FactsQuery, keywords: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('day_sums', query, { names: keywords }, { name: 'keyword_id' });
  }

  async storedDays(query: FactsQuery): Promise<readonly Day[]> {
    const rows = await this.#rows<{ date: Day }>('table_days', query);
    return rows.map(({ date }) => date);
  }

  async keywordPages(query: FactsQuery, keywords: readonly string[] | 'all', take: TakeColumns): Promise<void> {
    const { files, range, signal } = query;
    if (files.length === 0) return;
    const all = keywords === 'all';
    const numbers = new Map<string, number>();
    const values = { ...range, all, keywords: all ? [] : keywords };
    await this.#reader.pages('keyword_pages', { files, signal, values }, async (rows) => {
      await this.#addNumbers(
        numbers,
        rows.map((row) => row[2] as string),
        signal,
      );
      const column = (value: (row: readonly unknown[]) => unknown) => Float64Array.from(rows, value as () => number);
      const page = column((row) => numbers.get(row[2] as string));
      take([column((row) => row[0]), column((row) => row[1]), page, column((row) => row[3])], rows.length);
    });
  }

  async keywordPageNames(query: FactsQuery, keywords: readonly string[]): Promise<Map<number, string>> {
    const rows = await this.#rows<{ url: string }>('keyword_page_names', query, { keywords });
    const numbers = new Map<string, number>();
    await this.#addNumbers(
      numbers,
      rows.map(({ url }) => url),
      query.signal,
    );
    return new Map([...numbers].map(([url, page]) => [page, url]));
  }

  keywordPageTotals(query: FactsQuery, keyword: string, limit: number): Promise<NamedMeasures[]> {
    return this.#rows('keyword_page_totals', query, { keyword, limit });
  }

  async pageUrls(query: FactsQuery): Promise<string[]> {
    const rows = await this.#rows<{ url: string }>('page_urls', query);
    return rows.map(({ url }) => url);
  }

  pageSums(query: FactsQuery, urls: readonly string[]): Promise<DayMeasures[]> {
    return this.#rows('day_sums', query, { names: urls }, { name: 'url' });
  }

  /** Adds the numbers of pages that have none yet. */
  async #addNumbers(numbers: Map<string, number>, urls: readonly string[], signal: AbortSignal): Promise<void> {
    const unknown = [...new Set(urls)].filter((url) => !numbers.has(url));
    if (unknown.length === 0) return;
    const found = await this.pageNumbers(unknown, signal);
    for (const [index, url] of unknown.entries()) numbers.set(url, found[index]!);
  }

  async #each(
    name: string,
    parts: readonly FactsPart[],
    values: TrinoValues,
    signal: AbortSignal,
    take: TakeColumns,
  ): Promise<void> {
    for (const { start, end } of groupsOf(parts)) {
      const { files, places, ...days } = filesOfEach(parts.slice(start, end));
      if (files.length === 0) continue;
      const lists = { ...days, places: places.map((place) => String(start + Number(place))) };
      await this.#reader.numbers(name, { files, signal, values: { ...values, ...lists } }, take);
    }
  }

  async #numbers(
    name: string,
    { files, range, signal }: FactsQuery,
    values: TrinoValues,
    take: TakeColumns,
  ): Promise<void> {
    if (files.length > 0) await this.#reader.numbers(name, { files, signal, values: { ...range, ...values } }, take);
  }

  async #rows<Row>(
    name: string,
    { files, range, signal }: FactsQuery,
    values: TrinoValues = {},
    parts = {},
  ): Promise<Row[]> {
    if (files.length === 0) return [];
    return this.#reader.rows<Row>(name, { files, signal, values: { ...range, ...values }, parts });
  }
}

/** Parts that one statement can read. */
function* groupsOf(parts: readonly FactsPart[]): Generator<{ start: number; end: number }> {
  let files = 0;
  let start = 0;
  for (const [place, part] of parts.entries()) {
    if (files > 0 && files + part.files.length > FILES_PER_STATEMENT) {
      yield { start, end: place };
      [start, files] = [place, 0];
    }
    files += part.files.length;
  }
  yield { start, end: parts.length };
}
