import type { Catalog } from '../catalog/catalog.ts';
import { type Covered, filesOf } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { listUnusualDays, readBulkExportDays, type UnusualDay } from '../catalog/sync-days.ts';
import type { DayReasons } from '../domain/compared-ranges.ts';
import type { UnsafeReason } from '../domain/comparison.ts';
import { type Day, eachDay, earlier, later } from '../domain/dates.ts';
import {
  ALL_SEEN,
  dependsOnProperty,
  eventsIn,
  eventsOf,
  type ProviderEvent,
  type UnseenEvents,
  unseenEvents,
  WATCHED_DAYS,
} from '../domain/provider-events.ts';
import { EVERY_DAY, haveDay, type Range, spanOf, within } from '../domain/range.ts';
import { undividedDays } from '../facts/days.ts';
import type { Device, Facts, FactsQuery } from '../facts/facts.ts';
import { type FactTable, monthsOf, siteTableOf, TABLES } from '../model/tables.ts';

/** What the catalog has about the days of a table. */
export interface PlannedDays {
  readonly ranges: readonly Range[];
  readonly project: Project;
  /** Days before this one are not stored; null if no day is. */
  readonly firstDay: Day | null;
  readonly unusual: ReadonlyMap<Day, UnusualDay>;
  /** The events of the provider that concern the table, whatever its days came from. */
  readonly events: readonly ProviderEvent[];
  /** The days whose rows came from a bulk export; may be empty where no event of it concerns the ranges (`meetExportEvents`). */
  readonly bulkExportDays: readonly Range[];
  /** The stored days of a part of the site that came from a bulk export. It has all their rows: without any, nothing was shown. */
  readonly exported: readonly Range[];
}

/** What rows are read from: the stored facts, or a list of the reporting API or of the bulk export in a warehouse. */
export type RowSource = 'facts' | 'api' | 'bulkExport';

/** What to read to determine which days of a table are stored. */
export interface KnownDaysPlan extends PlannedDays {
  readonly table: FactTable;
  readonly siteFiles: FactsQuery['files'];
  /** Files of the table, if it is not that of the site. */
  readonly ownFiles: FactsQuery['files'];
  /** See `planWatchedDays`. */
  readonly watchedFiles: FactsQuery['files'];
}

/**
 * Plans what to read about the days of a table in some ranges. `coverage`: that of the project; `notBefore`: days before
 * this one count as missing; `hasEvents`: whether it matters which events of the provider the property shows; `source`:
 * where the rows of these days are read from.
 */
export async function planKnownDays(
  catalog: Catalog,
  project: Project,
  table: FactTable,
  {
    ranges,
    coverage,
    notBefore,
    hasEvents = true,
    source = 'facts',
  }: {
    ranges: readonly Range[];
    coverage: Covered;
    notBefore?: Day | undefined;
    hasEvents?: boolean;
    source?: RowSource | undefined;
  },
): Promise<KnownDaysPlan> {
  const hull = spanOf(ranges);
  const site = siteTableOf(table);
  const isSite = table === site;
  const firstDay = firstDayOf(table, coverage);
  const imported = isSite && !meetExportEvents(ranges) ? [] : await importedDays(catalog, project, table);
  return {
    table,
    ranges,
    project,
    firstDay: firstDay && later(firstDay, notBefore ?? firstDay),
    unusual: await listUnusualDays(catalog, project.id, table, hull),
    exported: isSite ? [] : imported.flatMap((range) => within(range, notBefore ?? range.from, range.to) ?? []),
    siteFiles: await filesOf(catalog, project.id, site, hull),
    ownFiles: isSite ? [] : await filesOf(catalog, project.id, TABLES[table].rollups?.all ?? table, hull),
    watchedFiles: hasEvents ? await planWatchedDays(catalog, project.id, { site, range: hull }) : [],
    events: hasEvents ? eventsOf(TABLES[table].surface) : [],
    bulkExportDays: BULK_EXPORT_DAYS[source] ?? imported,
  };
}

/** Whether ranges have days of an event of the bulk export, so that it matters which of their days came from one. */
export function meetExportEvents(ranges: readonly Range[]): boolean {
  return eventsIn(ranges, null, eventsOf('bulkExport')).length > 0;
}

/** The stored days of a table that were imported from a bulk export. */
async function importedDays(catalog: Catalog, project: Project, table: FactTable): Promise<readonly Range[]> {
  return (await readBulkExportDays(catalog, project.id)).get(table) ?? [];
}

/** The days that came from a bulk export where rows are not read from stored facts. */
const BULK_EXPORT_DAYS: Readonly<Partial<Record<RowSource, readonly Range[]>>> = { api: [], bulkExport: [EVERY_DAY] };

function firstDayOf(table: FactTable, coverage: Covered): Day | null {
  const first = coverage[table]?.firstDay ?? null;
  // Its first days may have no rows and still be stored.
  if (TABLES[table].isSparse === true) return coverage[siteTableOf(table)]?.firstDay ?? first;
  const monthly = monthsOf(table);
  const firstMonth = monthly && coverage[monthly]?.firstDay;
  return firstMonth === undefined ? first : earlier(firstMonth, first ?? firstMonth);
}

/**
 * Which days of a table are stored, cut off, or may still change. The sync records this for its own days. Another day
 * is stored if the table or the site has a row for it, because a load contains the days of all tables; not if an import
 * knows only the total of the site.
 */
export class KnownDays implements DayReasons {
  readonly #plan: PlannedDays;
  readonly #withRows: DaysWithRows;
  readonly #unseen: UnseenEvents;

  /**
   * @param withRows the days that have rows
   * @param unseen the events of the provider that the property does not show
   */
  constructor(plan: PlannedDays, withRows: DaysWithRows, unseen: UnseenEvents = ALL_SEEN) {
    this.#plan = plan;
    this.#withRows = withRows;
    this.#unseen = unseen;
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
    const ofSite = await readSiteDays(facts, plan, signal, siteDays);
    const [unseen] = await readUnseenEvents(facts, [plan.watchedFiles], signal);
    const known = new KnownDays(plan, ofSite, unseen);
    // Most projects have all days of the site, so the table itself need not be read.
    if (plan.ownFiles.length === 0 || !known.#hasGap()) return known;
    const ofTable = await facts.storedDays({ ...query, files: plan.ownFiles });
    return new KnownDays(plan, new Set([...ofSite, ...ofTable]), unseen);
  }

  /** The events of the provider that concern the days. */
  get events(): readonly ProviderEvent[] {
    const seen = this.#plan.events.filter((event) => !this.#unseen.has(event));
    return [...seen, ...eventsOf('bulkExport').filter((event) => this.#hasExportedDayOf(event))];
  }

  isStored(day: Day): boolean {
    const { project, firstDay, unusual } = this.#plan;
    if (!isBy(day, project.syncedThrough)) return false;
    if (this.cameFromExport(day)) return true;
    if (firstDay === null || day < firstDay) return false;
    const state = unusual.get(day)?.state;
    if (state === 'empty') return true;
    return state !== 'failed' && this.#withRows.has(day);
  }

  /** Whether a bulk export had the day, with rows or without. */
  cameFromExport(day: Day): boolean {
    return haveDay(this.#plan.exported, day);
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

  #hasExportedDayOf(event: Range): boolean {
    return this.#plan.ranges.some(({ from, to }) => {
      const days = within(event, from, to);
      return days !== null && eachDay(days.from, days.to).some((day) => this.#isExported(day));
    });
  }

  /** Whether a day came from a bulk export, or is missing between days that did. */
  #isExported(day: Day): boolean {
    const { bulkExportDays } = this.#plan;
    if (haveDay(bulkExportDays, day)) return true;
    const isBetween = bulkExportDays.some(({ to }) => to < day) && bulkExportDays.some(({ from }) => from > day);
    return isBetween && !this.isStored(day);
  }

  #hasGap(): boolean {
    const { ranges, firstDay, project } = this.#plan;
    const isWanted = (day: Day): boolean => firstDay !== null && day >= firstDay && isBy(day, project.syncedThrough);
    return ranges.some(({ from, to }) => eachDay(from, to).some((day) => isWanted(day) && !this.isStored(day)));
  }
}

/** The days of the site that prove that those of the table are stored. */
async function readSiteDays(
  facts: Facts,
  { table, siteFiles, ranges }: KnownDaysPlan,
  signal: AbortSignal,
  siteDays: ReadonlySet<Day> | undefined,
): Promise<ReadonlySet<Day>> {
  const query = { files: siteFiles, range: spanOf(ranges), signal };
  const days = siteDays ?? new Set(await facts.storedDays(query));
  if (table === 'site_daily' || siteTableOf(table) !== 'site_daily') return days;
  return days.difference(undividedDays(await facts.siteDevices(query)));
}

/** The files that tell which events of the provider a property does not show; none where no event depends on that. */
export async function planWatchedDays(
  catalog: Catalog,
  projectId: string,
  { site, range }: { readonly site: FactTable; readonly range: Range },
): Promise<FactsQuery['files']> {
  if (site !== 'site_daily' || !dependsOnProperty(range)) return [];
  return filesOf(catalog, projectId, site, WATCHED_DAYS);
}

/** The events of the provider that each of some properties does not show. `files`: those of `planWatchedDays`. */
export async function readUnseenEvents(
  facts: Facts,
  watched: readonly FactsQuery['files'][],
  signal: AbortSignal,
): Promise<UnseenEvents[]> {
  if (watched.every((files) => files.length === 0)) return watched.map(() => ALL_SEEN);
  const ranges = watched.map((files) => ({ files, range: WATCHED_DAYS }));
  const read = async (device: Device) =>
    // The days of one property are in memory, if it was asked about before.
    ranges.length === 1
      ? [await facts.siteDays({ ...ranges[0]!, signal }, device)]
      : facts.siteDaysOfEach(ranges, device, signal);
  const [desktop, all] = [await read('desktop'), await read('all')];
  return desktop.map((days, index) =>
    days.some(({ hasUnknownDevice }) => hasUnknownDevice === 1) ? ALL_SEEN : unseenEvents(days, all[index]!),
  );
}

type DaysWithRows = Pick<ReadonlySet<Day>, 'has'>;

function isBy(day: Day, last: Day | null): boolean {
  return last !== null && day <= last;
}
