import {
  addDays,
  countDays,
  type Day,
  eachMonth,
  earlier,
  lastDayOf,
  later,
  type Month,
  monthOf,
} from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Range, within } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { daySums } from './days.ts';
import type { CountryMonth, DayMeasures, Device, Facts, FactsQuery, SiteDayMeasures } from './facts.ts';
import { EVERY_ROW, rowsWith } from './sums.ts';

interface SeriesQuery {
  /** The days to read; null for none. */
  readonly range: Range | null;
  readonly signal: AbortSignal;
}

/** Measures by day, which can be summed over any of the days that were read. */
export class Series {
  readonly #rows: readonly DayMeasures[];
  /** Made when a day is looked for: totals of a thousand projects need none. */
  #byDay: ReadonlyMap<Day, DayMeasures> | undefined;
  readonly #months: ReadonlyMap<Month, CountryMonth>;
  readonly #monthlyThrough: Day | null;

  /** @param days in order; @param monthlyThrough up to this day `months` count, after it `days` */
  constructor(days: readonly DayMeasures[], months: readonly CountryMonth[] = [], monthlyThrough: Day | null = null) {
    this.#rows = days;
    this.#months = new Map(months.map((row) => [row.month, row]));
    this.#monthlyThrough = monthlyThrough;
  }

  /** Days that have a row. */
  get days(): ReadonlySet<Day> {
    return new Set(this.#days.keys());
  }

  /** Whether a day has a row. */
  has(day: Day): boolean {
    return this.#days.has(day);
  }

  /** Whether there is a total of a day's month. */
  hasMonthOf(day: Day): boolean {
    return this.#months.has(monthOf(day));
  }

  /** The total over a range. @param total what to add it to */
  over({ from, to }: Range, total = new Total()): Total {
    const monthly = this.#monthlyThrough;
    const daily = monthly === null ? from : later(from, addDays(monthly, 1));
    if (monthly !== null && from <= monthly) {
      const end = earlier(to, monthly);
      // Most calls are about one day, for which there is no need to count months.
      const names = monthOf(from) === monthOf(end) ? [monthOf(from)] : eachMonth(from, end);
      for (const name of names) {
        const month = this.#months.get(name);
        if (month !== undefined) addMonth(total, month, { from, to });
      }
    }
    if (daily === to) {
      const row = this.#days.get(to);
      if (row !== undefined) total.addDay(row);
      return total;
    }
    for (const row of this.#rows) if (row.date >= daily && row.date <= to) total.addDay(row);
    return total;
  }

  get #days(): ReadonlyMap<Day, DayMeasures> {
    this.#byDay ??= new Map(this.#rows.map((row) => [row.date, row]));
    return this.#byDay;
  }
}

const NO_DAYS = new Series([]);

/** Days of the whole property. Throws `invalid_request` for a device on days whose devices are unknown. */
export async function siteSeries(
  facts: Facts,
  { range, device, siteFiles, signal }: SeriesQuery & { device: Device; siteFiles: readonly StoredFile[] },
): Promise<Series> {
  if (range === null) return NO_DAYS;
  const rows = await facts.siteDays({ files: siteFiles, range, signal }, device);
  refuseUnknownDevices(rows, device);
  return new Series(rows);
}

/** Throws `invalid_request` for a device on days whose devices are unknown: some imports have such days. */
export function refuseUnknownDevices(rows: readonly SiteDayMeasures[], device: Device): void {
  const unknown = device === 'all' ? [] : rows.filter(hasUnknownDevice);
  if (unknown.length === 0) return;
  throw invalidRequest(`device must be all, not '${device}': the devices of ${daysOf(unknown)} are unknown.`);
}

function hasUnknownDevice({ hasUnknownDevice: isUnknown }: SiteDayMeasures): boolean {
  return isUnknown === 1;
}

function daysOf(rows: readonly DayMeasures[]): string {
  return `${rows.length} ${rows.length === 1 ? 'day' : 'days'} of the range (${rows[0]!.date} to ${rows.at(-1)!.date})`;
}

interface CountryQuery extends SeriesQuery {
  readonly country: string;
  /** Up to this day a country has monthly totals only, which are spread over their days; after it, daily rows. */
  readonly monthlyThrough: Day | null;
  readonly siteFiles: readonly StoredFile[];
  readonly countryFiles: readonly StoredFile[];
  readonly monthFiles: readonly StoredFile[];
}

/** Days of one country. Throws `invalid_request` if the countries of days are unknown. */
export async function siteSeriesOfCountry(facts: Facts, query: CountryQuery): Promise<Series> {
  const { range, country, signal, monthlyThrough } = query;
  if (range === null) return NO_DAYS;
  const monthly = monthlyThrough === null ? null : within(range, range.from, monthlyThrough);
  const afterMonthly = monthlyThrough === null ? range : within(range, addDays(monthlyThrough, 1), range.to);
  const [months, days] = await Promise.all([
    monthly ? countryMonths(facts, { files: query.monthFiles, range: monthly, signal }, country) : [],
    afterMonthly
      ? daySums(
          facts,
          { files: query.countryFiles, range: afterMonthly, signal },
          { table: 'country_daily', test: rowsWith('country', [country]) },
        )
      : [],
  ]);
  if (afterMonthly !== null) await refuseUnknownCountries(facts, query, afterMonthly, days);
  return new Series(days, months, monthlyThrough);
}

/** Days of an import without devices have countries only if another import added them. */
async function refuseUnknownCountries(
  facts: Facts,
  { siteFiles, countryFiles, country, signal }: CountryQuery,
  range: Range,
  days: readonly DayMeasures[],
): Promise<void> {
  if (days.length === countDays(range.from, range.to)) return;
  const site = await facts.siteDays({ files: siteFiles, range, signal }, ANY_DEVICE);
  const ofImports = site.filter(hasUnknownDevice);
  if (ofImports.length === 0) return;
  const known = new Set(await facts.storedDays({ files: countryFiles, range, signal }));
  const unknown = ofImports.filter(({ date }) => !known.has(date));
  if (unknown.length === 0) return;
  throw invalidRequest(`country must be left out, not '${country}': the countries of ${daysOf(unknown)} are unknown.`);
}

/** Only queries for a device return which days have unknown devices. */
const ANY_DEVICE: Device = 'desktop';

/** Whole months of one country, or of all, that a range touches. */
export async function countryMonths(
  facts: Pick<Facts, 'sums'>,
  query: FactsQuery,
  country?: string,
): Promise<CountryMonth[]> {
  const test = country === undefined ? EVERY_ROW : rowsWith('country', [country]);
  const by = ['month', 'country'] as const;
  const { rows } = await facts.sums({ ...query, table: 'country_monthly', by, test, hasZeros: true });
  return rows.map(({ names: [month, of], measures }) => ({ month: monthOf(month!), country: of!, ...measures }));
}

/** Adds the part of a month's total that is in a range. The range must overlap the month. */
export function addMonth(total: Total, { month, ...measures }: CountryMonth, range: Range): void {
  const first = later(range.from, `${month}-01`);
  const last = earlier(range.to, lastDayOf(month));
  total.addPartOfMonth(month, measures, Number(first.slice(8)), Number(last.slice(8)));
}
