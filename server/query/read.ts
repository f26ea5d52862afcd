import { addDays, countDays, type Day, monthOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { haveDay, type Range, within } from '../domain/range.ts';
import { byDate, undividedDays } from '../facts/days.ts';
import type { DayMeasures, Device, Facts, SiteDayMeasures } from '../facts/facts.ts';
import { EVERY_ROW, rowsWith } from '../facts/sums.ts';
import { type ColumnName, DIMENSIONS, type FactTable, monthsOf, siteTableOf } from '../model/tables.ts';
import type { Plan } from './plan.ts';
import { intervalIn, namesIn, rangesIn } from './query.ts';
import { type MonthMeasures, Series } from './series.ts';

/**
 * The measures of each name, by day where rows are about time, and otherwise in one row a range. Without names there is one
 * series, named ''.
 */
export type NamedSeries = ReadonlyMap<string, Series>;

/** The series of the only name. */
export function ownSeries(series: NamedSeries): Series {
  return series.get('') ?? new Series([]);
}

/** Reads a range of a plan. Throws `invalid_request` for a device or country on days of which it is unknown. */
export async function readSeries(facts: Facts, plan: Plan, range: Range, signal: AbortSignal): Promise<NamedSeries> {
  const { query, stored, project } = plan;
  const days = query.days === 'stored' ? stored && within(range, stored.from, stored.to) : range;
  if (days === null || project.syncedThrough === null) return new Map();
  const isOwn = namesIn(query) === undefined;
  return isOwn && siteTableOf(plan.table) === plan.table
    ? new Map([['', await readProperty(facts, plan, days, signal)]])
    : readNames(facts, plan, days, signal);
}

/** The property has few rows, which are in memory if they were read lately. */
async function readProperty(facts: Facts, { query, files }: Plan, range: Range, signal: AbortSignal): Promise<Series> {
  const days = await facts.siteDays({ files, range, signal }, query.device);
  refuseUnknownDevices(days, query.device, rangesIn(query));
  return new Series(days);
}

/** Sums of days, and of the months before them that are stored as totals. */
async function readNames(facts: Facts, plan: Plan, range: Range, signal: AbortSignal): Promise<NamedSeries> {
  const { query, files, monthFiles, monthlyThrough, table } = plan;
  const names = namesIn(query);
  const columns = names === undefined ? [] : [DIMENSIONS[names].column];
  // Without names there is one row a day, and days must be told apart for a comparison.
  const isByDay = names === undefined || intervalIn(query) !== undefined;
  const days = monthlyThrough === null ? range : within(range, addDays(monthlyThrough, 1), range.to);
  const months = monthlyThrough === null ? null : within(range, range.from, monthlyThrough);
  const read = async (of: FactTable, from: Plan['files'], part: Range, by: readonly ColumnName[]) => {
    const test = query.country === null ? EVERY_ROW : rowsWith('country', [query.country]);
    return (await facts.sums({ files: from, range: part, signal, table: of, by, test, hasZeros: true })).rows;
  };
  const [ofDays, ofMonths] = await Promise.all([
    days ? read(table, files, days, [...(isByDay ? (['date'] as const) : []), ...columns]) : [],
    months ? read(monthsOf(table)!, monthFiles, months, ['month', ...columns]) : [],
  ]);
  if (days && query.country !== null) await refuseUnknownCountries(facts, plan, days, { signal, found: ofDays.length });
  const byName = new Map<string, { days: DayMeasures[]; months: MonthMeasures[] }>();
  const of = (name = '') => {
    const known = byName.get(name) ?? { days: [], months: [] };
    byName.set(name, known);
    return known;
  };
  for (const { names: found, now } of ofDays) {
    const [date, name] = isByDay ? [found[0]!, found[1]] : [range.to, found[0]];
    of(name).days.push({ date, ...now });
  }
  for (const {
    names: [month, name],
    now,
  } of ofMonths) {
    of(name).months.push({ month: monthOf(month!), ...now });
  }
  if (names === undefined) of();
  return new Map(
    Array.from(byName, ([name, all]) => [name, new Series(all.days.sort(byDate), all.months, monthlyThrough)]),
  );
}

/**
 * Throws `invalid_request` for a device on days whose devices are unknown: some imports have such days.
 * @param ranges those that are asked about; rows of days between them do not matter
 */
export function refuseUnknownDevices(rows: readonly SiteDayMeasures[], device: Device, ranges: readonly Range[]): void {
  if (device === 'all') return;
  const unknown = rows.filter(({ date, hasUnknownDevice }) => hasUnknownDevice === 1 && haveDay(ranges, date));
  if (unknown.length === 0) return;
  const days = told(unknown.map(({ date }) => date));
  throw invalidRequest(`device must be all, not '${device}': the devices of ${days} are unknown.`);
}

/** Days of an import without devices have countries only if another import added them. */
async function refuseUnknownCountries(
  facts: Facts,
  { query, siteFiles, files }: Plan,
  range: Range,
  { signal, found }: { readonly signal: AbortSignal; readonly found: number },
): Promise<void> {
  if (found === countDays(range.from, range.to)) return;
  const ranges = rangesIn(query);
  const site = await facts.siteDevices({ files: siteFiles, range, signal });
  const whole = [...undividedDays(site)].filter((day) => haveDay(ranges, day));
  if (whole.length === 0) return;
  const known = new Set(await facts.storedDays({ files, range, signal }));
  const unknown = whole.filter((day) => !known.has(day));
  if (unknown.length === 0) return;
  throw invalidRequest(
    `country must be left out, not '${query.country}': the countries of ${told(unknown)} are unknown.`,
  );
}

function told(days: readonly Day[]): string {
  return `${days.length} ${days.length === 1 ? 'day' : 'days'} of the range (${days[0]!} to ${days.at(-1)!})`;
}

/** The months of which any name has a total. */
export function monthsIn(series: NamedSeries): ReadonlySet<string> {
  return new Set([...series.values()].flatMap(({ months }) => months));
}

/** Whether a name has no total of a month that others have: it is among those that have no name. */
export function lacksMonth(series: Series | undefined, months: ReadonlySet<string>): boolean {
  return (series?.months.length ?? 0) < months.size;
}
