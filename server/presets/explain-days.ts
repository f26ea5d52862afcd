import type { Catalog } from '../catalog/catalog.ts';
import type { Coverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { type Range, spanOf } from '../domain/range.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { type FactTable, siteTableOf } from '../model/tables.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from '../query/known-days.ts';

/** What to read to know on which days the rows of an explanation are stored. */
interface RowDaysPlan extends KnownDaysPlan {
  readonly files: FactsQuery['files'];
  /** Days that are stored as monthly totals. */
  readonly months: Range | null;
}

export async function planRowDays(
  catalog: Catalog,
  project: Project,
  table: FactTable,
  days: {
    readonly ranges: readonly Range[];
    readonly coverage: Readonly<Partial<Record<FactTable, Coverage>>>;
    readonly notBefore?: Day;
  },
): Promise<RowDaysPlan> {
  const monthly = table === 'country_daily' ? days.coverage.country_monthly : undefined;
  const known = await planKnownDays(catalog, project, table, { ...days, hasEvents: false });
  return {
    ...known,
    files: table === siteTableOf(table) ? known.siteFiles : known.ownFiles,
    months: monthly === undefined ? null : { from: monthly.firstDay, to: monthly.lastDay },
  };
}

/** What is known of the days of rows. */
interface RowDays {
  /**
   * Whether a day of the ranges has no rows, unless the sync knows that it is empty. Unlike in comparisons, rows of the site
   * alone do not prove that a day of its rows is stored: what they lack would look like a loss.
   */
  readonly lacks: boolean;
  /** The events of the provider that concern what the days came from. */
  readonly events: readonly ProviderEvent[];
}

export async function readRowDays(facts: Facts, plan: RowDaysPlan, signal: AbortSignal): Promise<RowDays> {
  const { ranges, files, months } = plan;
  if (ranges.length === 0) return { lacks: false, events: [] };
  const days = new Set(await facts.storedDays({ files, range: spanOf(ranges), signal }));
  const isMonthly = (day: Day): boolean => months !== null && months.from <= day && day <= months.to;
  const known = new KnownDays(plan, { has: (day) => days.has(day) || isMonthly(day) });
  const lacks = ranges.some(({ from, to }) => eachDay(from, to).some((day) => !known.isStored(day)));
  return { lacks, events: known.events };
}
