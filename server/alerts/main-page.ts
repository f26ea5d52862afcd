/** The main page of a keyword in a window. */
export interface MainPage {
  /** Undefined if no page has enough of the impressions. */
  readonly page: number | undefined;
  /** Impressions of all pages. */
  readonly impressions: number;
}

/** Page rows in flat arrays. URLs that differ only in their fragment have the same page number. */
export interface PageRows {
  readonly pages: ArrayLike<number>;
  readonly impressions: ArrayLike<number>;
}

const MIN_SHARE = 0.6;

/**
 * The main page of a window, if one page decides the result: it has enough impressions, or leaves too few for any other.
 * Undefined if the rows must be read.
 * @param held impressions of the page
 * @param shown impressions of all pages
 */
export function mainPageByTop(page: number, held: number, shown: number): MainPage | undefined {
  if (shown > 0 && held >= MIN_SHARE * shown) return { page, impressions: shown };
  return shown - held < MIN_SHARE * shown || shown === 0 ? { page: undefined, impressions: shown } : undefined;
}

/**
 * The page with at least 60 % of the impressions of some rows.
 *
 * Uses the Boyer-Moore majority vote: two passes, regardless of the number of pages.
 * @param start index of the first row
 * @param end index after the last row
 */
export function mainPage({ pages, impressions }: PageRows, start: number, end: number): MainPage {
  let candidate: number | undefined;
  let votes = 0;
  let total = 0;
  for (let row = start; row < end; row++) {
    const shown = impressions[row]!;
    total += shown;
    if (pages[row] === candidate) votes += shown;
    else if (shown > votes) {
      candidate = pages[row]!;
      votes = shown - votes;
    } else votes -= shown;
  }
  let held = 0;
  for (let row = start; row < end; row++) if (pages[row] === candidate) held += impressions[row]!;
  return { page: total > 0 && held >= MIN_SHARE * total ? candidate : undefined, impressions: total };
}

/** Days that the check reads: the week that ends on the evaluated day, and the four weeks before it. */
export const URL_CHANGED_DAYS = 35;

const MIN_IMPRESSIONS = 10;
const MIN_IMPRESSIONS_BEFORE = 40;

export interface UrlChanged {
  /** The main page of the week; undefined if there is none or too few impressions. */
  readonly page: number | undefined;
  /** The main page of the weeks before. */
  readonly before: number | undefined;
  readonly opens: boolean;
}

/** Whether the main page of a keyword differs from that of the four weeks before. */
export function urlChanged(week: MainPage, before: MainPage): UrlChanged {
  const page = week.impressions >= MIN_IMPRESSIONS ? week.page : undefined;
  const old = before.impressions >= MIN_IMPRESSIONS_BEFORE ? before.page : undefined;
  return { page, before: old, opens: page !== undefined && old !== undefined && page !== old };
}

/** Days that the check reads. */
export const URL_MISMATCH_DAYS = 7;

export interface UrlMismatch {
  readonly page: number;
  readonly opens: boolean;
}

/** Whether the main page of a keyword differs from its target page. Undefined without a main page. */
export function urlMismatch(week: MainPage, target: number): UrlMismatch | undefined {
  if (week.page === undefined || week.impressions < MIN_IMPRESSIONS) return undefined;
  return { page: week.page, opens: week.page !== target };
}
