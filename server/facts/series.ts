import { addDays, type Day, eachDay, earlier, lastDayOf, later, monthOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Metrics, NOTHING, sum, toMetrics } from '../domain/metrics.ts';
import { type Range, within } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { CountryMonth, Device, Facts, SiteDayMeasures } from './facts.ts';

export interface Series {
  readonly totals: Metrics;
  readonly daily: ({ date: Day } & Metrics)[];
  /** The position sum of each day; where a month was spread, not a whole number. */
  readonly sumPositions: readonly number[];
  readonly isSpread: boolean;
}

const NO_DAYS: Series = { totals: toMetrics(NOTHING), daily: [], sumPositions: [], isSpread: false };

interface SeriesQuery {
  /** The range of the series; null for a series without days. */
  readonly days: Range | null;
  readonly signal: AbortSignal;
}

/** Days and total of the whole property. Throws `invalid_request` for a device on days whose devices are unknown. */
export async function siteSeries(
  facts: Facts,
  { days, device, siteFiles, signal }: SeriesQuery & { device: Device; siteFiles: readonly StoredFile[] },
): Promise<Series> {
  if (days === null) return NO_DAYS;
  const rows = await facts.siteDays({ files: siteFiles, range: days, signal }, device);
  refuseUnknownDevices(rows, device);
  const stored = new Map(rows.map((row) => [row.date, row]));
  const dates = eachDay(days.from, days.to);
  return {
    totals: toMetrics(sum(rows)),
    daily: dates.map((date) => ({ date, ...toMetrics(stored.get(date) ?? NOTHING) })),
    sumPositions: dates.map((date) => stored.get(date)?.sumPosition ?? 0),
    isSpread: false,
  };
}

/** Some imports have days without devices; zeros would be wrong. */
function refuseUnknownDevices(rows: readonly SiteDayMeasures[], device: Device): void {
  const unknown = rows.filter(({ hasUnknownDevice }) => hasUnknownDevice === 1);
  if (unknown.length === 0) return;
  const days = `${unknown.length} ${unknown.length === 1 ? 'day' : 'days'} of the range (${unknown[0]!.date} to ${unknown.at(-1)!.date})`;
  throw invalidRequest(`device must be all, not '${device}': the devices of ${days} are unknown.`);
}

interface CountryQuery extends SeriesQuery {
  readonly country: string;
  /** Up to this day a country has monthly totals only, which are spread over their days; after it, daily rows. */
  readonly monthlyThrough: Day | null;
  readonly countryFiles: readonly StoredFile[];
  readonly monthFiles: readonly StoredFile[];
}

/** Days and total of one country. */
export async function siteSeriesOfCountry(facts: Facts, query: CountryQuery): Promise<Series> {
  const { days, country, signal, monthlyThrough } = query;
  if (days === null) return NO_DAYS;
  const monthly = monthlyThrough === null ? null : within(days, days.from, monthlyThrough);
  const afterMonthly = monthlyThrough === null ? days : within(days, addDays(monthlyThrough, 1), days.to);
  const [months, rows] = await Promise.all([
    monthly ? facts.countryMonths({ files: query.monthFiles, range: monthly, signal }, country) : [],
    afterMonthly ? facts.countryDays({ files: query.countryFiles, range: afterMonthly, signal }, country) : [],
  ]);
  const total = new Total();
  for (const row of rows) total.addDay(row);
  for (const month of months) addMonth(total, month, monthly!);

  const stored = new Map(rows.map((row) => [row.date, row]));
  const monthOfDay = new Map(months.map((month) => [month.month, month]));
  const totalOf = (date: Day): Total => {
    const share = new Total();
    const month = monthOfDay.get(monthOf(date));
    if (month === undefined) share.addDay(stored.get(date) ?? NOTHING);
    else addMonth(share, month, { from: date, to: date });
    return share;
  };
  const shares = eachDay(days.from, days.to).map((date) => ({ date, share: totalOf(date) }));
  return {
    totals: total.metrics(),
    daily: shares.map(({ date, share }) => ({ date, ...share.metrics() })),
    sumPositions: shares.map(({ share }) => share.sumPosition),
    isSpread: shares.some(({ share }) => share.isSpread),
  };
}

/** Adds the part of a month's total that is in a range. The range must overlap the month. */
export function addMonth(total: Total, { month, ...measures }: CountryMonth, range: Range): void {
  const first = later(range.from, `${month}-01`);
  const last = earlier(range.to, lastDayOf(month));
  total.addPartOfMonth(month, measures, Number(first.slice(8)), Number(last.slice(8)));
}
