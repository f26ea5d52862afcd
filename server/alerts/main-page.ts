/** What ranks for a keyword in a window. */
export interface MainPage {
  /** Undefined where no page has enough of the impressions. */
  readonly page: number | undefined;
  /** Of all pages. */
  readonly impressions: number;
}

/** Rows of pages by day, in flat arrays. Pages are numbers; those that differ by a fragment only have the same. */
export interface PageRows {
  readonly pages: ArrayLike<number>;
  readonly impressions: ArrayLike<number>;
}

const MIN_SHARE = 0.6;

/**
 * The main page of a window, where one page alone decides that: it has enough of the impressions, or so many that no
 * other can have. Undefined where the rows have to be looked at.
 * @param held its impressions, of all that were `shown`
 */
export function mainPageByTop(page: number, held: number, shown: number): MainPage | undefined {
  if (shown > 0 && held >= MIN_SHARE * shown) return { page, impressions: shown };
  return shown - held < MIN_SHARE * shown || shown === 0 ? { page: undefined, impressions: shown } : undefined;
}

/**
 * The page with at least 60 % of the impressions of some rows.
 *
 * A page with more than half of all impressions is what is left when the impressions of different pages cancel each
 * other out (Boyer and Moore's majority vote): two passes, whatever the number of pages.
 * @param start of the first row, `end` behind the last one
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
