import { mainPage } from './main-page.ts';

/**
 * Finds, in one pass over the rows of pages, the keywords whose pages can matter to a check. Memory holds a page for
 * each keyword, and not its rows.
 *
 * A page with 60 % of the impressions of a window has 60 % on at least one of its days. So a keyword on whose days only
 * one page has that much has that main page in every window, or none. The same holds for parts of days: it does not
 * matter in which order rows come, or where a day is split.
 */
export class PageCandidates {
  /** Rows of each keyword. */
  readonly rows: Int32Array;
  /** The main page of some day; NaN before the first. */
  readonly #page: Float64Array;
  /** Whether another day has another one. */
  readonly #hasOthers: Uint8Array;

  constructor(keywords: number) {
    this.rows = new Int32Array(keywords);
    this.#page = new Float64Array(keywords).fill(Number.NaN);
    this.#hasOthers = new Uint8Array(keywords);
  }

  /** Takes rows by columns: place of the keyword, day, page, impressions. */
  add(columns: readonly Float64Array[], rows: number): void {
    const [keywords, days, pages, impressions] = columns as [Float64Array, Float64Array, Float64Array, Float64Array];
    for (let start = 0, end = 1; start < rows; start = end++) {
      while (end < rows && keywords[end] === keywords[start] && days[end] === days[start]) end++;
      const keyword = keywords[start]!;
      this.rows[keyword]! += end - start;
      const page = end === start + 1 ? pages[start]! : mainPage({ pages, impressions }, start, end).page;
      if (page === undefined || (end === start + 1 && impressions[start] === 0)) continue;
      if (Number.isNaN(this.#page[keyword]!)) this.#page[keyword] = page;
      else if (this.#page[keyword] !== page) this.#hasOthers[keyword] = 1;
    }
  }

  /**
   * Whether an alert about the pages of a keyword can open: they change, or differ from the one that should rank.
   * @param target the page that should rank; NaN for none
   */
  canOpen(keyword: number, target: number): boolean {
    if (this.#hasOthers[keyword] === 1) return true;
    const page = this.#page[keyword]!;
    return !Number.isNaN(target) && !Number.isNaN(page) && page !== target;
  }
}
