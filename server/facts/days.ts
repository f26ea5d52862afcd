import type { Day } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import { rulesOf } from '../model/tables.ts';
import type { DayMeasures, Device, DeviceMeasures, Facts, FactsQuery, SiteDayMeasures } from './facts.ts';
import { EVERY_ROW, type SumsQuery } from './sums.ts';

/**
 * The days of a device, or of all, from rows by day and device in order. A day on which only other devices have rows is zeros.
 * Of a single device, `hasUnknownDevice` is 1 on a day whose devices are not known.
 */
export function daysOfDevice(rows: readonly DeviceMeasures[], device: Device): SiteDayMeasures[] {
  const days: { -readonly [K in keyof SiteDayMeasures]: SiteDayMeasures[K] }[] = [];
  for (const row of rows) {
    let day = days.at(-1);
    if (day?.date !== row.date) {
      day = { date: row.date, hasUnknownDevice: 0, clicks: 0, impressions: 0, sumPosition: 0 };
      days.push(day);
    }
    if (device !== 'all' && row.device === 'unknown') day.hasUnknownDevice = 1;
    if (device !== 'all' && row.device !== device) continue;
    day.clicks += row.clicks;
    day.impressions += row.impressions;
    day.sumPosition += row.sumPosition;
  }
  return days;
}

/** The sums on each day that has a row, in order. */
export async function daySums(
  facts: Pick<Facts, 'sums'>,
  query: FactsQuery,
  of: Pick<SumsQuery, 'table' | 'test'>,
): Promise<DayMeasures[]> {
  const { rows } = await facts.sums({ ...query, ...of, by: [rulesOf(of.table).dayColumn], hasZeros: true });
  return rows.map(({ names: [date], now }) => ({ date: date!, ...now })).sort(byDate);
}

/** Days in order. */
export const byDate = (a: DayMeasures, b: DayMeasures): number => (a.date < b.date ? -1 : 1);

/** `hour`: its start, in microseconds. */
export type HourMeasures = Measures & { readonly hour: number };

/** The hours of the property that have rows, in order. */
export async function siteHours(facts: Pick<Facts, 'sums'>, query: FactsQuery): Promise<HourMeasures[]> {
  const { rows } = await facts.sums({ ...query, table: 'site_hourly', by: ['hour'], test: EVERY_ROW, hasZeros: true });
  return rows.map(({ names: [hour], now }) => ({ hour: Number(hour), ...now })).sort((a, b) => a.hour - b.hour);
}

/** Days of which an import knows the total of the site and nothing else: not even its devices. */
export function undividedDays(site: readonly DeviceMeasures[]): Set<Day> {
  return new Set(site.filter(({ device }) => device === 'unknown').map(({ date }) => date));
}
