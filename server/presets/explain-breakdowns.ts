import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import { type ExactMeasures, NOTHING } from '../domain/metrics.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { hasPartOfMonth } from '../domain/spread.ts';
import { type Covered, plan } from '../query/plan.ts';
import { queryOf } from '../query/query.ts';
import { lacksMonth, monthsIn, type NamedSeries, readSeries } from '../query/read.ts';
import { planRowDays, readRowDays } from '../query/strict-days.ts';
import type { TwoRanges } from './explain-property.ts';
import { orderedRows, type RangesRow, type ReadRows, type RowKey, type RowsReason } from './explain-rows.ts';

const KEYS: Readonly<Record<'device' | 'brand' | 'country', (name: string) => RowKey>> = {
  device: (device) => ({ device }),
  brand: (name) => ({ segment: name === 'brand' ? 'brand' : 'nonBrand' }),
  country: (country) => ({ country }),
};

/**
 * Plans to read the devices, the brand split or the countries of two ranges. Days that are stored as monthly totals of
 * countries get an even share of them.
 */
export async function planNamedRows(
  by: keyof typeof KEYS,
  { catalog, project }: { catalog: Catalog; project: Project },
  { now, base, type }: Omit<TwoRanges, 'country'>,
  { coverage }: { readonly coverage: Covered },
): Promise<ReadRows> {
  const ranges = [now, base];
  const query = queryOf({ ...spanOf(ranges), surface: type ?? 'web', by: [by], days: 'all' });
  const planned = await plan(catalog, project, query, project.syncedThrough === null ? {} : coverage);
  const { table, monthlyThrough } = planned;
  const days = await planRowDays(catalog, project, table, { ranges, coverage });
  return async ({ facts }, limit, signal) => {
    const [ofNow, ofBase, { lacks, events }] = await Promise.all([
      readSeries(facts, planned, now, signal),
      readSeries(facts, planned, base, signal),
      readRowDays(facts, days, signal),
    ]);
    const both = [ofNow, ofBase];
    // The names of some imported days are unknown. Those of one range alone would look lost.
    const isUnknown = both.some((series) => series.has('unknown'));
    const reasons = new Set<RowsReason>(lacks || isUnknown ? ['missing_days'] : []);
    const hasPart = ranges.some((range) => hasPartOfMonth(range, monthlyThrough));
    if (hasPart || both.some(hasOthers)) reasons.add('monthly_spread');
    const rows = isUnknown ? [] : joined({ now: ofNow, base: ofBase }, { now, base }, KEYS[by]);
    return { ...(await orderedRows(rows, limit)), source: null, reasons, events };
  };
}

/** Whether some countries of a month are one row together. */
function hasOthers(series: NamedSeries): boolean {
  const months = monthsIn(series);
  return months.size > 0 && [...series].some(([name, one]) => name === 'other' || lacksMonth(one, months));
}

type Both<Of> = { readonly now: Of; readonly base: Of };

/** The rows of two ranges by name. */
function joined(series: Both<NamedSeries>, ranges: Both<Range>, keyOf: (name: string) => RowKey): RangesRow[] {
  const sumsOf = (of: keyof Both<unknown>, name: string): ExactMeasures =>
    series[of].get(name)?.over(ranges[of]).measures ?? NOTHING;
  const names = [...new Set([...series.now.keys(), ...series.base.keys()])].sort();
  return names.map((name) => ({ key: keyOf(name), now: sumsOf('now', name), base: sumsOf('base', name) }));
}
