import type { SyncKeyword } from '../catalog/sync-days.ts';
import { addDays, type Day, eachDay, earlier, later, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { batchesOf, MAX_ROWS, type SyncedKeyword } from './batches.ts';

/** For which days keywords have been fetched, by id. */
export type Coverage = ReadonlyMap<string, SyncKeyword>;

/** Keywords with days for which they are to be fetched. */
export interface LackingWindow extends Range {
  readonly keywords: readonly SyncedKeyword[];
}

/**
 * What is covered after keywords have been fetched for a range. The days of a keyword stay one range: where published
 * days lie between, it begins anew. A keyword whose query has changed begins anew, too.
 */
export function coverageAfter(
  coverage: Coverage,
  { from, to, keywords }: LackingWindow,
  published: ReadonlySet<Day>,
): Coverage {
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
 * The windows in which keywords get the published days that they lack, newest first. Few keywords get many months at
 * once: a window takes as few requests as its rows allow.
 */
export function lackingWindows(
  keywords: readonly SyncedKeyword[],
  coverage: Coverage,
  published: readonly Day[],
): LackingWindow[] {
  const first = published[0];
  const last = published.at(-1);
  if (first === undefined || last === undefined) return [];
  const known = new Set(published);
  const byRange = Map.groupBy(keywords, (keyword) => {
    const found = coverage.get(keyword.id);
    const covered = found?.query === keyword.query ? found : undefined;
    // What it lacks behind its last day is only there after a pause: then all of it is fetched anew.
    if (covered === undefined || isApart(covered, { from: last, to: last }, known)) return last;
    return covered.from <= first ? '' : addDays(covered.from, -1);
  });
  return [...byRange].flatMap(([to, lacking]) => (to === '' ? [] : split({ from: first, to }, lacking, known)));
}

/** Devices of a keyword and day. */
const ROWS_A_DAY = 3;

/** Months, newest first, so many at once as fit into one answer for a batch. */
function split(range: Range, keywords: readonly SyncedKeyword[], published: ReadonlySet<Day>): LackingWindow[] {
  const inBatch = batchesOf(keywords, 1)[0]?.queries.length ?? 1;
  const most = Math.max(31, Math.floor((MAX_ROWS - 1) / (ROWS_A_DAY * inBatch)));
  const windows: LackingWindow[] = [];
  for (let { to } = range; to >= range.from; ) {
    let from = later(`${monthOf(to)}-01`, range.from);
    for (;;) {
      const month = monthOf(addDays(from, -1));
      const next = later(`${month}-01`, range.from);
      if (from <= range.from || eachDay(next, to).length > most) break;
      from = next;
    }
    if (eachDay(from, to).some((day) => published.has(day))) windows.push({ from, to, keywords });
    to = addDays(from, -1);
  }
  return windows;
}
