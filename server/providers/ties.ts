/** A row of an answer: its key, and what answers are ordered by. */
interface KeyedRow {
  readonly keys: readonly string[];
  readonly clicks: number;
}

interface TiePaging<Row extends KeyedRow> {
  /** Rows to read in all, and at most in one answer. */
  readonly max: number;
  readonly limit: number;
  /** Some rows in the provider's order; fewer than `limit` at the end of the rows. */
  readonly page: (start: number, limit: number) => Promise<readonly Row[]>;
  /** Takes rows that did not come before. */
  readonly take: (rows: readonly Row[]) => Promise<void>;
}

export interface PagedRows {
  readonly rows: number;
  /** There are more than `max` rows. */
  readonly truncated: boolean;
}

/** Most answers of one read; a provider that repeats itself for ever is left there. */
const MAX_ANSWERS = 60;
/** Answers in a row without a new row: what is still missing is not there to be found. */
const MAX_FRUITLESS = 12;

/**
 * Reads rows that are ordered by clicks, those with the same clicks in any order, another one with each answer. So an
 * answer that ends in the middle of a tie can leave out rows that the next one does not bring either. Paging goes on at
 * the first row of the tie that was cut. A tie longer than an answer is read again from its first row until all of its
 * rows have come, since each answer brings another part of it. Rows in another order (those of days can be ordered by
 * day) have no ties: paging goes on behind them.
 */
export async function readThroughTies<Row extends KeyedRow>(paging: TiePaging<Row>): Promise<PagedRows> {
  const { max, limit, page, take } = paging;
  const known = new KnownRows();
  // All rows before the tie are there. Its clicks and the rank behind its last row are learned from answers.
  let tie: { start: number; clicks?: number | undefined; end?: number | undefined } = { start: 0 };
  let total: number | undefined;
  let hasTies = true;
  for (let start = 0, answers = 0, fruitless = 0; answers < MAX_ANSWERS && fruitless < MAX_FRUITLESS; answers++) {
    const rows = await page(start, limit);
    const added = rows.filter((row) => known.add(row));
    if (added.length > 0) await take(added);
    fruitless = added.length === 0 ? fruitless + 1 : 0;
    const end = start + rows.length;
    if (rows.length < limit) total = end;
    hasTies &&= isOrdered(rows);
    if (!hasTies) {
      if (rows.length < limit || end >= max) break;
      start = end;
      tie = { start };
      continue;
    }

    tie.clicks ??= rows[0]?.clicks;
    const behind = rows.findIndex(({ clicks }) => clicks < tie.clicks!);
    if (behind >= 0) tie.end = start + behind;
    else if (total !== undefined) tie.end ??= total;
    const wanted = Math.min(tie.end ?? max, max);
    if (known.withClicks(tie.clicks) < wanted) {
      // First on to the end of the tie, as far as it is wanted; then again from its first row.
      const next = Math.min(end, Math.max(tie.start, max - limit));
      start = tie.end === undefined && end < max && next > start ? next : tie.start;
      continue;
    }
    // The tie is complete, and so is all that this answer has behind it, but for its own last tie.
    const last = behind >= 0 ? rows.at(-1)!.clicks : tie.clicks;
    const isEnd = behind >= 0 ? rows.length < limit : tie.end === total;
    if (isEnd || known.withClicks(last) >= max) break;
    start = behind >= 0 ? start + rows.findIndex(({ clicks }) => clicks === last) : wanted;
    tie = { start };
  }
  const rows = Math.min(known.count, max);
  if (rows < max) return { rows, truncated: false };
  // Unless the end was seen, only a row behind the last one that is wanted tells that there are more.
  return { rows, truncated: total === undefined ? (await page(max, 1)).length > 0 : total > max };
}

function isOrdered(rows: readonly KeyedRow[]): boolean {
  return rows.every(({ clicks }, at) => at === 0 || rows[at - 1]!.clicks >= clicks);
}

/** The rows that have come, each once. */
class KnownRows {
  readonly #keys = new Set<string>();
  readonly #byClicks = new Map<number, number>();

  get count(): number {
    return this.#keys.size;
  }

  /** False where the row was there before. */
  add({ keys, clicks }: KeyedRow): boolean {
    const key = keys.length === 1 ? keys[0]! : JSON.stringify(keys);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    this.#byClicks.set(clicks, (this.#byClicks.get(clicks) ?? 0) + 1);
    return true;
  }

  /** How many rows have at least these clicks. */
  withClicks(least = 0): number {
    let count = 0;
    for (const [clicks, rows] of this.#byClicks) if (clicks >= least) count += rows;
    return count;
  }
}
