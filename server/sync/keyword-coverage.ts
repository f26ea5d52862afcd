import type { FetchedKeyword } from '../catalog/sync-days.ts';
import { addDays, type Day, eachDay, earlier, later, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { batchesOf, type KeywordQuery, MAX_ROWS } from './batches.ts';

/** The days for which keywords have been fetched, by keyword id. */
export type FetchedKeywords = ReadonlyMap<string, FetchedKeyword>;

/** Keywords and the days to fetch for them. */
export interface KeywordRange extends Range {
  readonly keywords: readonly KeywordQuery[];
}

/**
 * The coverage after keywords have been fetched for a range. The days of a keyword are always one range: the old range is
 * dropped if published days lie between it and the new one, or if the query has changed.
 */
export function coverageAfter(
  coverage: FetchedKeywords,
  { from, to, keywords }: KeywordRange,
  published: ReadonlySet<Day>,
): FetchedKeywords {
  const after = new Map(coverage);
  for (const { id, query } of keywords) {
    const before = coverage.get(id);
    const isJoined = before !== undefined && before.query === query && !isApart(before, { from, to }, published);
    const range = isJoined ? { from: earlier(before.from, from), to: later(before.to, to) } : { from, to };
    after.set(id, { id, query, ...range });
  }
  return after;
}

/** Whether published days lie between two ranges. */
function isApart(a: Range, b: Range, published: ReadonlySet<Day>): boolean {
  const [first, second] = a.from <= b.from ? [a, b] : [b, a];
  return eachDay(addDays(first.to, 1), addDays(second.from, -1)).some((day) => published.has(day));
}

/**
 * The windows that fetch published days for keywords without them, newest first. For few keywords a window has several
 * months, to save requests.
 */
export function keywordGaps(
  keywords: readonly KeywordQuery[],
  coverage: FetchedKeywords,
  published: readonly Day[],
): KeywordRange[] {
  const first = published[0];
  const last = published.at(-1);
  if (first === undefined || last === undefined) return [];
  const known = new Set(published);
  const byRange = Map.groupBy(keywords, (keyword) => {
    const found = coverage.get(keyword.id);
    const covered = found?.query === keyword.query ? found : undefined;
    // A gap after its last day only occurs after a pause; then all days are fetched again.
    if (covered === undefined || isApart(covered, { from: last, to: last }, known)) return last;
    return covered.from <= first ? '' : addDays(covered.from, -1);
  });
  return [...byRange].flatMap(([to, lacking]) => (to === '' ? [] : split({ from: first, to }, lacking, known)));
}

/** Rows of a keyword per day: one per device. */
const ROWS_PER_DAY = 3;

/** Splits a range into windows of whole months, newest first, each fitting into one page per batch. */
function split(range: Range, keywords: readonly KeywordQuery[], published: ReadonlySet<Day>): KeywordRange[] {
  const inBatch = batchesOf(keywords, 1)[0]?.queries.length ?? 1;
  const maxDays = Math.max(31, Math.floor((MAX_ROWS - 1) / (ROWS_PER_DAY * inBatch)));
  const windows: KeywordRange[] = [];
  for (let { to } = range; to >= range.from; ) {
    let from = later(`${monthOf(to)}-01`, range.from);
    for (;;) {
      const month = monthOf(addDays(from, -1));
      const next = later(`${month}-01`, range.from);
      if (from <= range.from || eachDay(next, to).length > maxDays) break;
      from = next;
    }
    if (eachDay(from, to).some((day) => published.has(day))) windows.push({ from, to, keywords });
    to = addDays(from, -1);
  }
  return windows;
}
