import type { SyncDay } from '../catalog/sync-days.ts';
import { addDays, type Day, earlier, later } from '../domain/dates.ts';
import { settledDay } from '../domain/finality.ts';
import type { Range } from '../domain/range.ts';
import type { AnalyticsQuery } from '../providers/search-console/analytics-query.ts';
import { MAX_ROWS } from './batches.ts';
import { comparedAt } from './day-states.ts';
import { type RequestOptions, runAtGateway } from './fetch.ts';

/** Sums of a day over all of its rows. */
export interface DaySums {
  readonly clicks: number;
  readonly impressions: number;
}

/** Newest days that are searched for the first provisional one. */
const FINALITY_DAYS = 10;

/** The last final day, as reported by the provider. */
export async function readLastFinalDay(options: RequestOptions, today: Day): Promise<Day> {
  const range = { from: addDays(today, 1 - FINALITY_DAYS), to: today };
  const { firstIncompleteDate } = await readDays(options, range, 'all');
  return firstIncompleteDate === null ? settledDay(today) : addDays(firstIncompleteDate, -1);
}

/** The sums at the provider, by day. */
async function readSums(
  options: RequestOptions,
  range: Range,
  dataState: 'final' | 'all',
): Promise<ReadonlyMap<Day, DaySums>> {
  const { rows } = await readDays(options, range, dataState);
  return new Map(rows.map(({ keys, clicks, impressions }) => [keys[0]!, { clicks, impressions }]));
}

function readDays(options: RequestOptions, range: Range, dataState: 'final' | 'all') {
  const { property, country } = options.project;
  const filters = country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country } as const];
  const query: AnalyticsQuery = {
    property,
    ...range,
    dimensions: ['date'],
    aggregation: 'byProperty',
    filters,
    dataState,
    type: 'web',
  };
  return runAtGateway(options, (run) => options.client.page(query, { start: 0, limit: MAX_ROWS }, run));
}

/** The final days due for a comparison with the provider, and the age they have reached. */
export function dueComparisons(days: readonly SyncDay[], today: Day): Map<Day, number> {
  const due = new Map<Day, number>();
  for (const { table, day, final, compared, state } of days) {
    if (table !== 'site_daily' || !final || state === 'failed') continue;
    const age = comparedAt(day, today);
    if (age > compared) due.set(day, age);
  }
  return due;
}

/** The days whose sums at the provider differ from the stored ones. One request. */
export async function findMovedDays(
  options: RequestOptions,
  days: Iterable<Day>,
  stored: (day: Day) => DaySums | undefined,
  dataState: 'final' | 'all' = 'final',
): Promise<Day[]> {
  const all = [...days];
  if (all.length === 0) return [];
  const range = { from: all.reduce(earlier), to: all.reduce(later) };
  const sums = await readSums(options, range, dataState);
  const none: DaySums = { clicks: 0, impressions: 0 };
  return all
    .filter((day) => {
      const there = sums.get(day) ?? none;
      const here = stored(day) ?? none;
      return there.clicks !== here.clicks || there.impressions !== here.impressions;
    })
    .sort();
}
