import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog, OpenCatalog, Values } from '../catalog/catalog.ts';
import { eachRow, eachWholeRow, removeRows, upsertRows } from '../catalog/entity-rows.ts';
import {
  addLoadedTable,
  lastPublication,
  listManifest,
  type ManifestRow,
  replaceManifest,
  setPublication,
} from '../catalog/fact-files.ts';
import { CatalogMissing } from '../catalog/failures.ts';
import { FileLocks } from '../catalog/file-locks.ts';
import { putKeywordGaps } from '../catalog/keywords.ts';
import { requireRestored, sqliteIn } from '../catalog/location.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { projectIdIsTaken } from '../catalog/projects.ts';
import { putBulkExportDays } from '../catalog/sync-days.ts';
import { listWorkspaces, putKeepDays, putRequestsPerMinute } from '../catalog/workspaces.ts';
import { type LockOptions, withLoadLock } from '../load/change-facts.ts';
import { Journal, type JournalLine, type StoredRecord } from '../load/journal.ts';
import { ENTITIES, type EntityTable } from '../load/tables.ts';
import { FactFolder } from '../storage/fact-folder.ts';
import { type JournalState, replay } from './journal-state.ts';

interface Options extends Pick<LockOptions, 'lockTimeout'> {
  readonly report?: (step: string) => void;
}

/** A damaged current file. */
interface DamagedPart extends Pick<ManifestRow, 'project' | 'table' | 'part' | 'file'> {
  readonly damage: string;
}

export interface RebuildReport {
  /** Whether the whole catalog was rebuilt, or only its manifest. */
  readonly rebuilt: 'catalog' | 'manifest';
  /** Tables of the catalog that the journal does not have, where no older catalog has them either. */
  readonly lost: readonly string[];
  readonly projects: number;
  readonly files: number;
  /** Restored from the trash. */
  readonly restored: readonly string[];
  readonly damaged: readonly DamagedPart[];
}

const CATALOG_FILES = ['catalog.sqlite', 'catalog.sqlite-wal', 'catalog.sqlite-shm'];
/**
 * The tables that the journal does not have, copied from a catalog that is older than the facts, with the tables that own
 * their rows: all that a row names must exist.
 */
const KEPT_TABLES = [
  { table: 'members', key: ['workspace_id', 'email'], owners: { workspaces: 'workspace_id' } },
  { table: 'keys', key: ['id'], owners: { workspaces: 'workspace_id' } },
  { table: 'key_projects', key: ['key_id', 'project_id'], owners: { keys: 'key_id', projects: 'project_id' } },
  { table: 'feeds', key: ['id'], owners: { keys: 'key_id' } },
  { table: 'shares', key: ['id'], owners: { projects: 'project_id' } },
  { table: 'grants', key: ['id'], owners: { workspaces: 'workspace_id' } },
  { table: 'connections', key: ['project_id', 'kind'], owners: { projects: 'project_id', grants: 'grant_id' } },
  { table: 'channels', key: ['id'], owners: { workspaces: 'workspace_id', projects: 'project_id' } },
  { table: 'digest_verdicts', key: ['channel_id', 'event', 'note_id'], owners: { channels: 'channel_id' } },
  { table: 'saved_views', key: ['id'], owners: { projects: 'project_id' } },
  { table: 'project_tags', key: ['project_id', 'tag'], owners: { projects: 'project_id' } },
  { table: 'favourites', key: ['project_id', 'email'], owners: { projects: 'project_id' } },
  { table: 'dismissed_findings', key: ['id'], owners: { projects: 'project_id' } },
  { table: 'crawl_days', key: ['project_id', 'property', 'day'], owners: { projects: 'project_id' } },
  { table: 'evaluated_alerts', key: ['id'], owners: { projects: 'project_id' } },
  { table: 'alert_evaluations', key: ['project_id'], owners: { projects: 'project_id' } },
  { table: 'inspection_projects', key: ['project_id'], owners: { projects: 'project_id' } },
  { table: 'inspected_pages', key: ['project_id', 'url'], owners: { projects: 'project_id' } },
  { table: 'inspection_changes', key: ['project_id', 'url', 'since'], owners: { projects: 'project_id' } },
  { table: 'audit', key: ['id'], owners: {} },
] as const;

/**
 * Rebuilds the catalog from the journal, if it is missing, empty or older than the facts. Copies what the journal does not
 * have from an older one. If the catalog is up to date, rebuilds only its manifest.
 */
export function rebuild(dataFolder: string, options: Options = {}): Promise<RebuildReport> {
  return locked(dataFolder, options, async (report) => {
    const store = new FactFolder(dataFolder);
    const journal = new Journal(store);
    const records = await journal.records();
    if (records.length === 0) {
      throw new Error(
        `There is no journal in '${store.path('facts')}' to make a catalog from: restore the catalog from a backup.`,
      );
    }
    report('reading the journal');
    await using current = await openIfThere(dataFolder);
    const held = current && (await lastPublication(current));
    // An existing catalog shows whether the last load was committed.
    const counted = records.filter(
      ({ publication, isPending }) => !isPending || held === undefined || publication.id === held.id,
    );
    const newest = counted.at(-1)!.publication;
    if (held !== undefined && held.number > newest.number) {
      throw new Error(
        `The catalog has publication ${held.number}, but '${store.path('facts')}' has records until ${newest.number} only: the facts are older than the catalog. Restore them from a backup.`,
      );
    }
    const isUpToDate = held?.id === newest.id;
    const state = isUpToDate
      ? await rebuildManifest(current!, counted)
      : await rebuildCatalog(store, dataFolder, counted, current);
    await using rebuilt = await openCatalog(sqliteIn(dataFolder));
    await journal.settle(rebuilt);
    report('comparing files');
    const files = await listManifest(rebuilt);
    const { restored, damaged } = await compare(store, files);
    const projects = new Set(state.manifest.map(({ project }) => project)).size;
    const rebuiltPart = isUpToDate ? 'manifest' : 'catalog';
    const lost = current === undefined ? KEPT_TABLES.map(({ table }) => table) : [];
    return { rebuilt: rebuiltPart, lost, projects, files: files.length, restored, damaged };
  });
}

/** Discards the facts of a data folder without a catalog: moves them to the trash, which is emptied after a week. */
export async function discardFacts(dataFolder: string, options: Options = {}): Promise<void> {
  await locked(dataFolder, options, async () => {
    await using current = await openIfThere(dataFolder);
    if (current !== undefined) {
      throw new Error(
        `There is a catalog in '${dataFolder}'; nothing was touched. Begin with an empty data folder instead: name one in ORDINATE_DATA.`,
      );
    }
    const store = new FactFolder(dataFolder);
    const found = [...CATALOG_FILES, 'facts'].filter((name) => existsSync(store.path(name)));
    await store.moveToTrash(found, Date.now());
  });
}

async function locked<T>(
  dataFolder: string,
  { report = () => {}, ...options }: Options,
  work: (report: (step: string) => void) => Promise<T>,
): Promise<T> {
  if (!existsSync(dataFolder)) throw new Error(`There is no data folder '${dataFolder}'; name it in ORDINATE_DATA.`);
  requireRestored(dataFolder);
  const onWait = (): void => report('waiting for a load to end');
  return withLoadLock(new FileLocks(dataFolder), { ...options, onWait }, () => work(report));
}

async function openIfThere(dataFolder: string): Promise<OpenCatalog | undefined> {
  try {
    return await openCatalog(sqliteIn(dataFolder));
  } catch (error) {
    if (error instanceof CatalogMissing) return undefined;
    throw error;
  }
}

async function rebuildManifest(catalog: Catalog, records: readonly StoredRecord[]): Promise<JournalState> {
  const state = await replay(records);
  await catalog.transaction(async (tx) => {
    await replaceManifest(tx, await ofKnownProjects(tx, state.manifest));
  });
  return state;
}

/** The rows of projects in the catalog: others may have been removed without a load. */
export async function ofKnownProjects(catalog: Catalog, manifest: readonly ManifestRow[]): Promise<ManifestRow[]> {
  const known = new Set<string>();
  for (const project of new Set(manifest.map((row) => row.project))) {
    if (await projectIdIsTaken(catalog, project)) known.add(project);
  }
  return manifest.filter(({ project }) => known.has(project));
}

/** Builds the catalog in another folder and renames it, so that a killed process leaves no incomplete catalog. */
async function rebuildCatalog(
  store: FactFolder,
  dataFolder: string,
  records: readonly StoredRecord[],
  older: OpenCatalog | undefined,
): Promise<JournalState> {
  const folder = join(dataFolder, 'rebuilding');
  await rm(folder, { recursive: true, force: true });
  const catalog = await openCatalog(sqliteIn(folder));
  let state: JournalState | undefined;
  try {
    await catalog.transaction(async (tx) => {
      const removed = new Set<Values[string]>();
      state = await replay(records, async (line) => {
        if ('remove' in line && line.remove === 'workspaces') removed.add(line.row['id']!);
        await apply(tx, line);
      });
      await replaceManifest(tx, state.manifest);
      if (older !== undefined) await keep(tx, older, removed);
      await setPublication(tx, state.last);
    });
  } finally {
    await catalog.close();
  }
  await older?.close();
  // Also the log of the lost catalog: SQLite would apply it to the new one.
  await store.moveToTrash(
    CATALOG_FILES.filter((name) => existsSync(store.path(name))),
    Date.now(),
  );
  await store.seal('rebuilding/catalog.sqlite');
  await store.rename('rebuilding/catalog.sqlite', 'catalog.sqlite');
  // Only the lost catalog listed recently replaced files, and no process reads them any more.
  const current = new Set(state!.manifest.map(({ file }) => file));
  await store.moveToTrash(
    (await store.factFiles()).filter((file) => !current.has(file)),
    Date.now(),
  );
  await rm(folder, { recursive: true, force: true });
  return state!;
}

/** Applies a change of an entity. */
async function apply(tx: Catalog, line: JournalLine): Promise<void> {
  if ('loaded' in line) await addLoadedTable(tx, line.loaded);
  if ('bulkExport' in line) await putBulkExportDays(tx, line.bulkExport);
  if ('unknown' in line) await putKeywordGaps(tx, [line.unknown]);
  if ('upsert' in line) await upsert(tx, entityOf(line.upsert), line.row);
  if ('remove' in line) {
    const { name: table, key } = entityOf(line.remove);
    await removeRows(tx, { table, key }, [line.row]);
  }
}

/** Columns that are missing in the record get their defaults. */
async function upsert(tx: Catalog, { name: table, columns, key }: EntityTable, row: Values): Promise<void> {
  const names = columns.map(({ name }) => name).filter((name) => row[name] !== undefined);
  const known = Object.fromEntries(names.map((name) => [name, row[name]!]));
  await upsertRows(tx, { table, columns: names, key }, [known]);
}

function entityOf(table: string): EntityTable {
  const found = ENTITIES.find(({ name }) => name === table);
  if (found === undefined) throw new Error(`The journal has rows of '${table}', which this version does not know.`);
  return found;
}

/**
 * Copies what the journal does not have from an older catalog, if its owners still exist.
 * @param removed workspaces that were removed since
 */
async function keep(tx: Catalog, older: Catalog, removed: ReadonlySet<Values[string]>): Promise<void> {
  // The journal has workspaces only once they have a project or a note.
  const journaled = await idsOf(tx, 'workspaces');
  for await (const rows of eachWholeRow(older, 'workspaces')) {
    for (const row of rows) {
      if (!journaled.has(row['id']!) && !removed.has(row['id']!)) await upsert(tx, entityOf('workspaces'), row);
    }
  }
  for (const { table, key, owners } of KEPT_TABLES) {
    const existing: [string, Set<Values[string]>][] = [];
    for (const [owner, column] of Object.entries(owners)) existing.push([column, await idsOf(tx, owner)]);
    for await (const rows of eachWholeRow(older, table)) {
      const kept = rows.filter((row) =>
        existing.every(([column, ids]) => row[column] === null || ids.has(row[column]!)),
      );
      if (kept[0] !== undefined) await upsertRows(tx, { table, columns: Object.keys(kept[0]), key }, kept);
    }
  }
  // Snapshots, and so the journal, do not have the limits of workspaces.
  for (const { id, requestsPerMinute, keepDays } of await listWorkspaces(older)) {
    await putRequestsPerMinute(tx, id, requestsPerMinute);
    await putKeepDays(tx, id, keepDays);
  }
}

async function idsOf(catalog: Catalog, table: string): Promise<Set<Values[string]>> {
  const ids = new Set<Values[string]>();
  for await (const rows of eachRow(catalog, { table, columns: ['id'] })) {
    for (const row of rows) ids.add(row['id']!);
  }
  return ids;
}

async function compare(
  store: FactFolder,
  files: readonly ManifestRow[],
): Promise<Pick<RebuildReport, 'restored' | 'damaged'>> {
  const restored: string[] = [];
  const damaged: DamagedPart[] = [];
  for (const row of files) {
    const { project, table, part, file } = row;
    if (store.stampOf(file) === undefined && (await store.restoreFromTrash(file))) restored.push(file);
    const damage = await store.damageOf(row);
    if (damage !== undefined) damaged.push({ project, table, part, file, damage });
  }
  return { restored, damaged };
}
