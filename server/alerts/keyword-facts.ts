import type { FactFile } from '../catalog/fact-files.ts';
import { addDays, countDays, type Day, later, monthOf } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Range } from '../domain/range.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { type StoredDays, toPrefixSums } from './calendar.ts';
import type { KeywordSums } from './keyword-drop.ts';
import { type MainPage, mainPage, mainPageByTop } from './main-page.ts';

export interface AlertKeyword {
  readonly id: string;
  readonly query: string;
  /** The page that should rank. */
  readonly targetUrl: string | null;
}

/** Ranking pages in flat arrays: rows are grouped by keyword and sorted by day. */
export interface PageFacts {
  readonly stored: StoredDays;
  /** The first row of each keyword, and the number of rows. */
  readonly starts: Int32Array;
  readonly days: Int32Array;
  readonly pages: Float64Array;
  readonly impressions: Float64Array;
  /** URLs by page number, without fragments; only pages that texts mention. */
  urls: ReadonlyMap<number, string>;
  /** The page that should rank for each keyword; NaN for none. */
  readonly targets: Float64Array;
}

/** The days on which keywords are unknown, by the keyword's index. */
export type UnknownDays = ReadonlyMap<number, readonly { readonly from: number; readonly to: number }[]>;

/** Facts without pages. */
const NO_PAGES: Omit<PageFacts, 'stored'> = {
  starts: new Int32Array(0),
  days: new Int32Array(0),
  pages: new Float64Array(0),
  impressions: new Float64Array(0),
  urls: new Map(),
  targets: new Float64Array(0),
};

/**
 * Impressions and positions of keywords over all devices, as prefix sums by day in two flat arrays: 16 bytes per keyword
 * and day.
 */
export class KeywordFacts {
  readonly keywords: readonly AlertKeyword[];
  readonly days: number;
  readonly stored: StoredDays;
  readonly pages: PageFacts;
  readonly #gaps: UnknownDays;
  readonly #impressions: Float64Array;
  readonly #positions: Float64Array;
  /** Sums of the last used keyword, as callers process one keyword at a time. */
  #sums: { readonly keyword: number; readonly sums: KeywordSums } | undefined;
  #topPage: { readonly keyword: number; readonly top: TopPage } | undefined;

  /** @param sums prefix sums (see `addUpDays`) */
  constructor(
    keywords: readonly AlertKeyword[],
    days: number,
    sums: KeywordGrid,
    { stored, pages, gaps = new Map() }: { stored: StoredDays; pages: PageFacts; gaps?: UnknownDays },
  ) {
    this.keywords = keywords;
    this.days = days;
    this.stored = stored;
    this.pages = pages;
    this.#gaps = gaps;
    this.#impressions = sums.impressions;
    this.#positions = sums.positions;
  }

  sumsOf(keyword: number): KeywordSums {
    if (this.#sums?.keyword !== keyword) {
      const start = keyword * (this.days + 1);
      const end = start + this.days + 1;
      const [impressions, positions] = [this.#impressions.subarray(start, end), this.#positions.subarray(start, end)];
      this.#sums = { keyword, sums: { impressions, positions } };
    }
    return this.#sums.sums;
  }

  /** Whether all days of a window are stored and known of a keyword, both ends included. */
  areWhole(keyword: number, from: number, to: number): boolean {
    return this.stored.areWhole(from, to) && this.#areKnown(keyword, from, to);
  }

  /** The same of the pages that ranked for it. */
  arePagesWhole(keyword: number, from: number, to: number): boolean {
    return this.pages.stored.areWhole(from, to) && this.#areKnown(keyword, from, to);
  }

  #areKnown(keyword: number, from: number, to: number): boolean {
    const gaps = this.#gaps.get(keyword);
    return gaps === undefined || gaps.every((gap) => gap.to < from || gap.from > to);
  }

  /** Whether any rows of pages were read for a keyword. */
  hasPages(keyword: number): boolean {
    const { starts } = this.pages;
    return (starts[keyword] ?? 0) < (starts[keyword + 1] ?? 0);
  }

  /** The main page of a keyword in a window. */
  mainPage(keyword: number, from: number, to: number): MainPage {
    const { starts, days } = this.pages;
    const [start, end] = [starts[keyword] ?? 0, starts[keyword + 1] ?? 0];
    if (start === end) return { page: undefined, impressions: 0 };
    if (this.#topPage?.keyword !== keyword)
      this.#topPage = { keyword, top: topPage(this.pages, start, end, this.days) };
    const { page, held, shown } = this.#topPage.top;
    const known = mainPageByTop(page, held[to + 1]! - held[from]!, shown[to + 1]! - shown[from]!);
    if (known !== undefined) return known;
    return mainPage(this.pages, firstAtOrAfter(days, start, end, from), firstAtOrAfter(days, start, end, to + 1));
  }
}

/** The page with the most impressions of a keyword over all days, with prefix sums by day. */
interface TopPage {
  readonly page: number;
  /** Impressions of that page. */
  readonly held: Float64Array;
  /** Impressions of all pages. */
  readonly shown: Float64Array;
}

function topPage({ pages, impressions, days: dayOf }: PageFacts, start: number, end: number, days: number): TopPage {
  const totals = new Map<number, number>();
  for (let row = start; row < end; row++) {
    totals.set(pages[row]!, (totals.get(pages[row]!) ?? 0) + impressions[row]!);
  }
  const [page] = [...totals].reduce((most, each) => (each[1] > most[1] ? each : most));
  const [held, shown] = [new Float64Array(days + 1), new Float64Array(days + 1)];
  for (let row = start; row < end; row++) {
    const at = dayOf[row]! + 1;
    shown[at]! += impressions[row]!;
    if (pages[row] === page) held[at]! += impressions[row]!;
  }
  return { page, held: toPrefixSums(held), shown: toPrefixSums(shown) };
}

/**
 * Daily values of keywords, or their prefix sums, in cell `keyword * (days + 1) + day + 1`. The first cell of a keyword
 * precedes its days.
 */
export interface KeywordGrid {
  readonly impressions: Float64Array;
  /** Sums of zero-based positions. */
  readonly positions: Float64Array;
}

function emptyGrid(keywords: number, days: number): KeywordGrid {
  const cells = keywords * (days + 1);
  return { impressions: new Float64Array(cells), positions: new Float64Array(cells) };
}

/** Converts the daily values of each keyword to prefix sums, in place. */
function addUpDays({ impressions, positions }: KeywordGrid, days: number): void {
  for (const values of [impressions, positions]) {
    for (let start = 0; start < values.length; start += days + 1)
      toPrefixSums(values.subarray(start, start + days + 1));
  }
}

function firstAtOrAfter(days: Int32Array, start: number, end: number, day: number): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (days[middle]! < day) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The files of a project's keywords up to the end of a range, by month. */
export interface KeywordDayFiles {
  /** `keyword_all`. */
  readonly days: readonly FactFile[];
  /** `keyword_cumulative`. */
  readonly cumulative: readonly FactFile[];
}

interface SumsQuery {
  readonly files: KeywordDayFiles;
  readonly range: Range;
  readonly signal: AbortSignal;
}

/**
 * Reads impressions and positions of keywords as prefix sums by day. Cumulative totals are prefix sums already, with one
 * row per keyword and month. Days are added up only if a project has no cumulative totals (an older version loaded it).
 */
export async function readKeywordSums(
  facts: Facts,
  query: SumsQuery,
  keywords: readonly string[],
): Promise<KeywordGrid> {
  const { days, cumulative } = query.files;
  const months = new Set(cumulative.map(({ part }) => part));
  return days.every(({ part }) => months.has(part))
    ? readCumulative(facts, query, keywords)
    : readDays(facts, query, keywords);
}

async function readCumulative(
  facts: Facts,
  { files, range, signal }: SumsQuery,
  keywords: readonly string[],
): Promise<KeywordGrid> {
  const days = countDays(range.from, range.to);
  const grid = emptyGrid(keywords.length, days);
  const indexes = new Map(keywords.map((id, index) => [shortIdNumber(id), index]));
  // The first cell has the total before the range.
  const first = addDays(range.from, -1);
  for (const [index, file] of files.cumulative.entries()) {
    const next = files.cumulative[index + 1];
    const from = later(first, `${file.part}-01`);
    // A month without a file repeats the totals before it.
    const to = next === undefined ? range.to : addDays(`${next.part}-01`, -1);
    if (to < from) continue;
    const columns = columnsOf(file.part, { from, to });
    const start = countDays(range.from, from);
    await facts.keywordCumulativeDays({ files: [file], range, signal }, (values, rows) => {
      const cells = Array.from(
        { length: rows },
        (_, row) => (indexes.get(values[0]![row]!) ?? Number.NaN) * (days + 1) + start,
      );
      for (const [day, column] of columns.entries()) {
        copyColumn(values[column]!, grid.impressions, cells, day);
        copyColumn(values[column + MONTH_DAYS]!, grid.positions, cells, day);
      }
    });
  }
  return grid;
}

/** Copies the values of a day to the cells of their keywords. NaN: the keyword is not tracked. */
function copyColumn(values: Float64Array, to: Float64Array, cells: readonly number[], day: number): void {
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row]!;
    if (!Number.isNaN(cell)) to[cell + day] = values[row]!;
  }
}

/** Each file of cumulative totals has columns for this many days, also in shorter months. */
const MONTH_DAYS = 31;

/** The column of impressions for each day of a range that starts in `month`. */
function columnsOf(month: string, { from, to }: Range): number[] {
  const first = Number(from.slice(8));
  return Array.from({ length: countDays(from, to) }, (_, day) =>
    monthOf(addDays(from, day)) === month ? first + day : MONTH_DAYS,
  );
}

async function readDays(
  facts: Facts,
  { files, range, signal }: SumsQuery,
  keywords: readonly string[],
): Promise<KeywordGrid> {
  const days = countDays(range.from, range.to);
  const grid = emptyGrid(keywords.length, days);
  const inRange = files.days.filter(({ part }) => part >= monthOf(range.from));
  await facts.keywordImpressions(
    { files: inRange, range, signal },
    keywords,
    ([cells, impressions, positions], rows) => {
      for (let row = 0; row < rows; row++) {
        grid.impressions[cells![row]!] = impressions![row]!;
        grid.positions[cells![row]!] = positions![row]!;
      }
    },
  );
  addUpDays(grid, days);
  return grid;
}

/**
 * Finds the keywords whose pages matter to a check, in one pass over the page rows and without storing them.
 *
 * A page with 60 % of the impressions of a window has at least 60 % on one of its days. So if only one page ever reaches
 * 60 % of a day, it is the main page of each window that has one. This also holds for parts of days: neither the order
 * of rows nor where a day is split matters.
 */
class PageCandidates {
  /** Number of rows of each keyword. */
  readonly rows: Int32Array;
  /** Days with rows, as indexes. */
  readonly days = new Set<number>();
  /** Places of the keywords by `shortIdNumber` of the id. */
  readonly #indexes: ReadonlyMap<number, number>;
  /** The first main page of a day; NaN: none yet. */
  readonly #page: Float64Array;
  /** Whether another day has another main page. */
  readonly #hasOthers: Uint8Array;

  /** @param indexes of the keywords by `shortIdNumber` of the id; rows of other keywords are ignored */
  constructor(indexes: ReadonlyMap<number, number>) {
    this.#indexes = indexes;
    this.rows = new Int32Array(indexes.size);
    this.#page = new Float64Array(indexes.size).fill(Number.NaN);
    this.#hasOthers = new Uint8Array(indexes.size);
  }

  /** Adds rows. Columns: keyword (`shortIdNumber`), day, page, impressions. */
  add(columns: readonly Float64Array[], rows: number): void {
    const [keywords, days, pages, impressions] = columns as [Float64Array, Float64Array, Float64Array, Float64Array];
    let number = Number.NaN;
    let keyword: number | undefined;
    for (let start = 0, end = 1; start < rows; start = end++) {
      while (end < rows && keywords[end] === keywords[start] && days[end] === days[start]) end++;
      // Rows of a keyword usually follow each other.
      if (keywords[start] !== number) {
        number = keywords[start]!;
        keyword = this.#indexes.get(number);
      }
      if (keyword === undefined) continue;
      this.days.add(days[start]!);
      this.rows[keyword]! += end - start;
      const page = end === start + 1 ? pages[start]! : mainPage({ pages, impressions }, start, end).page;
      if (page === undefined || (end === start + 1 && impressions[start] === 0)) continue;
      if (Number.isNaN(this.#page[keyword]!)) this.#page[keyword] = page;
      else if (this.#page[keyword] !== page) this.#hasOthers[keyword] = 1;
    }
  }

  /**
   * Whether a page alert of a keyword can open: its main page changes or differs from its target.
   * @param target the target page; NaN for none
   */
  canOpen(keyword: number, target: number): boolean {
    if (this.#hasOthers[keyword] === 1) return true;
    const page = this.#page[keyword]!;
    return !Number.isNaN(target) && !Number.isNaN(page) && page !== target;
  }
}

/**
 * Reads the page rows of the keywords that matter to a check: those whose alerts can open, and those of `open`, whose
 * alerts can resolve. `days`: the days on which any keyword has rows.
 */
export async function readPageRows(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly AlertKeyword[],
  open: ReadonlySet<string>,
): Promise<{ rows: Omit<PageFacts, 'stored'>; days: Day[] }> {
  if (query.files.length === 0) return { rows: NO_PAGES, days: [] };
  const numbers = new Map(keywords.map(({ id }, index) => [shortIdNumber(id), index]));
  const targets = await readTargets(facts, query.signal, keywords);
  const candidates = new PageCandidates(numbers);
  await facts.keywordPages(query, 'all', (columns, rows) => candidates.add(columns, rows));
  const days = [...candidates.days].sort((a, b) => a - b).map((day) => addDays(query.range.from, day));

  const indexes = keywords.flatMap(({ id }, index) =>
    candidates.canOpen(index, targets[index]!) || open.has(id) ? [index] : [],
  );
  if (indexes.length === 0) return { rows: { ...NO_PAGES, targets }, days };
  const starts = new Int32Array(keywords.length + 1);
  for (const index of indexes) starts[index + 1] = candidates.rows[index]!;
  toPrefixSums(starts);
  const total = starts[keywords.length]!;
  const rows = { days: new Int32Array(total), pages: new Float64Array(total), impressions: new Float64Array(total) };
  const ends = starts.slice(0, -1);
  const read = indexes.map((index) => keywords[index]!.id);
  await facts.keywordPages(query, read, ([keyword, day, page, shown], count) => {
    for (let row = 0; row < count; row++) {
      const at = ends[numbers.get(keyword![row]!)!]!++;
      rows.days[at] = day![row]!;
      rows.pages[at] = page![row]!;
      rows.impressions[at] = shown![row]!;
    }
  });
  for (const index of indexes) sortByDay(rows, starts[index]!, starts[index + 1]!);
  return { rows: { ...rows, starts, targets, urls: new Map() }, days };
}

/** Sorts the rows of a keyword by day. Usually they are sorted: files arrive by month, with rows by keyword and day. */
function sortByDay(
  { days, pages, impressions }: Pick<PageFacts, 'days' | 'pages' | 'impressions'>,
  start: number,
  end: number,
): void {
  let row = start + 1;
  while (row < end && days[row - 1]! <= days[row]!) row++;
  if (row >= end) return;
  const order = Array.from({ length: end - start }, (_, index) => start + index).sort((a, b) => days[a]! - days[b]!);
  for (const values of [days, pages, impressions])
    values.set(
      order.map((from) => values[from]!),
      start,
    );
}

/** The page that should rank for each keyword; NaN for none. */
async function readTargets(
  facts: Facts,
  signal: AbortSignal,
  keywords: readonly AlertKeyword[],
): Promise<Float64Array> {
  const urls = [...new Set(keywords.flatMap(({ targetUrl }) => targetUrl ?? []))];
  const numbers = urls.length === 0 ? [] : await facts.pageNumbers(urls, signal);
  const byUrl = new Map(urls.map((url, index) => [url, numbers[index]!]));
  return Float64Array.from(keywords, ({ targetUrl }) => (targetUrl === null ? Number.NaN : byUrl.get(targetUrl)!));
}
