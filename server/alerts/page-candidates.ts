import { mainPage } from './main-page.ts';

/**
 * Finds the keywords whose pages matter to a check, in one pass over the page rows and without storing them.
 *
 * A page with 60 % of the impressions of a window has at least 60 % on one of its days. So if only one page ever reaches
 * 60 % of a day, it is the main page of each window that has one. This also holds for parts of days: neither the order
 * of rows nor where a day is split matters.
 */
export class PageCandidates {
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
