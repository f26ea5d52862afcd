import { addDays, type Day } from '../domain/dates.ts';
import { type ExactMeasures, hasUnknown, type Measures, NOTHING, sum } from '../domain/metrics.ts';
import { type Range, within } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import type { Dimension } from '../model/tables.ts';
import { DIMENSIONS } from '../model/tables.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Facts, FactsQuery, NamedMeasures } from './facts.ts';
import { addMonth, countryMonths } from './series.ts';
import type { SumsQuery } from './sums.ts';
import { EVERY_ROW } from './sums.ts';

/** The total of one name in a breakdown. */
export interface NamedTotal {
  readonly name: string;
  readonly measures: ExactMeasures;
}

export interface CountryTotal extends NamedTotal {
  /** Whether the stored total of a month of the range lacks this country, which then counts among the others. */
  readonly lacksMonth: boolean;
}

interface CountriesQuery {
  readonly range: Range;
  readonly signal: AbortSignal;
  readonly files: Readonly<Record<'country' | 'countryMonths', readonly StoredFile[]>>;
  /** Up to this day countries have monthly totals only. */
  readonly monthlyThrough: Day | null;
}

interface BreakdownQuery extends CountriesQuery {
  readonly files: CountriesQuery['files'] & Readonly<Record<'site' | 'appearance' | 'brand', readonly StoredFile[]>>;
}

export interface Breakdowns {
  readonly countries: CountryTotal[];
  /** Whether months of countries are stored as totals in the range. */
  readonly hasMonths: boolean;
  readonly devices: NamedTotal[];
  readonly appearances: NamedTotal[];
  /** Null if the split of a day is unknown, because zeros would be wrong. */
  readonly segments: Segments | null;
}

export interface Segments {
  readonly brand: Measures;
  readonly nonBrand: Measures;
  /** The site (the sum over devices) minus brand and non-brand queries, never below zero. Their positions are unknown. */
  readonly anonymous: Measures;
}

/** The site's totals over a range, by country, device, appearance and brand, without rows of zeros. */
export async function breakdowns(facts: Facts, query: BreakdownQuery): Promise<Breakdowns> {
  const { range, signal, files } = query;
  const [{ countries, hasMonths }, devices, appearances, brand] = await Promise.all([
    countryTotals(facts, query),
    totalsBy(facts, 'device', { files: files.site, range, signal, table: 'site_daily' }),
    totalsBy(facts, 'appearance', { files: files.appearance, range, signal, table: 'appearance_daily' }),
    totalsBy(facts, 'brand', { files: files.brand, range, signal, table: 'brand_daily' }),
  ]);
  return {
    countries: countries.filter(hasCounts).sort(byClicks),
    hasMonths,
    // The devices of some imported days are unknown.
    devices: devices
      .filter(({ name }) => name !== 'unknown')
      .map(named)
      .filter(hasCounts)
      .sort(byClicks),
    appearances: appearances.map(named).filter(hasCounts).sort(byImpressions),
    segments: hasUnknown(brand) ? null : brandSplit(brand, devices),
  };
}

/** Totals by name, unordered. */
export async function totalsBy(
  facts: Pick<Facts, 'sums'>,
  dimension: Dimension,
  query: FactsQuery & Pick<SumsQuery, 'table'>,
): Promise<NamedMeasures[]> {
  const by = [DIMENSIONS[dimension].column];
  const { rows } = await facts.sums({ ...query, by, test: EVERY_ROW, hasZeros: true });
  return rows.map(({ names: [name], measures }) => ({ name: name!, ...measures }));
}

/** Totals by country, unordered: of days, and of the months that are stored as totals. */
export async function countryTotals(
  facts: Facts,
  { range, signal, files, monthlyThrough }: CountriesQuery,
): Promise<Pick<Breakdowns, 'countries' | 'hasMonths'>> {
  const monthly = monthlyThrough === null ? null : within(range, range.from, monthlyThrough);
  const afterMonthly = monthlyThrough === null ? range : within(range, addDays(monthlyThrough, 1), range.to);
  const [months, rows] = await Promise.all([
    monthly ? countryMonths(facts, { files: files.countryMonths, range: monthly, signal }) : [],
    afterMonthly
      ? totalsBy(facts, 'country', { files: files.country, range: afterMonthly, signal, table: 'country_daily' })
      : [],
  ]);
  const totals = new Map<string, Total>();
  const totalOf = (country: string): Total => {
    const total = totals.get(country) ?? new Total();
    totals.set(country, total);
    return total;
  };
  for (const row of rows) totalOf(row.name).addDay(row);
  const monthsOf = new Map<string, number>();
  for (const month of months) {
    addMonth(totalOf(month.country), month, monthly!);
    monthsOf.set(month.country, (monthsOf.get(month.country) ?? 0) + 1);
  }
  const all = new Set(months.map(({ month }) => month)).size;
  const countries = [...totals].map(([name, total]) => ({
    name,
    measures: total.measures,
    lacksMonth: (monthsOf.get(name) ?? 0) < all,
  }));
  return { countries, hasMonths: months.length > 0 };
}

function brandSplit(segments: readonly NamedMeasures[], devices: readonly NamedMeasures[]): Segments {
  const brand = segments.find(({ name }) => name === 'brand') ?? NOTHING;
  const nonBrand = segments.find(({ name }) => name === 'non_brand') ?? NOTHING;
  const site = sum(devices);
  return {
    brand,
    nonBrand,
    anonymous: {
      clicks: Math.max(0, site.clicks - brand.clicks - nonBrand.clicks),
      impressions: Math.max(0, site.impressions - brand.impressions - nonBrand.impressions),
      sumPosition: 0,
    },
  };
}

function named({ name, ...measures }: NamedMeasures): NamedTotal {
  return { name, measures };
}

function hasCounts({ measures: { clicks, impressions } }: NamedTotal): boolean {
  return clicks > 0 || impressions > 0;
}

function byClicks(a: NamedTotal, b: NamedTotal): number {
  const { clicks, impressions } = b.measures;
  return clicks - a.measures.clicks || impressions - a.measures.impressions || byName(a, b);
}

function byImpressions(a: NamedTotal, b: NamedTotal): number {
  const { clicks, impressions } = b.measures;
  return impressions - a.measures.impressions || clicks - a.measures.clicks || byName(a, b);
}

/** Names are ASCII, so that comparing code units compares bytes. */
function byName(a: NamedTotal, b: NamedTotal): number {
  return a.name < b.name ? -1 : 1;
}
