import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, type FactTable, filesOf } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { listUnusualDays, type UnusualDay } from '../catalog/sync-days.ts';
import type { DayReasons } from '../domain/compared-ranges.ts';
import type { UnsafeReason } from '../domain/comparison.ts';
import { type Day, eachDay, earlier, later } from '../domain/dates.ts';
import { BING_TABLES } from '../domain/engines.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { TYPE_TABLES } from '../domain/search-types.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';

type Covered = Readonly<Partial<Record<FactTable, Coverage>>>;

/** What the catalog has about the days of a table. */
export interface PlannedDays {
  readonly ranges: readonly Range[];
  readonly project: Project;
  /** Days before this one are not stored; null if no day is. */
  readonly firstDay: Day | null;
  readonly unusual: ReadonlyMap<Day, UnusualDay>;
}

/** What to read to determine which days of a table are stored. */
export interface KnownDaysPlan extends PlannedDays {
  readonly siteFiles: FactsQuery['files'];
  /** Files of the table, if it is not that of the site. */
  readonly ownFiles: FactsQuery['files'];
}

/**
 * Plans what to read about the days of a table in some ranges. `coverage`: that of the project; `notBefore`: days before
 * this one count as missing.
 */
export async function planKnownDays(
  catalog: Catalog,
  project: Project,
  table: FactTable,
  { ranges, coverage, notBefore }: { ranges: readonly Range[]; coverage: Covered; notBefore?: Day | undefined },
): Promise<KnownDaysPlan> {
  const hull = spanOf(ranges);
  const site = siteTableOf(table);
  const isSite = table === site;
  const firstDay = firstDayOf(table, coverage);
  return {
    ranges,
    project,
    firstDay: firstDay && later(firstDay, notBefore ?? firstDay),
    unusual: await listUnusualDays(catalog, project.id, table, hull),
    siteFiles: await filesOf(catalog, project.id, site, hull),
    ownFiles: isSite ? [] : await filesOf(catalog, project.id, table === 'keyword_daily' ? 'keyword_all' : table, hull),
  };
}

/** The table with the totals of the rows of a table. */
export function siteTableOf(table: FactTable): FactTable {
  if (table === BING_TABLES.site) return table;
  const ofType = Object.values(TYPE_TABLES).find(({ site, country }) => table === site || table === country);
  return ofType?.site ?? 'site_daily';
}

function firstDayOf(table: FactTable, coverage: Covered): Day | null {
  const first = coverage[table]?.firstDay ?? null;
  // Few results have an appearance: the first days may have none and still be stored.
  if (table === 'appearance_daily') return coverage.site_daily?.firstDay ?? first;
  const months = table === 'country_daily' ? coverage.country_monthly?.firstDay : undefined;
  return months === undefined ? first : earlier(months, first ?? months);
}

/**
 * Which days of a table are stored, cut off, or may still change. The sync records this for its own days. Another day
 * is stored if the table or the site has a row for it, because a load contains the days of all tables.
 */
export class KnownDays implements DayReasons {
  readonly #plan: PlannedDays;
  readonly #withRows: DaysWithRows;

  private constructor(plan: PlannedDays, withRows: DaysWithRows) {
    this.#plan = plan;
    this.#withRows = withRows;
  }

  /** @param withRows the days that have rows */
  static of(plan: PlannedDays, withRows: DaysWithRows): KnownDays {
    return new KnownDays(plan, withRows);
  }

  /** @param siteDays days of the site that have rows, if they have been read already */
  static async read(
    facts: Facts,
    plan: KnownDaysPlan,
    signal: AbortSignal,
    siteDays?: ReadonlySet<Day>,
  ): Promise<KnownDays> {
    const range = spanOf(plan.ranges);
    const query = { range, signal };
    const ofSite = siteDays ?? new Set(await facts.storedDays({ ...query, files: plan.siteFiles }));
    const known = new KnownDays(plan, ofSite);
    // Most projects have all days of the site, so the table itself need not be read.
    if (plan.ownFiles.length === 0 || !known.#hasGap()) return known;
    const ofTable = await facts.storedDays({ ...query, files: plan.ownFiles });
    return new KnownDays(plan, new Set([...ofSite, ...ofTable]));
  }

  isStored(day: Day): boolean {
    const { project, firstDay, unusual } = this.#plan;
    if (!isBy(day, project.syncedThrough) || firstDay === null || day < firstDay) return false;
    const state = unusual.get(day)?.state;
    if (state === 'empty') return true;
    return state !== 'failed' && this.#withRows.has(day);
  }

  isProvisional(day: Day): boolean {
    const { provisionalAfter, syncedThrough } = this.#plan.project;
    return provisionalAfter !== null && day > provisionalAfter && isBy(day, syncedThrough);
  }

  isCutOff(day: Day): boolean {
    return this.#plan.unusual.get(day)?.cutOff ?? false;
  }

  reasonsOn(day: Day): UnsafeReason[] {
    const reasons: UnsafeReason[] = [];
    if (this.isProvisional(day)) reasons.push('provisional');
    if (!this.isStored(day)) reasons.push('missing_days');
    if (this.isCutOff(day)) reasons.push('cut_off');
    return reasons;
  }

  #hasGap(): boolean {
    const { ranges, firstDay, project } = this.#plan;
    const isWanted = (day: Day): boolean => firstDay !== null && day >= firstDay && isBy(day, project.syncedThrough);
    return ranges.some(({ from, to }) => eachDay(from, to).some((day) => isWanted(day) && !this.isStored(day)));
  }
}

type DaysWithRows = Pick<ReadonlySet<Day>, 'has'>;

function isBy(day: Day, last: Day | null): boolean {
  return last !== null && day <= last;
}
