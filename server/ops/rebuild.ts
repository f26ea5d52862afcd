import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Catalog, type Values } from '../catalog/catalog.ts';
import { CatalogMissing } from '../catalog/failures.ts';
import { upsertInto } from '../catalog/upsert.ts';
import { Journal, type JournalLine, type ManifestRow, type Publication, type StoredRecord } from '../load/journal.ts';
import { LOAD_LOCK_TIMEOUT, withLoadLock } from '../load/lock.ts';
import { ENTITIES, type EntityTable } from '../load/tables.ts';
import { FactStore } from '../storage/fact-store.ts';
import { type JournalState, replay } from './journal-state.ts';

interface Options {
  readonly report?: (step: string) => void;
  /** Milliseconds to wait for a load. */
  readonly lockTimeout?: number;
}

/** A current file that is not what was written. */
interface DamagedPart extends Pick<ManifestRow, 'project' | 'table' | 'part' | 'file'> {
  readonly damage: string;
}

export interface RebuildReport {
  /** Whether the whole catalog was made from the journal, or only its manifest. */
  readonly rebuilt: 'catalog' | 'manifest';
  readonly projects: number;
  readonly files: number;
  /** Taken back from the trash. */
  readonly restored: readonly string[];
  readonly damaged: readonly DamagedPart[];
}

const CATALOG_FILES = ['catalog.sqlite', 'catalog.sqlite-wal', 'catalog.sqlite-shm'];
/** The tables that are copied from a catalog that is older than the facts, and the table that owns their rows. */
const KEPT_TABLES = [
  { table: 'members', key: ['workspace_id', 'email'], owner: 'workspaces', id: 'workspace_id' },
  { table: 'keys', key: ['id'], owner: 'workspaces', id: 'workspace_id' },
  { table: 'connections', key: ['project_id', 'kind'], owner: 'projects', id: 'project_id' },
] as const;

/**
 * Makes the catalog from the journal beside the facts, if it is missing, empty or older than the facts. Keys, members and
 * connections are copied from an older one. If the catalog is up to date, makes only its manifest.
 */
export function rebuild(dataFolder: string, options: Options = {}): Promise<RebuildReport> {
  return locked(dataFolder, options, async (report) => {
    const store = new FactStore(dataFolder);
    const journal = new Journal(store);
    const records = await journal.records();
    if (records.length === 0) {
      throw new Error(
        `There is no journal in '${store.path('facts')}' to make a catalog from: restore the catalog from a backup.`,
      );
    }
    report('reading the journal');
    using current = openIfThere(dataFolder);
    const held = current?.get<Publication>('publication');
    // Where there is a catalog, it says whether the last load was committed.
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
    using rebuilt = new Catalog(dataFolder);
    await journal.settle(rebuilt);
    report('comparing files');
    const files = rebuilt.all<ManifestRow>('manifest_all');
    const { restored, damaged } = await compare(store, files);
    const projects = new Set(state.manifest.map(({ project }) => project)).size;
    return { rebuilt: isUpToDate ? 'manifest' : 'catalog', projects, files: files.length, restored, damaged };
  });
}

/** Discards the facts of a data folder without a catalog: moves them to the trash, which is emptied after a week. */
export async function beginAnew(dataFolder: string, options: Options = {}): Promise<void> {
  await locked(dataFolder, options, async () => {
    using current = openIfThere(dataFolder);
    if (current !== undefined) {
      throw new Error(
        `There is a catalog in '${dataFolder}'; nothing was touched. Begin with an empty data folder instead: name one in ORDINATE_DATA.`,
      );
    }
    const store = new FactStore(dataFolder);
    const found = [...CATALOG_FILES, 'facts'].filter((name) => existsSync(store.path(name)));
    await store.moveToTrash(found, Date.now());
  });
}

async function locked<T>(
  dataFolder: string,
  { report = () => {}, lockTimeout = LOAD_LOCK_TIMEOUT }: Options,
  work: (report: (step: string) => void) => Promise<T>,
): Promise<T> {
  if (!existsSync(dataFolder)) throw new Error(`There is no data folder '${dataFolder}'; name it in ORDINATE_DATA.`);
  const onWait = (): void => report('waiting for a load to end');
  return withLoadLock(dataFolder, { lockTimeout, onWait }, () => work(report));
}

function openIfThere(dataFolder: string): Catalog | undefined {
  try {
    return new Catalog(dataFolder);
  } catch (error) {
    if (error instanceof CatalogMissing) return undefined;
    throw error;
  }
}

async function rebuildManifest(catalog: Catalog, records: readonly StoredRecord[]): Promise<JournalState> {
  const state = await replay(records);
  catalog.transaction(() => {
    // Projects may have been removed otherwise than by a load.
    fillManifest(
      catalog,
      state.manifest.filter(({ project }) => catalog.get('project_exists', { id: project })),
    );
  });
  return state;
}

/** Aside first, then into its place: whoever is killed in between leaves no half of a catalog. */
async function rebuildCatalog(
  store: FactStore,
  dataFolder: string,
  records: readonly StoredRecord[],
  older: Catalog | undefined,
): Promise<JournalState> {
  const folder = join(dataFolder, 'rebuilding');
  await rm(folder, { recursive: true, force: true });
  const catalog = new Catalog(folder);
  let state: JournalState | undefined;
  try {
    await catalog.longTransaction(async (own) => {
      state = await replay(records, (line) => apply(own, line));
      fillManifest(own, state.manifest);
      if (older !== undefined) keep(own, older);
      const { number, id } = state.last;
      own.run('publication_set', { number, id });
    });
  } finally {
    catalog.close();
  }
  older?.close();
  // Also the log of the lost catalog: SQLite would take it for that of the new one.
  await store.moveToTrash(
    CATALOG_FILES.filter((name) => existsSync(store.path(name))),
    Date.now(),
  );
  await store.seal('rebuilding/catalog.sqlite');
  await store.rename('rebuilding/catalog.sqlite', 'catalog.sqlite');
  // The lost catalog knew which files were replaced lately; nobody reads them any more.
  const current = new Set(state!.manifest.map(({ file }) => file));
  await store.moveToTrash(
    (await store.list()).filter((file) => !current.has(file)),
    Date.now(),
  );
  await rm(folder, { recursive: true, force: true });
  return state!;
}

function fillManifest(catalog: Catalog, manifest: readonly ManifestRow[]): void {
  catalog.run('manifest_clear');
  for (const row of manifest) {
    catalog.run('fact_file_upsert', { ...row });
    // A journal of an older version does not say which tables were loaded.
    catalog.run('loaded_table_add', { project: row.project, table: row.table });
  }
  catalog.run('retired_keep');
  // Seconds since 1970: more than any project has been loaded.
  const { value: revision } = catalog.get<{ value: number }>('revision_set', { least: Math.floor(Date.now() / 1000) })!;
  catalog.run('revision_raise_all', { revision });
}

/** What a load did to an entity. */
function apply(catalog: Catalog, line: JournalLine): void {
  if ('loaded' in line) catalog.run('loaded_table_add', { ...line.loaded });
  if ('upsert' in line) upsert(catalog, entityOf(line.upsert), line.row);
  if ('remove' in line) {
    const { name: table, key } = entityOf(line.remove);
    catalog.runTemplate(
      'delete_row',
      { table, matches: key.map((name) => `"${name}" = $${name}`).join(' and ') },
      line.row,
    );
  }
}

/** Columns that the record does not know yet get their defaults. */
function upsert(catalog: Catalog, { name: table, columns, key }: EntityTable, row: Values): void {
  const names = columns.map(({ name }) => name).filter((name) => row[name] !== undefined);
  const write = upsertInto(catalog, table, names, key);
  write(Object.fromEntries(names.map((name) => [name, row[name]!])));
}

function entityOf(table: string): EntityTable {
  const found = ENTITIES.find(({ name }) => name === table);
  if (found === undefined) throw new Error(`The journal has rows of '${table}', which this version does not know.`);
  return found;
}

/** Keys, members and connections of an older catalog, as far as what they belong to still exists. */
function keep(catalog: Catalog, older: Catalog): void {
  for (const { table, key, owner, id } of KEPT_TABLES) {
    const owners = new Set(
      [...catalog.eachOfTemplate<{ id: string }>('state_all', { table: owner, columns: 'id' })].map((row) => row.id),
    );
    for (const row of older.eachOfTemplate<Values>('state_all', { table, columns: '*' })) {
      if (!owners.has(row[id] as string)) continue;
      const names = Object.keys(row);
      upsertInto(catalog, table, names, key)(row);
    }
  }
}

async function compare(
  store: FactStore,
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
