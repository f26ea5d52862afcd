import type { FetchedKeyword, SyncDay } from '../catalog/sync-days.ts';
import type { BrandTerm } from '../domain/brand-terms.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { addDays, type Day, eachDay, eachMonth, earlier, lastDayOf, later, monthOf } from '../domain/dates.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { batchesOf, brandExpressions, type KeywordQuery } from './batches.ts';
import { coverageAfter, type FetchedKeywords, keywordGaps } from './keyword-coverage.ts';
import { DAY_BY_DAY, KEYWORD_TABLES, SYNC_TABLES, type SyncTable } from './tables.ts';

/** Days of the first window, which users see first. */
const NEWEST_DAYS = 28;
/** Target for the number of requests of the first window. */
const FIRST_REQUESTS = 55;

/** A query of consecutive days of one table. */
export interface DayQuery extends Range {
  readonly table: SyncTable;
  /** `all` includes provisional days. */
  readonly dataState: 'final' | 'all';
  /** For keyword tables: the requested keywords. */
  readonly keywords: readonly KeywordQuery[];
}

/** Days that are fetched and published together. */
export interface SyncWindow extends Range {
  readonly kind: 'newest' | 'lists' | 'brand' | 'keywords' | 'history';
  readonly dayQueries: readonly DayQuery[];
}

export interface PlanInput {
  /** The days to sync; the last one is today (Pacific). */
  readonly syncRange: Range;
  /** The last final day. */
  readonly provisionalAfter: Day;
  readonly tables: readonly SyncTable[];
  /** The states of days that were published or failed. */
  readonly days: readonly SyncDay[];
  readonly keywords: readonly KeywordQuery[];
  readonly fetchedKeywords: readonly FetchedKeyword[];
  readonly brandTerms: readonly BrandTerm[];
  /** The stored days were fetched with other brand terms. */
  readonly brandChanged: boolean;
  /** Days to fetch whatever their state: their sums have changed at the provider, or an operator repairs them. */
  readonly refetched: ReadonlySet<Day>;
  /** The last day of country_monthly. */
  readonly monthlyThrough: Day | null;
  /** Microseconds. */
  readonly now: number;
  /** Provisional days fetched before this instant (microseconds) are fetched again. */
  readonly staleBefore: number;
}

/**
 * Plans the windows of a run: brand days after a change of terms, the newest 28 days, their lists, missing days of
 * keywords, then the history month by month, newest first. Each needed day of a table is in one window.
 */
export function planWindows(input: PlanInput): SyncWindow[] {
  const { syncRange, brandChanged } = input;
  const needs = new Needs(input);
  const windows: (SyncWindow | undefined)[] = [];
  const newest = { from: later(syncRange.from, addDays(syncRange.to, 1 - NEWEST_DAYS)), to: syncRange.to };

  if (brandChanged && input.tables.includes('brand_daily')) windows.push(brandWindow(input, needs));
  const isFirst = needs.isNew(newest);
  const listTables = isFirst ? DAY_BY_DAY : [];
  const first = needs.takeWindow('newest', newest, (table) => !listTables.includes(table));
  const isExpensive = isFirst && first !== undefined && countRequests(first, input.brandTerms) > FIRST_REQUESTS;
  // Final and provisional days need separate requests, unless that delays the first window.
  windows.push(isExpensive ? { ...first, dayQueries: joined(first.dayQueries) } : first);
  windows.push(needs.takeWindow('lists', newest, (table) => listTables.includes(table)));

  if (input.tables.includes('keyword_daily')) windows.push(...keywordWindows(input, first));

  if (syncRange.from < newest.from) {
    for (const month of eachMonth(syncRange.from, addDays(newest.from, -1)).reverse()) {
      const range = {
        from: later(`${month}-01`, syncRange.from),
        to: earlier(lastDayOf(month), addDays(newest.from, -1)),
      };
      windows.push(needs.takeWindow('history', range, () => true));
    }
  }
  return windows.filter((window) => window !== undefined && window.dayQueries.length > 0) as SyncWindow[];
}

/** Tracks which days of each table a run must fetch. */
class Needs {
  readonly #input: PlanInput;
  readonly #known = new Map<SyncTable, Map<Day, SyncDay>>();
  /** Already in a window. */
  readonly #taken = new Set<CacheKey>();

  constructor(input: PlanInput) {
    this.#input = input;
    for (const day of input.days) {
      const table = day.table as SyncTable;
      const days = this.#known.get(table) ?? new Map<Day, SyncDay>();
      this.#known.set(table, days.set(day.day, day));
    }
  }

  /** Whether no day of a range was ever published. */
  isNew({ from, to }: Range): boolean {
    const days = this.#known.get('site_daily');
    return !eachDay(from, to).some((day) => days?.has(day));
  }

  known(table: SyncTable, day: Day): SyncDay | undefined {
    return this.#known.get(table)?.get(day);
  }

  take(table: SyncTable, day: Day): void {
    this.#taken.add(cacheKey(table, day));
  }

  takeWindow(kind: SyncWindow['kind'], range: Range, includes: (table: SyncTable) => boolean): SyncWindow | undefined {
    const { tables, keywords } = this.#input;
    const dayQueries: DayQuery[] = [];
    for (const table of SYNC_TABLES) {
      if (!tables.includes(table) || !includes(table)) continue;
      const days = eachDay(range.from, range.to).filter((day) => this.#isNeeded(table, day));
      for (const day of days) this.take(table, day);
      const queried = KEYWORD_TABLES.includes(table) ? keywords : [];
      dayQueries.push(...dayQueriesOf(table, days, this.#input.provisionalAfter, queried));
    }
    return dayQueries.length === 0 ? undefined : { kind, ...spanOf(dayQueries), dayQueries };
  }

  #isNeeded(table: SyncTable, day: Day): boolean {
    if (this.#taken.has(cacheKey(table, day))) return false;
    return this.#changes(table, day) || (table === 'country_daily' && this.#isOfChangedMonth(day));
  }

  #changes(table: SyncTable, day: Day): boolean {
    const { refetched, now, staleBefore, provisionalAfter } = this.#input;
    const known = this.known(table, day);
    if (known === undefined) return true;
    if (known.nextTry !== null) return known.nextTry <= now;
    if (known.state === 'failed' || refetched.has(day)) return true;
    return !known.final && (day <= provisionalAfter || known.fetchedAt <= staleBefore);
  }

  /** When a day of a stored month has changed, all days of the month are fetched. */
  #isOfChangedMonth(day: Day): boolean {
    const { monthlyThrough, syncRange } = this.#input;
    if (monthlyThrough === null || day > monthlyThrough) return false;
    const month = monthOf(day);
    const days = eachDay(later(`${month}-01`, syncRange.from), earlier(lastDayOf(month), syncRange.to));
    return days.some((other) => this.#changes('country_daily', other));
  }
}

/** Groups days into consecutive ranges, with final and provisional days separated. */
function dayQueriesOf(
  table: SyncTable,
  days: readonly Day[],
  provisionalAfter: Day,
  keywords: readonly KeywordQuery[],
): DayQuery[] {
  const dayQueries: DayQuery[] = [];
  for (const day of days) {
    const dataState = day <= provisionalAfter ? 'final' : 'all';
    const last = dayQueries.at(-1);
    if (last !== undefined && addDays(last.to, 1) === day && last.dataState === dataState) {
      dayQueries[dayQueries.length - 1] = { ...last, to: day };
    } else {
      dayQueries.push({ table, from: day, to: day, dataState, keywords });
    }
  }
  return dayQueries;
}

/** Merges the queries of each table: `all` also returns final days. */
function joined(dayQueries: readonly DayQuery[]): DayQuery[] {
  return [...Map.groupBy(dayQueries, ({ table }) => table).values()].map((ofTable) => ({
    ...ofTable[0]!,
    ...spanOf(ofTable),
    dataState: ofTable.at(-1)!.dataState,
  }));
}

/** All days fetched with other brand terms, in one publication, so that old and new terms are never mixed. */
function brandWindow({ days, syncRange, provisionalAfter }: PlanInput, needs: Needs): SyncWindow | undefined {
  const published = days
    .filter(({ table, day }) => table === 'brand_daily' && day >= syncRange.from && day <= syncRange.to)
    .map(({ day }) => day)
    .sort();
  for (const day of published) needs.take('brand_daily', day);
  const dayQueries = dayQueriesOf('brand_daily', published, provisionalAfter, []);
  return dayQueries.length === 0 ? undefined : { kind: 'brand', ...spanOf(dayQueries), dayQueries };
}

/** Windows for keywords that lack published days. */
function keywordWindows(input: PlanInput, first?: SyncWindow): SyncWindow[] {
  const { days, keywords, fetchedKeywords, syncRange, provisionalAfter } = input;
  const requested = first?.dayQueries.filter(({ table }) => table === 'keyword_daily') ?? [];
  const published = new Set(
    days
      .filter(({ table, state, day }) => table === 'keyword_daily' && state !== 'failed' && day >= syncRange.from)
      .map(({ day }) => day),
  );
  let coverage: FetchedKeywords = new Map(fetchedKeywords.map((keyword) => [keyword.id, keyword]));
  for (const dayQuery of requested) {
    coverage = coverageAfter(coverage, { ...dayQuery, keywords }, published);
    for (const day of eachDay(dayQuery.from, dayQuery.to)) published.add(day);
  }
  return keywordGaps(keywords, coverage, [...published].sort()).map(({ from, to, keywords: lacking }) => {
    const lacked = eachDay(from, to).filter((day) => published.has(day));
    const dayQueries = KEYWORD_TABLES.flatMap((table) => dayQueriesOf(table, lacked, provisionalAfter, lacking));
    return { kind: 'keywords', from, to, dayQueries };
  });
}

/** Whether a window may change the facts of which keyword totals are made. */
export function changesKeywords({ dayQueries }: SyncWindow): boolean {
  return dayQueries.some(({ table }) => table === 'keyword_daily');
}

/** The estimated number of requests of a window; full pages need more. */
export function countRequests(
  { dayQueries }: Pick<SyncWindow, 'dayQueries'>,
  brandTerms: readonly BrandTerm[],
): number {
  return dayQueries.reduce((sum, dayQuery) => sum + requestsOf(dayQuery, brandTerms), 0);
}

function requestsOf({ table, from, to, keywords }: DayQuery, brandTerms: readonly BrandTerm[]): number {
  const days = eachDay(from, to).length;
  if (DAY_BY_DAY.includes(table)) return days;
  if (KEYWORD_TABLES.includes(table)) return batchesOf(keywords, days).length;
  if (table === 'brand_daily') return brandExpressions(brandTerms).length === 0 ? 1 : 2;
  return 1;
}
