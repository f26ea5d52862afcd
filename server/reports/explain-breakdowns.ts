import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, filesOf } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { hasUnknown, NOTHING } from '../domain/metrics.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { hasPartOfMonth } from '../domain/spread.ts';
import { type CountryTotal, countryTotals, type NamedTotal, totalsBy } from '../facts/breakdowns.ts';
import type { FactTable } from '../model/tables.ts';
import { planRowDays, readRowDays } from './explain-days.ts';
import type { TwoRanges } from './explain-property.ts';
import { orderedRows, type RangesRow, type ReadRows, type RowKey, type RowsReason } from './explain-rows.ts';
import { tablesOfType } from './search-type.ts';

interface BreakdownPlan {
  readonly coverage: Readonly<Partial<Record<FactTable, Coverage>>>;
}

/** Plans to read the devices or the brand split of two ranges. */
export async function planSegmentRows(
  by: 'device' | 'brand',
  { catalog, project }: { catalog: Catalog; project: Project },
  { now, base, type }: Omit<TwoRanges, 'country'>,
  { coverage }: BreakdownPlan,
): Promise<ReadRows> {
  const table = by === 'device' ? tablesOfType(type).site : 'brand_daily';
  const ranges = [now, base];
  const isSynced = project.syncedThrough !== null;
  const files = isSynced ? await filesOf(catalog, project.id, table, spanOf(ranges)) : [];
  const days = await planRowDays(catalog, project, table, { ranges, coverage });
  return async ({ facts }, limit, signal) => {
    const [{ lacks, events }, ...totals] = await Promise.all([
      readRowDays(facts, days, signal),
      ...ranges.map((range) => totalsBy(facts, by, { files, range, signal, table })),
    ]);
    // Of some imported days the devices or segments are unknown. Those of one range alone would look lost.
    const isUnknown = totals.some(hasUnknown);
    const known = isUnknown ? [[], []] : totals;
    const [ofNow, ofBase] = known.map((rows) => rows.map(({ name, ...measures }) => ({ name, measures })));
    const key = (name: string): RowKey =>
      by === 'device' ? { device: name } : { segment: name === 'brand' ? 'brand' : 'nonBrand' };
    return {
      ...(await orderedRows(joined(ofNow!, ofBase!, key), limit)),
      source: null,
      reasons: new Set(lacks || isUnknown ? ['missing_days'] : []),
      events,
    };
  };
}

/** Plans to read the countries of two ranges. Days that are stored as monthly totals get an even share of them. */
export async function planCountryRows(
  { catalog, project }: { catalog: Catalog; project: Project },
  { now, base, type }: Omit<TwoRanges, 'country'>,
  { coverage }: BreakdownPlan,
): Promise<ReadRows> {
  const { country: table } = tablesOfType(type);
  const isWeb = type === undefined;
  const ranges = [now, base];
  const isSynced = project.syncedThrough !== null;
  const filesOfTable = (of: FactTable) => (isSynced ? filesOf(catalog, project.id, of, spanOf(ranges)) : []);
  const files = {
    country: await filesOfTable(table),
    countryMonths: isWeb ? await filesOfTable('country_monthly') : [],
  };
  const monthlyThrough = isSynced && isWeb ? (coverage.country_monthly?.lastDay ?? null) : null;
  const days = await planRowDays(catalog, project, table, { ranges, coverage });
  return async ({ facts }, limit, signal) => {
    const read = (range: Range) => countryTotals(facts, { range, signal, files, monthlyThrough });
    const [ofNow, ofBase, { lacks, events }] = await Promise.all([
      read(now),
      read(base),
      readRowDays(facts, days, signal),
    ]);
    const reasons = new Set<RowsReason>(lacks ? ['missing_days'] : []);
    const hasPart = ranges.some((range) => hasPartOfMonth(range, monthlyThrough));
    if (hasPart || [ofNow, ofBase].some(hasOthers)) reasons.add('monthly_spread');
    const rows = joined(ofNow.countries, ofBase.countries, (name) => ({ country: name }));
    return { ...(await orderedRows(rows, limit)), source: null, reasons, events };
  };
}

/** Whether some countries of a month are one row together. */
function hasOthers({ countries, hasMonths }: Awaited<ReturnType<typeof countryTotals>>): boolean {
  const isOther = ({ name, lacksMonth }: CountryTotal): boolean => name === 'other' || lacksMonth;
  return hasMonths && countries.some(isOther);
}

/** The rows of two ranges by name. */
function joined(now: readonly NamedTotal[], base: readonly NamedTotal[], keyOf: (name: string) => RowKey): RangesRow[] {
  const names = [...new Set([...now, ...base].map(({ name }) => name))].sort();
  const measuresOf = (rows: readonly NamedTotal[], wanted: string) =>
    rows.find(({ name }) => name === wanted)?.measures ?? NOTHING;
  return names.map((name) => ({ key: keyOf(name), now: measuresOf(now, name), base: measuresOf(base, name) }));
}
