import { join } from 'node:path';
import { filesOf } from '../catalog/fact-files.ts';
import { listKeywords } from '../catalog/keywords.ts';
import { findProjectsOfProperty, newProjectId, type Project } from '../catalog/projects.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { listSyncDays } from '../catalog/sync-days.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import type { BrandTerm } from '../domain/brand-terms.ts';
import { type Day, later } from '../domain/dates.ts';
import { lastFactDay } from '../domain/fact-days.ts';
import { settledDay } from '../domain/finality.ts';
import { isoInstant, isoInstantOrNull } from '../domain/instants.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { entityRows, type KeywordRow, untrackedQueries } from '../load/entities.ts';
import {
  columnsToKeep,
  ImportRefused,
  projectRow,
  refuseFutureRange,
  requireDomain,
  writeRows,
} from '../load/import-rows.ts';
import { type LoadSummary, loadSnapshot } from '../load/load.ts';
import type { Stores } from '../load/stores.ts';
import { SEARCH_TYPES, type SearchType } from '../model/surfaces.ts';
import { type FactTable, siteTable } from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type KeptDays, refuseOverlaps, writeFacts } from './facts.ts';
import { openExport } from './open-export.ts';
import { type PlannedTable, planTables, targetsOf } from './plan.ts';
import { refuseOtherPages } from './property.ts';
import { type ExportTable, type OtherFile, readTable } from './read-table.ts';
import { type Dimension, isHarmlessFilter } from './words.ts';

export interface SearchConsoleOptions {
  /** CSV and zip files, or folders of them. */
  readonly paths: readonly string[];
  readonly workspace: string;
  /** `sc-domain:example.com` or `https://example.com/`. */
  readonly property: string;
  readonly brandTerms?: readonly BrandTerm[];
  /** Tracks the queries with the most clicks. */
  readonly trackTop?: number;
  /** The range of lists whose export does not have their days. */
  readonly range?: Range;
  /** Allows exports of other properties. */
  readonly force?: boolean;
  /** Headers of columns that do not change what the rows count. */
  readonly ignoredColumns?: readonly string[];
  /** Says that tables whose rows all have one country or device are not filtered. */
  readonly unfiltered?: boolean;
  readonly dryRun?: boolean;
  readonly report?: (step: string) => void;
}

/** The result for a file. */
interface ImportedFile {
  readonly file: string;
  /** Null for a file that is no table. */
  readonly searchType: SearchType | null;
  /** The dimensions of its rows; empty for a file that is no table. */
  readonly dimensions: readonly string[];
  readonly rows: number;
  readonly from: Day | null;
  readonly to: Day | null;
  /** The tables that it is stored in. */
  readonly storedAs: readonly string[];
  readonly remarks: readonly string[];
}

export interface SearchConsoleSummary extends LoadSummary {
  /** Null if nothing can be stored. */
  readonly project: { readonly id: string; readonly property: string; readonly created: boolean } | null;
  readonly keywordsAdded: number;
  readonly files: readonly ImportedFile[];
}

/**
 * Imports exports of the search engine's user interface and API: stores rows by day, or as lists of exactly their
 * range, without inventing missing details.
 */
export async function importSearchConsole(
  stores: Stores,
  options: SearchConsoleOptions,
): Promise<SearchConsoleSummary> {
  const { settings, catalog, now = Date.now } = stores;
  const { report = () => {} } = options;
  const last = lastFactDay(now());
  refuseFutureRange(options.range, last);
  requireDomain(options.property);
  await requireWorkspace(catalog, options.workspace);
  await using opened = await openExport(settings, options);
  const { files, folder: temporary, session } = opened;
  report('reading the export');
  const isStored = (...of: readonly [readonly Dimension[], SearchType]) => targetsOf(...of, true).length > 0;
  const tables: (ExportTable | OtherFile)[] = [];
  for (const [index, file] of files.entries()) {
    const staged = join(temporary, String(index));
    tables.push(...(await readTable(session, file, staged, { ...options, last, isStored })));
  }
  refuseFilters(tables);
  const [known] = await findProjectsOfProperty(catalog, options.workspace, options.property);
  const hasBrandTerms = (options.brandTerms ?? known?.brandTerms ?? []).length > 0;
  const plan = planTables(
    tables.filter((table) => 'dimensions' in table),
    { named: options.range, hasBrandTerms },
  );
  if (!options.force) {
    const ofPages = plan.filter(({ table, targets }) => targets.length > 0 && table.dimensions.includes('page'));
    const pages = ofPages.map(({ table }) => table);
    await refuseOtherPages(session, pages, options.property);
  }
  await refuseOverlaps(session, plan);
  const imported = tables.map((table) => describe(table, plan));
  if (plan.every(({ targets }) => targets.length === 0)) return nothingToStore(imported, options);
  try {
    return { ...(await load(stores, session, plan, options)), files: imported };
  } catch (error) {
    if (error instanceof NoRows) return nothingToStore(imported, options);
    throw error;
  }
}

/** No row is of a tracked query, or of a day that may be replaced. */
class NoRows extends Error {}

async function load(
  stores: Stores,
  session: Session,
  plan: readonly PlannedTable[],
  options: SearchConsoleOptions,
): Promise<Omit<SearchConsoleSummary, 'files'>> {
  const { catalog, now: clock = Date.now } = stores;
  const { workspace, property, trackTop = 0, dryRun = false, report = () => {} } = options;
  let made: { id: string; created: boolean; added: number } | undefined;
  const summary = await loadSnapshot(stores, {
    source: 'search-console export',
    dryRun,
    report,
    // The provider occasionally returns rows with more clicks than impressions.
    acceptImplausible: true,
    makeSnapshot: async (folder) => {
      const [known] = await findProjectsOfProperty(catalog, workspace, property);
      const id = known?.id ?? (await newProjectId(catalog));
      const now = isoInstant(clock() * 1000);
      writeRows(folder, 'projects', [rowOf({ id, known, now, lastDay: lastDayOf(plan) }, options)]);
      const top = trackTop === 0 ? [] : await topQueries(session, plan, trackTop);
      const added = untrackedQueries(await entityRows<KeywordRow>(catalog, 'keywords', id), top);
      const rows = added.map((keyword) => ({ ...keyword, project_id: id, source: 'suggested', tracked_since: now }));
      writeRows(folder, 'keywords', rows);
      const tracked = [...(await listKeywords(catalog, id)), ...added].map(({ id: key, query }) => ({
        id: key,
        query,
      }));
      writeRows(`${folder}-`, 'tracked', tracked);
      const keywords = tracked.length === 0 ? undefined : join(`${folder}-`, 'tracked.ndjson');
      const kept = await keptDays(session, stores, id);
      made = { id, created: known === undefined, added: added.length };
      const brandTerms = options.brandTerms ?? known?.brandTerms ?? [];
      const { days, isEmpty } = await writeFacts(session, plan, { folder, project: id, keywords, brandTerms, kept });
      if (isEmpty) throw new NoRows();
      return {
        ...{ project: id, days, kept: columnsToKeep(options.brandTerms) },
        made: known === undefined ? { workspace, property } : undefined,
        keywords: {
          tracked: new Set(tracked.map((keyword) => keyword.id)),
          begun: added.map((keyword) => keyword.id),
        },
      };
    },
  });
  const { id, created, added } = made!;
  const { brand_daily: brand, ...tables } = summary.tables;
  // Rows that only mark days as unknown do not count as imported.
  const hasBrand = plan.some(({ targets }) => targets.some(({ isBranded }) => isBranded));
  return {
    ...summary,
    tables: hasBrand && brand ? summary.tables : tables,
    project: { id, property, created },
    keywordsAdded: added,
  };
}

/** A project that is synced further than the export stays as it is, apart from its brand terms. */
function rowOf(
  { id, known, now, lastDay }: { id: string; known: Project | undefined; now: string; lastDay: Day },
  { workspace, property, brandTerms = known?.brandTerms ?? [] }: SearchConsoleOptions,
): object {
  const made = { id, workspace, property, domain: requireDomain(property), brandTerms, known };
  const row = projectRow({ ...made, now, syncedThrough: lastDay, provisionalAfter: settledDay(lastDay) });
  if (known === undefined || known.syncedThrough === null) return row;
  const { syncStatus, lastSyncedAt, syncedThrough, provisionalAfter } = known;
  const synced = {
    sync_status: syncStatus,
    last_synced_at: isoInstantOrNull(lastSyncedAt),
    synced_through: syncedThrough,
  };
  if (syncedThrough >= lastDay) return { ...row, ...synced, provisional_after: provisionalAfter };
  return { ...row, provisional_after: later(provisionalAfter ?? syncedThrough, settledDay(lastDay)) };
}

function lastDayOf(plan: readonly PlannedTable[]): Day {
  return plan
    .filter(({ targets }) => targets.length > 0)
    .flatMap(({ table, period }) => period?.to ?? table.lastDataDay ?? [])
    .reduce(later);
}

async function topQueries(session: Session, plan: readonly PlannedTable[], max: number): Promise<string[]> {
  const files = plan.filter(({ table, targets }) => targets.length > 0 && table.dimensions.includes('query'));
  if (files.length === 0) return [];
  const parameters = { files: files.map(({ table }) => table.staged), max };
  return (await session.rowsOfFile<{ query: string }>('import/top_queries', parameters)).map(({ query }) => query);
}

/** The stored days that an import does not replace. */
async function keptDays(session: Session, { settings, catalog }: Stores, project: string): Promise<KeptDays> {
  const published = (await listSyncDays(catalog, project)).filter(({ state }) => state !== 'failed');
  const synced = new Map(
    [...Map.groupBy(published, ({ table }) => table)].map(([table, of]) => [table, of.map(({ day }) => day)]),
  );
  const knownDays = async (table: FactTable, column: string): Promise<Day[]> => {
    const stored = await filesOf(catalog, project, table, EVERY_DAY);
    if (stored.length === 0) return [];
    await using store = await openJoinedStore(settings, catalog);
    using files = await store.open(stored);
    const days = await session.rows<{ day: Day }>(sqlTemplate('import/known_days', { column }), { files: files.paths });
    return days.map(({ day }) => day);
  };
  const byDevice = new Map<FactTable, readonly Day[]>();
  for (const table of SEARCH_TYPES.map(siteTable)) {
    byDevice.set(table, await knownDays(table, 'device'));
  }
  return { synced, byDevice, bySegment: await knownDays('brand_daily', 'segment') };
}

/** With a filter, all numbers are partial, but the rows do not show it. */
function refuseFilters(tables: readonly (ExportTable | OtherFile)[]): void {
  for (const table of tables) {
    if ('dimensions' in table) continue;
    const filter = table.filters?.find(([name, value]) => !isHarmlessFilter(name, value));
    if (filter === undefined) continue;
    throw new ImportRefused(
      `'${table.file.name}' says that the export is filtered ('${filter[0]}: ${filter[1]}'); its numbers are those of a part. Export all web searches.`,
    );
  }
}

function describe(table: ExportTable | OtherFile, plan: readonly PlannedTable[]): ImportedFile {
  const none = { searchType: null, dimensions: [], rows: 0, from: null, to: null, storedAs: [] };
  if (!('dimensions' in table)) {
    return { file: table.file.name, ...none, remarks: [table.remark] };
  }
  const { targets, period, remarks } = plan.find((planned) => planned.table === table)!;
  return {
    file: table.file.name,
    searchType: table.type,
    dimensions: table.dimensions,
    rows: table.rows,
    from: table.firstDay ?? period?.from ?? null,
    to: table.lastDay ?? period?.to ?? null,
    storedAs: targets.filter(({ keys }) => keys['segment'] !== "'unknown'").map((target) => target.table),
    remarks,
  };
}

function nothingToStore(
  files: readonly ImportedFile[],
  { dryRun = false }: SearchConsoleOptions,
): SearchConsoleSummary {
  if (!dryRun) {
    const reasons = files.map(({ file, remarks }) => `\n  ${file}: ${remarks.join('; ')}`);
    const [table] = files.filter(({ storedAs }) => storedAs.length > 0);
    const hint = table
      ? '\nTheir rows are of no tracked query (track some with --track-top), or of days that stay as they are because the sync has fetched them or their devices are known.'
      : '';
    throw new ImportRefused(`Nothing in these files can be stored.${reasons.join('')}${hint}`);
  }
  const removed = { rows: {}, projects: [], unconfirmed: [] };
  return {
    loaded: false,
    tables: {},
    projects: [],
    removed,
    warnings: [],
    seconds: 0,
    project: null,
    keywordsAdded: 0,
    files,
  };
}
