import { ComparedRanges, type DayReasons } from '../domain/compared-ranges.ts';
import { type Compared, type Comparer, NO_CHANGE, withoutPosition } from '../domain/comparison.ts';
import type { Day } from '../domain/dates.ts';
import { type ExactMeasures, type Metrics, NOTHING, toMetrics } from '../domain/metrics.ts';
import { type Range, spanOf } from '../domain/range.ts';
import type { Breakdowns, CountryTotal, NamedTotal, Segments } from '../facts/breakdowns.ts';
import type { Facts } from '../facts/facts.ts';
import { type SearchType, SURFACES } from '../model/surfaces.ts';
import { KnownDays, type KnownDaysPlan } from './known-days.ts';

/** The tables that breakdowns are read from. */
type Part = 'site' | 'country' | 'appearance' | 'brand';

/** How the rows of each table are compared. */
type Comparers = Readonly<Record<Part, ComparedRanges>>;

interface ComparedOptions {
  readonly now: Range;
  readonly base: Range;
  readonly monthlyThrough: Day | null;
  readonly signal: AbortSignal;
}

/** Reads the known days of each table. */
export async function readComparers(
  facts: Facts,
  plans: Readonly<Record<Part, KnownDaysPlan>>,
  { now, base, monthlyThrough, signal }: ComparedOptions,
): Promise<Comparers> {
  const files = plans.site.siteFiles;
  const siteDays = new Set(await facts.storedDays({ files, range: spanOf([now, base]), signal }));
  const ofSite = await KnownDays.read(facts, plans.site, signal, siteDays);
  const compared = async (part: Part, months: Day | null = null): Promise<ComparedRanges> => {
    const known = part === 'site' ? ofSite : await KnownDays.read(facts, plans[part], signal, siteDays);
    const { events } = known;
    const days: DayReasons = { reasonsOn: (day) => known.reasonsOn(day), monthlyThrough: months, events };
    return new ComparedRanges(now, base, days, null);
  };
  const [site, country, appearance, brand] = await Promise.all([
    compared('site'),
    compared('country', monthlyThrough),
    compared('appearance'),
    compared('brand'),
  ]);
  return { site, country, appearance, brand };
}

export interface BreakdownRow {
  readonly name: string;
  readonly metrics: Metrics;
  readonly compared: Compared | null;
  /** The sums behind the metrics of each range. */
  readonly now: ExactMeasures;
  readonly base: ExactMeasures;
  readonly comparer: Comparer | undefined;
}

/** Breakdowns of the other range, and how to compare with them. */
interface Other {
  readonly base: Breakdowns;
  readonly comparers: Comparers;
}

/** The rows of each kind, joined with those of the other range. */
export function comparedRows(now: Breakdowns, other: Other | null) {
  return {
    countries: rowsOf(
      now.countries,
      other?.base.countries,
      (row, base) => other && countryComparer(now, other, row, base),
    ),
    devices: rowsOf(now.devices, other?.base.devices, ({ name }) => other?.comparers.site.ofDevice(name as Device)),
    appearances: rowsOf(now.appearances, other?.base.appearances, () => other?.comparers.appearance.total),
    segments: now.segments && segmentRows(now.segments, other),
  };
}

/** The rows of a search type other than web: how its clicks are split by brand is unknown, and maybe its positions. */
export function rowsOfType(rows: ReturnType<typeof comparedRows>, type: SearchType): ReturnType<typeof comparedRows> {
  const all = { ...rows, segments: null };
  if (SURFACES[type].hasQueries) return all;
  return { ...all, countries: all.countries.map(withoutPositions), devices: all.devices.map(withoutPositions) };
}

/** If the split of the other range is unknown, its days count as missing. */
function segmentRows(now: Segments, other: Other | null) {
  const base = other?.base.segments;
  const known = other?.comparers.brand.total;
  const brand = base === null ? known?.with(['missing_days']) : known;
  const anonymous = other && brand!.with(other.comparers.site.total.common);
  const segment = (name: keyof Segments, comparer: Comparer | null | undefined): BreakdownRow =>
    rowOf({ name, measures: now[name] }, base?.[name], comparer);
  return {
    brand: segment('brand', brand),
    nonBrand: segment('nonBrand', brand),
    anonymous: withoutRatios(segment('anonymous', anonymous)),
  };
}

type Device = 'desktop' | 'mobile' | 'tablet';

function rowsOf<Row extends NamedTotal>(
  rows: readonly Row[],
  others: readonly Row[] = [],
  comparerOf: (row: Row, base: Row | undefined) => Comparer | null | undefined,
): BreakdownRow[] {
  const byName = new Map(others.map((row) => [row.name, row]));
  return rows.map((row) => {
    const base = byName.get(row.name);
    return rowOf(row, base?.measures, comparerOf(row, base));
  });
}

function rowOf(
  { name, measures: now }: NamedTotal,
  base: ExactMeasures = NOTHING,
  comparer: Comparer | null | undefined,
): BreakdownRow {
  return {
    name,
    metrics: toMetrics(now),
    compared: comparer?.compare(now, base) ?? null,
    now,
    base,
    comparer: comparer ?? undefined,
  };
}

/** Months that are stored as totals name few countries; the others are one row. */
function countryComparer(
  now: Breakdowns,
  { base, comparers }: Other,
  row: CountryTotal,
  before: CountryTotal | undefined,
): Comparer {
  const isOther = row.name === 'other' && (now.hasMonths || base.hasMonths);
  const lacksMonth = row.lacksMonth || (before?.lacksMonth ?? base.hasMonths);
  const { total } = comparers.country;
  return isOther || lacksMonth ? total.with(['monthly_spread']) : total;
}

/** A row whose positions are unknown. */
function withoutPositions({ metrics, compared, ...row }: BreakdownRow): BreakdownRow {
  return {
    ...row,
    metrics: { ...metrics, position: null },
    compared: compared && withoutPosition(compared),
  };
}

/** Of anonymous queries, only clicks and impressions are known. */
function withoutRatios(row: BreakdownRow): BreakdownRow {
  const { metrics, compared, ...rest } = withoutPositions(row);
  return {
    ...rest,
    metrics: { ...metrics, ctr: null },
    compared: compared && {
      comparison: { ...compared.comparison, ctr: null },
      change: { ...compared.change, ctr: NO_CHANGE },
      unsafe: countsOf(compared.unsafe),
    },
  };
}

/** A row of a response. */
export function metricsOf({ metrics, compared }: BreakdownRow) {
  return { ...metrics, ...compared };
}

/** Like `metricsOf`, with clicks and impressions only. */
export function anonymousOf({ metrics, compared }: BreakdownRow) {
  if (compared === null) return countsOf(metrics);
  const { comparison, change, unsafe } = compared;
  return { ...countsOf(metrics), comparison: countsOf(comparison), change: countsOf(change), unsafe };
}

function countsOf<Of extends { readonly clicks?: unknown; readonly impressions?: unknown }>(
  of: Of,
): Pick<Of, 'clicks' | 'impressions'> {
  const { clicks, impressions } = of;
  return { ...(clicks === undefined ? {} : { clicks }), ...(impressions === undefined ? {} : { impressions }) } as Of;
}
