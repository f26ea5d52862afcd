import type { Day } from '../domain/dates.ts';
import type { Device, DeviceMeasures, SiteDayMeasures } from './facts.ts';

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

/** Days of which an import knows the total of the site and nothing else: not even its devices. */
export function undividedDays(site: readonly DeviceMeasures[]): Set<Day> {
  return new Set(site.filter(({ device }) => device === 'unknown').map(({ date }) => date));
}
