import { join } from 'node:path';
import { putSyncDays, type SyncDay } from '../catalog/sync-days.ts';
import { putHoursUntil } from '../catalog/sync-projects.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../domain/dates.ts';
import { type HourStart, hoursOf, parseHour, startOfPacificDay } from '../domain/hours.ts';
import { newUuid } from '../domain/ids.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { sumPositionOf } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { AnalyticsQuery } from '../providers/search-console/analytics-query.ts';
import type { AnalyticsRow } from '../providers/search-console/search-analytics.ts';
import { DayFiles, type FetchedRow } from './day-files.ts';
import { failedDay, fetchedState } from './day-states.ts';
import { type RequestOptions, runAtGateway } from './fetch.ts';
import { publishFetched } from './publish.ts';
import type { SyncStores } from './run-options.ts';
import { HOURS_TABLE } from './tables.ts';

/** Days, today included, that the provider keeps by hour. */
const HOURLY_DAYS = 10;
/** More than the hours of these days. */
const MAX_HOURS = 1000;

export interface HoursInput {
  readonly project: string;
  /** The stored state of its hourly days. */
  readonly days: ReadonlyMap<Day, SyncDay>;
  readonly today: Day;
  /** The last final day. */
  readonly provisionalAfter: Day;
  /** Microseconds. */
  readonly now: Microseconds;
  /** Hours fetched before this instant are fetched again. */
  readonly staleBefore: Microseconds;
}

/**
 * Fetches the hours of the newest days that may still change, in one request, and replaces each changed day as a whole,
 * in one transaction with its state. Days whose hours are all complete are kept as they are: the provider drops them
 * after ten days. Returns the new state of the days: a failure of this table alone is their state, others are thrown.
 */
export async function syncHours(
  stores: SyncStores,
  options: RequestOptions,
  input: HoursInput,
): Promise<readonly SyncDay[]> {
  const range = dueHours(input);
  if (range === null) return [];
  const files = new DayFiles(join(stores.folder, newUuid()), input.project);
  try {
    const until = await fetchHours(range, files, options, input);
    const states = eachDay(range.from, range.to).map((day) => hourlyDay(day, files, { ...input, until }));
    const { project, days } = input;
    await publishFetched(stores, project, {
      files,
      states,
      before: ({ day }) => days.get(day),
      inTransaction: (tx) => putHoursUntil(tx, project, toMicroseconds(until)),
    });
    return states;
  } catch (error) {
    if (!(error instanceof ProviderFailure) || error.kind !== 'broken') throw error;
    const { project, days, today, now } = input;
    const failed = failedDay(HOURS_TABLE, today, days.get(today), error.message, now);
    await stores.catalog.transaction((tx) => putSyncDays(tx, project, [failed]));
    return [failed];
  } finally {
    await files.remove();
  }
}

/** From the first day that may still change, of those that the provider keeps, to today; null if it was just fetched. */
function dueHours({ days, today, now, staleBefore }: Omit<HoursInput, 'project' | 'provisionalAfter'>): Range | null {
  const newest = days.get(today);
  const nextTry = newest?.nextTry ?? null;
  if (nextTry !== null ? nextTry > now : newest !== undefined && newest.fetchedAt > staleBefore) return null;
  const kept = eachDay(addDays(today, 1 - HOURLY_DAYS), today);
  const from = kept.find((day) => !(days.get(day)?.final ?? false)) ?? today;
  return { from, to: today };
}

/** Writes the hours of days to files. Returns the first hour that may still change. */
async function fetchHours(
  range: Range,
  files: DayFiles,
  options: RequestOptions,
  { provisionalAfter }: HoursInput,
): Promise<HourStart> {
  const { property, country } = options.project;
  const query: AnalyticsQuery = {
    property,
    ...range,
    dimensions: ['hour'],
    aggregation: 'byProperty',
    filters: country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country }],
    dataState: 'hourly_all',
    type: 'web',
  };
  const page = await runAtGateway(options, (run) => options.client.page(query, { start: 0, limit: MAX_HOURS }, run));
  for (const day of eachDay(range.from, range.to)) files.register(HOURS_TABLE, day);
  const rows = page.rows.map(hourFact).filter(({ day }) => day >= range.from && day <= range.to);
  options.counts.rows += rows.length;
  await files.add(HOURS_TABLE, rows);
  return page.firstIncompleteHour ?? startOfPacificDay(addDays(provisionalAfter, 1));
}

function hourFact(row: AnalyticsRow): FetchedRow {
  const start = parseHour(row.keys[0]!);
  if (start === undefined) throw new ProviderFailure('broken', 'the response has a row whose key is not an hour');
  const { clicks, impressions } = row;
  const key = { hour: toMicroseconds(start) };
  return { day: pacificDayOf(start), key, clicks, impressions, sumPosition: sumPositionOf(row) };
}

function hourlyDay(day: Day, files: DayFiles, { until, now }: { until: HourStart; now: Microseconds }): SyncDay {
  const final = hoursOf(day).at(-1)! < until;
  return fetchedState(HOURS_TABLE, day, files.days(HOURS_TABLE).get(day)!, { final, compared: 0, fetchedAt: now });
}
