import type { SyncDay, SyncKeyword } from '../catalog/sync-days.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { addDays, type Day, eachDay, eachMonth, earlier, lastDayOf, later, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { batchesOf, brandExpressions, type SyncedKeyword } from './batches.ts';
import { type Coverage, coverageAfter, lackingWindows } from './keyword-coverage.ts';
import { DAY_BY_DAY, KEYWORD_TABLES, SYNC_TABLES, type SyncTable } from './tables.ts';

/** The first window: what a user sees first. */
const NEWEST_DAYS = 28;
/** The first window is there within so many requests, as far as it is in our hands. */
const FIRST_REQUESTS = 55;

/** What is asked of one table for days that follow each other. */
export interface Ask extends Range {
  readonly table: SyncTable;
  /** `all`: for days that still change. */
  readonly dataState: 'final' | 'all';
  /** Of the tables of keywords: whose rows are asked for. */
  readonly keywords: readonly SyncedKeyword[];
}

/** Days that are fetched and published together. */
export interface SyncWindow extends Range {
  readonly kind: 'newest' | 'lists' | 'brand' | 'keywords' | 'history';
  readonly asks: readonly Ask[];
}

export interface PlanInput {
  /** The first and the last day that are wanted; the last one is today (Pacific). */
  readonly wanted: Range;
  /** The last day that cannot change any more. */
  readonly finalThrough: Day;
  readonly tables: readonly SyncTable[];
  /** What is published. */
  readonly days: readonly SyncDay[];
  readonly keywords: readonly SyncedKeyword[];
  readonly fetchedKeywords: readonly SyncKeyword[];
  readonly brandTerms: readonly string[];
  /** All stored days have been fetched with other terms. */
  readonly brandChanged: boolean;
  /** Days whose sums are others at the provider. */
  readonly moved: ReadonlySet<Day>;
  /** The last day of the months of countries. */
  readonly monthlyThrough: Day | null;
  /** Microseconds. */
  readonly now: number;
  /** Days that still change are read again when they were read before this instant (microseconds). */
  readonly staleBefore: number;
}

/**
 * What a run fetches, window by window: days whose brand terms changed, the newest 28 days, their lists, keywords that
 * lack published days, then month after month backwards. Each day that is needed is in one window of its table.
 */
export function planWindows(input: PlanInput): SyncWindow[] {
  const { wanted, brandChanged } = input;
  const needs = new Needs(input);
  const windows: (SyncWindow | undefined)[] = [];
  const newest = { from: later(wanted.from, addDays(wanted.to, 1 - NEWEST_DAYS)), to: wanted.to };

  if (brandChanged && input.tables.includes('brand_daily')) windows.push(brandWindow(input, needs));
  const isFirst = needs.isNew(newest);
  const listTables = isFirst ? DAY_BY_DAY : [];
  const first = needs.window('newest', newest, (table) => !listTables.includes(table));
  const isDear = isFirst && first !== undefined && countRequests(first, input.brandTerms) > FIRST_REQUESTS;
  // Days that are final and days that are not are asked for apart, unless that makes the first numbers come late.
  windows.push(isDear ? { ...first, asks: joined(first.asks) } : first);
  windows.push(needs.window('lists', newest, (table) => listTables.includes(table)));

  if (input.tables.includes('keyword_daily')) windows.push(...keywordWindows(input, first));

  if (wanted.from < newest.from) {
    for (const month of eachMonth(wanted.from, addDays(newest.from, -1)).reverse()) {
      const range = {
        from: later(`${month}-01`, wanted.from),
        to: earlier(lastDayOf(month), addDays(newest.from, -1)),
      };
      windows.push(needs.window('history', range, () => true));
    }
  }
  return windows.filter((window) => window !== undefined && window.asks.length > 0) as SyncWindow[];
}

/** Which days of which tables a run has to ask for. */
class Needs {
  readonly #input: PlanInput;
  readonly #known = new Map<SyncTable, Map<Day, SyncDay>>();
  /** Asked for already. */
  readonly #taken = new Set<CacheKey>();

  constructor(input: PlanInput) {
    this.#input = input;
    for (const day of input.days) {
      const table = day.table as SyncTable;
      const days = this.#known.get(table) ?? new Map<Day, SyncDay>();
      this.#known.set(table, days.set(day.day, day));
    }
  }

  /** Whether nothing of a range was ever published. */
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

  window(kind: SyncWindow['kind'], range: Range, includes: (table: SyncTable) => boolean): SyncWindow | undefined {
    const { tables, keywords } = this.#input;
    const asks: Ask[] = [];
    for (const table of SYNC_TABLES) {
      if (!tables.includes(table) || !includes(table)) continue;
      const days = eachDay(range.from, range.to).filter((day) => this.#isNeeded(table, day));
      for (const day of days) this.take(table, day);
      const of = KEYWORD_TABLES.includes(table) ? keywords : [];
      asks.push(...asksOf(table, days, this.#input.finalThrough, of));
    }
    return asks.length === 0 ? undefined : { kind, ...spanOf(asks), asks };
  }

  #isNeeded(table: SyncTable, day: Day): boolean {
    if (this.#taken.has(cacheKey(table, day))) return false;
    return this.#changes(table, day) || (table === 'country_daily' && this.#isOfOpenedMonth(day));
  }

  #changes(table: SyncTable, day: Day): boolean {
    const { moved, now, staleBefore, finalThrough } = this.#input;
    const known = this.known(table, day);
    if (known === undefined) return true;
    if (known.nextTry !== null) return known.nextTry <= now;
    if (known.state === 'failed' || moved.has(day)) return true;
    return !known.final && (day <= finalThrough || known.fetchedAt <= staleBefore);
  }

  /** A month that is stored as such is read whole where a day of it is to be read. */
  #isOfOpenedMonth(day: Day): boolean {
    const { monthlyThrough, wanted } = this.#input;
    if (monthlyThrough === null || day > monthlyThrough) return false;
    const month = monthOf(day);
    const days = eachDay(later(`${month}-01`, wanted.from), earlier(lastDayOf(month), wanted.to));
    return days.some((other) => this.#changes('country_daily', other));
  }
}

/** Days in a row, those that are final apart from those that are not. */
function asksOf(table: SyncTable, days: readonly Day[], finalThrough: Day, keywords: readonly SyncedKeyword[]): Ask[] {
  const asks: Ask[] = [];
  for (const day of days) {
    const dataState = day <= finalThrough ? 'final' : 'all';
    const last = asks.at(-1);
    if (last !== undefined && addDays(last.to, 1) === day && last.dataState === dataState) {
      asks[asks.length - 1] = { ...last, to: day };
    } else {
      asks.push({ table, from: day, to: day, dataState, keywords });
    }
  }
  return asks;
}

/** Asks of one table in one: what still changes may be asked for together with what does not. */
function joined(asks: readonly Ask[]): Ask[] {
  return [...Map.groupBy(asks, ({ table }) => table).values()].map((ofTable) => ({
    ...ofTable[0]!,
    ...spanOf(ofTable),
    dataState: ofTable.at(-1)!.dataState,
  }));
}

function spanOf(asks: readonly Ask[]): Range {
  return { from: asks.map(({ from }) => from).reduce(earlier), to: asks.map(({ to }) => to).reduce(later) };
}

/** All days that were fetched with other brand terms, in one publication: old and new ones never stand side by side. */
function brandWindow({ days, wanted, finalThrough }: PlanInput, needs: Needs): SyncWindow | undefined {
  const published = days
    .filter(({ table, day }) => table === 'brand_daily' && day >= wanted.from && day <= wanted.to)
    .map(({ day }) => day)
    .sort();
  for (const day of published) needs.take('brand_daily', day);
  const asks = asksOf('brand_daily', published, finalThrough, []);
  return asks.length === 0 ? undefined : { kind: 'brand', ...spanOf(asks), asks };
}

/** Keywords that lack days which are published for others. */
function keywordWindows(input: PlanInput, first?: SyncWindow): SyncWindow[] {
  const { days, keywords, fetchedKeywords, wanted, finalThrough } = input;
  const asked = first?.asks.filter(({ table }) => table === 'keyword_daily') ?? [];
  const published = new Set(
    days
      .filter(({ table, state, day }) => table === 'keyword_daily' && state !== 'failed' && day >= wanted.from)
      .map(({ day }) => day),
  );
  let coverage: Coverage = new Map(fetchedKeywords.map((keyword) => [keyword.id, keyword]));
  for (const ask of asked) {
    coverage = coverageAfter(coverage, { ...ask, keywords }, published);
    for (const day of eachDay(ask.from, ask.to)) published.add(day);
  }
  return lackingWindows(keywords, coverage, [...published].sort()).map(({ from, to, keywords: lacking }) => {
    const lacked = eachDay(from, to).filter((day) => published.has(day));
    const asks = KEYWORD_TABLES.flatMap((table) => asksOf(table, lacked, finalThrough, lacking));
    return { kind: 'keywords', from, to, asks };
  });
}

/** How many requests a window takes, as far as it can be told before: answers that are too long take more. */
export function countRequests({ asks }: Pick<SyncWindow, 'asks'>, brandTerms: readonly string[]): number {
  return asks.reduce((sum, ask) => sum + requestsOf(ask, brandTerms), 0);
}

function requestsOf({ table, from, to, keywords }: Ask, brandTerms: readonly string[]): number {
  const days = eachDay(from, to).length;
  if (DAY_BY_DAY.includes(table)) return days;
  if (KEYWORD_TABLES.includes(table)) return batchesOf(keywords, days).length;
  if (table === 'brand_daily') return brandExpressions(brandTerms).length === 0 ? 1 : 2;
  return 1;
}
