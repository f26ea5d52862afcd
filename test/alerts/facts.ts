import { AlertCalendar, type AlertNote } from '../../server/alerts/calendar.ts';
import { StoredDays, toPrefixSums } from '../../server/alerts/daily-sums.ts';
import {
  type AlertKeyword,
  addUpDays,
  emptyGrid,
  KeywordFacts,
  NO_PAGES,
  type PageFacts,
} from '../../server/alerts/keyword-facts.ts';
import { addDays } from '../../server/domain/dates.ts';
import type { ProviderEvent } from '../../server/domain/provider-events.ts';

/** Prefix sums of daily values, starting with 0. */
export function runningSums(days: readonly number[]): Float64Array {
  return toPrefixSums(Float64Array.from([0, ...days]));
}

/** The first day of tests. */
const FIRST = '2026-06-01';

export function calendarOf(days: number, notes: readonly AlertNote[] = [], events: readonly ProviderEvent[] = []) {
  return new AlertCalendar({ from: FIRST, to: addDays(FIRST, days - 1) }, events, notes);
}

/** Impressions and average position of a day; null: none. */
export type KeywordDay = readonly [impressions: number, position: number] | null;
/** A page and its impressions, by day. */
export type PageDay = Readonly<Record<string, number>>;

interface TestKeyword {
  readonly days: readonly KeywordDay[];
  readonly pages?: readonly PageDay[];
  readonly target?: string;
}

/** Facts of keywords that are named K0000, K0001… after their places. */
export function keywordFacts(keywords: readonly TestKeyword[], missing: readonly number[] = []): KeywordFacts {
  const days = keywords[0]!.days.length;
  const grid = emptyGrid(keywords.length, days);
  for (const [keyword, { days: own }] of keywords.entries()) {
    for (const [day, values] of own.entries()) {
      if (values === null) continue;
      const cell = keyword * (days + 1) + day + 1;
      grid.impressions[cell] = values[0];
      grid.positions[cell] = Math.round(values[0] * (values[1] - 1));
    }
  }
  addUpDays(grid, days);
  const stored = new StoredDays(Array.from({ length: days }, (_, day) => !missing.includes(day)));
  const named: AlertKeyword[] = keywords.map(({ target }, keyword) => ({
    id: `K${String(keyword).padStart(4, '0')}`,
    query: `query ${keyword}`,
    targetUrl: target ?? null,
  }));
  return new KeywordFacts(named, days, grid, { stored, pages: { ...pagesOf(keywords), stored } });
}

function pagesOf(keywords: readonly TestKeyword[]): Omit<PageFacts, 'stored'> {
  const numbers = new Map<string, number>();
  const numberOf = (url: string): number => {
    if (!numbers.has(url)) numbers.set(url, numbers.size + 1);
    return numbers.get(url)!;
  };
  const rows = keywords.map(({ pages = [] }) =>
    pages.flatMap((day, place) => Object.entries(day).map(([url, shown]) => ({ place, page: numberOf(url), shown }))),
  );
  const flat = rows.flat();
  const starts = [0];
  for (const own of rows) starts.push(starts.at(-1)! + own.length);
  const targets = keywords.map(({ target }) => (target === undefined ? Number.NaN : numberOf(target)));
  return {
    ...NO_PAGES,
    starts: Int32Array.from(starts),
    days: Int32Array.from(flat, ({ place }) => place),
    pages: Float64Array.from(flat, ({ page }) => page),
    impressions: Float64Array.from(flat, ({ shown }) => shown),
    urls: new Map([...numbers].map(([url, number]) => [number, url])),
    targets: Float64Array.from(targets),
  };
}

/** So many equal values. */
export function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}
