import { addDays, type Day } from '../domain/dates.ts';
import { type Metrics, NOTHING, sum, toMetrics } from '../domain/metrics.ts';
import { type Range, within } from '../domain/range.ts';
import { Total } from '../domain/spread.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Facts, NamedMeasures } from './facts.ts';
import { addMonth } from './series.ts';

interface NamedMetrics {
  readonly name: string;
  readonly metrics: Metrics;
  /** The sum behind the position; where a month was spread, not a whole number. */
  readonly sumPosition: number;
}

interface BreakdownQuery {
  readonly range: Range;
  readonly signal: AbortSignal;
  readonly files: Readonly<
    Record<'site' | 'country' | 'countryMonths' | 'appearance' | 'brand', readonly StoredFile[]>
  >;
  /** Up to this day countries have monthly totals only. */
  readonly monthlyThrough: Day | null;
}

interface Breakdowns {
  readonly countries: NamedMetrics[];
  readonly devices: NamedMetrics[];
  readonly appearances: NamedMetrics[];
  readonly brand: {
    brand: Metrics;
    nonBrand: Metrics;
    anonymous: { clicks: number; impressions: number };
  };
  /** The position sums of the brand split. */
  readonly brandSums: { readonly brand: number; readonly nonBrand: number };
}

/** The site's totals over a range, by country, device, appearance and brand, without rows of zeros. */
export async function breakdowns(facts: Facts, query: BreakdownQuery): Promise<Breakdowns> {
  const { range, signal, files } = query;
  const [countries, devices, appearances, brand] = await Promise.all([
    countryTotals(facts, query),
    facts.totalsBy('device', { files: files.site, range, signal }),
    facts.totalsBy('appearance', { files: files.appearance, range, signal }),
    facts.totalsBy('brand', { files: files.brand, range, signal }),
  ]);
  return {
    countries: countries.filter(hasCounts).sort(byClicks),
    // Of some imported days the devices are unknown.
    devices: devices
      .filter(({ name }) => name !== 'unknown')
      .map(named)
      .filter(hasCounts)
      .sort(byClicks),
    appearances: appearances.map(named).filter(hasCounts).sort(byImpressions),
    ...brandSplit(brand, devices),
  };
}

async function countryTotals(facts: Facts, query: BreakdownQuery): Promise<NamedMetrics[]> {
  const { range, signal, files, monthlyThrough } = query;
  const monthly = monthlyThrough === null ? null : within(range, range.from, monthlyThrough);
  const afterMonthly = monthlyThrough === null ? range : within(range, addDays(monthlyThrough, 1), range.to);
  const [months, rows] = await Promise.all([
    monthly ? facts.countryMonths({ files: files.countryMonths, range: monthly, signal }, null) : [],
    afterMonthly ? facts.totalsBy('country', { files: files.country, range: afterMonthly, signal }) : [],
  ]);
  const totals = new Map<string, Total>();
  const totalOf = (country: string): Total => {
    const total = totals.get(country) ?? new Total();
    totals.set(country, total);
    return total;
  };
  for (const row of rows) totalOf(row.name).addDay(row);
  for (const month of months) addMonth(totalOf(month.country), month, monthly!);
  return [...totals].map(([name, total]) => ({
    name,
    metrics: total.metrics(),
    sumPosition: total.sumPosition,
  }));
}

/** Anonymous: the site (the sum over devices) minus brand and non-brand queries, never below zero. */
function brandSplit(
  segments: readonly NamedMeasures[],
  devices: readonly NamedMeasures[],
): Pick<Breakdowns, 'brand' | 'brandSums'> {
  const brand = segments.find(({ name }) => name === 'brand') ?? NOTHING;
  const nonBrand = segments.find(({ name }) => name === 'non_brand') ?? NOTHING;
  const site = sum(devices);
  return {
    brand: {
      brand: toMetrics(brand),
      nonBrand: toMetrics(nonBrand),
      anonymous: {
        clicks: Math.max(0, site.clicks - brand.clicks - nonBrand.clicks),
        impressions: Math.max(0, site.impressions - brand.impressions - nonBrand.impressions),
      },
    },
    brandSums: { brand: brand.sumPosition, nonBrand: nonBrand.sumPosition },
  };
}

function named(row: NamedMeasures): NamedMetrics {
  return { name: row.name, metrics: toMetrics(row), sumPosition: row.sumPosition };
}

function hasCounts({ metrics: { clicks, impressions } }: NamedMetrics): boolean {
  return clicks > 0 || impressions > 0;
}

function byClicks(a: NamedMetrics, b: NamedMetrics): number {
  const { clicks, impressions } = b.metrics;
  return clicks - a.metrics.clicks || impressions - a.metrics.impressions || byName(a, b);
}

function byImpressions(a: NamedMetrics, b: NamedMetrics): number {
  const { clicks, impressions } = b.metrics;
  return impressions - a.metrics.impressions || clicks - a.metrics.clicks || byName(a, b);
}

/** Names are ASCII, so that comparing code units compares bytes. */
function byName(a: NamedMetrics, b: NamedMetrics): number {
  return a.name < b.name ? -1 : 1;
}
