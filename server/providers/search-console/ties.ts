/** A row with its key and the value that pages are ordered by. */
interface KeyedRow {
  readonly keys: readonly string[];
  readonly clicks: number;
}

interface TiePaging<Row extends KeyedRow> {
  /** Maximum rows in total, and per page. */
  readonly max: number;
  readonly limit: number;
  /** Reads a page in the provider's order; fewer than `limit` rows at the end. */
  readonly page: (start: number, limit: number) => Promise<readonly Row[]>;
  /** Receives new rows. */
  readonly take: (rows: readonly Row[]) => Promise<void>;
}

export interface PagedRows {
  readonly rows: number;
  /** There are more than `max` rows. */
  readonly truncated: boolean;
}

/** Maximum pages per read, in case the provider repeats rows endlessly. */
const MAX_PAGES = 60;
/** Consecutive pages without a new row after which reading stops. */
const MAX_PAGES_WITHOUT_NEW = 12;

/**
 * Reads rows that are ordered by clicks. The order of rows with equal clicks changes with each page, so a page that ends
 * within a tie can omit rows that the next page does not contain either. Paging therefore continues at the first row of
 * the cut tie. A tie longer than a page is read again from its first row until it is complete, because each page contains
 * another part of it. Rows in another order (such as by day) have no ties, and paging continues after them.
 */
export async function readThroughTies<Row extends KeyedRow>(paging: TiePaging<Row>): Promise<PagedRows> {
  const { max, limit, page, take } = paging;
  const known = new KnownRows();
  // All rows before the tie are complete. `end` is the rank after its last row, once known.
  let tie: { start: number; clicks?: number | undefined; end?: number | undefined } = { start: 0 };
  let total: number | undefined;
  let hasTies = true;
  for (let start = 0, pages = 0, withoutNew = 0; pages < MAX_PAGES && withoutNew < MAX_PAGES_WITHOUT_NEW; pages++) {
    const rows = await page(start, limit);
    const added = rows.filter((row) => known.add(row));
    if (added.length > 0) await take(added);
    withoutNew = added.length === 0 ? withoutNew + 1 : 0;
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
    const needed = Math.min(tie.end ?? max, max);
    if (known.withClicks(tie.clicks) < needed) {
      // Reads to the end of the tie, up to `max`, then again from its first row.
      const next = Math.min(end, Math.max(tie.start, max - limit));
      start = tie.end === undefined && end < max && next > start ? next : tie.start;
      continue;
    }
    // The tie is complete, and so are the rows after it on this page, except its last tie.
    const last = behind >= 0 ? rows.at(-1)!.clicks : tie.clicks;
    const isEnd = behind >= 0 ? rows.length < limit : tie.end === total;
    if (isEnd || known.withClicks(last) >= max) break;
    start = behind >= 0 ? start + rows.findIndex(({ clicks }) => clicks === last) : needed;
    tie = { start };
  }
  const rows = Math.min(known.count, max);
  if (rows < max) return { rows, truncated: false };
  // If the end was not reached, one more row shows whether there are more.
  return { rows, truncated: total === undefined ? (await page(max, 1)).length > 0 : total > max };
}

function isOrdered(rows: readonly KeyedRow[]): boolean {
  return rows.every(({ clicks }, at) => at === 0 || rows[at - 1]!.clicks >= clicks);
}

/** The keys of received rows. */
class KnownRows {
  readonly #keys = new Set<string>();
  readonly #byClicks = new Map<number, number>();

  get count(): number {
    return this.#keys.size;
  }

  /** Returns false for a known row. */
  add({ keys, clicks }: KeyedRow): boolean {
    const key = keys.length === 1 ? keys[0]! : JSON.stringify(keys);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    this.#byClicks.set(clicks, (this.#byClicks.get(clicks) ?? 0) + 1);
    return true;
  }

  /** Number of rows with at least these clicks. */
  withClicks(minimum = 0): number {
    let count = 0;
    for (const [clicks, rows] of this.#byClicks) if (clicks >= minimum) count += rows;
    return count;
  }
}
