import { type StoredDays, toPrefixSums } from './daily-sums.ts';
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
export const NO_PAGES: Omit<PageFacts, 'stored'> = {
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

export function emptyGrid(keywords: number, days: number): KeywordGrid {
  const cells = keywords * (days + 1);
  return { impressions: new Float64Array(cells), positions: new Float64Array(cells) };
}

/** Converts the daily values of each keyword to prefix sums, in place. */
export function addUpDays({ impressions, positions }: KeywordGrid, days: number): void {
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
