import { existsSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog, OpenCatalog, Values } from '../catalog/catalog.ts';
import { removeRows, upsertRows } from '../catalog/entity-rows.ts';
import {
  addLoadedTable,
  beginRevisionsAnew,
  lastPublication,
  listKnownFactFiles,
  listManifest,
  type ManifestRow,
  type Progress,
  putFactFile,
  removeFactFile,
  replaceManifest,
  setPublication,
} from '../catalog/fact-files.ts';
import { CatalogMissing } from '../catalog/failures.ts';
import { FileLocks } from '../catalog/file-locks.ts';
import { putKeywordGaps } from '../catalog/keywords.ts';
import { REBUILT, requireRestored, sqliteIn } from '../catalog/location.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { projectIdIsTaken } from '../catalog/projects.ts';
import {
  copyCatalog,
  endAccess,
  isWhole,
  type KeptCopy,
  keepCopy,
  listCopies,
  manifestOfCopy,
  outnumber,
  readBeside,
  readStoreIdentity,
  requireOwnCopies,
  revocationsAfter,
  revokeAgain,
  sealCatalog,
  whereOwned,
} from '../catalog/store.ts';
import { dropAllLists } from '../catalog/stored-lists.ts';
import { putBulkExportDays } from '../catalog/sync-days.ts';
import { type LockOptions, withLoadLock } from '../load/change-facts.ts';
import { Journal, type JournalLine, type StoredRecord } from '../load/journal.ts';
import { ENTITIES, type EntityTable } from '../load/tables.ts';
import { FactFolder } from '../storage/fact-folder.ts';

interface Options extends Pick<LockOptions, 'lockTimeout'> {
  readonly report?: (step: string) => void;
  readonly onWarning?: (warning: string) => void;
}

/** A damaged current file. */
interface DamagedPart extends Pick<ManifestRow, 'project' | 'table' | 'part' | 'file'> {
  readonly damage: string;
}

export interface RebuildReport {
  /** Whether the whole catalog was rebuilt, or only its manifest. */
  readonly rebuilt: 'catalog' | 'manifest';
  /** The instant of the copy that it was made of; null if it was made of the catalog in the folder, or of records alone. */
  readonly copy: string | null;
  /** Newer copies that are damaged. */
  readonly damagedCopies: readonly string[];
  readonly projects: number;
  readonly files: number;
  /** Restored from the trash. */
  readonly restored: readonly string[];
  readonly damaged: readonly DamagedPart[];
}

const CATALOG_FILES = ['catalog.sqlite', 'catalog.sqlite-wal', 'catalog.sqlite-shm'];

/** What a catalog is rebuilt of, before records. */
interface Base extends Pick<Progress, 'number' | 'changes'> {
  readonly copy: KeptCopy | undefined;
  /** Newer copies that are damaged. */
  readonly damaged: readonly KeptCopy[];
}

/**
 * Rebuilds a catalog that is missing, empty or older than what is beside the facts: from its newest copy, or from the older
 * catalog if no copy is newer, with the records of publications and revocations after it. If the catalog is up to date,
 * rebuilds only its manifest.
 */
export function rebuild(dataFolder: string, options: Options = {}): Promise<RebuildReport> {
  const { onWarning = () => {} } = options;
  return locked(dataFolder, options, async (report) => {
    const store = new FactFolder(dataFolder);
    const journal = new Journal(dataFolder);
    await putInPlace(store);
    // A server that runs may copy the catalog after this.
    const copies = listCopies(dataFolder);
    await using current = await openIfThere(dataFolder);
    const held = current && (await lastPublication(current));
    if (current !== undefined) requireOwnCopies(dataFolder, (await readStoreIdentity(current)).catalog);
    report('looking for the newest copy');
    const base = await chooseBase(dataFolder, copies, held);
    const records = await journal.records(base.number);
    const isOlder = base.copy !== undefined || base.damaged.length > 0 || records.some(({ isPending }) => !isPending);
    // Whether an interrupted publication was committed: the catalog shows it if it is the newest, and an older one does not.
    const counted = records.filter(({ isPending }) => !isPending || isOlder || held === undefined);
    const newest = counted.at(-1)?.publication.number ?? base.number;
    const needed = base.damaged.find(({ number }) => number > newest);
    if (needed !== undefined) {
      throw new Error(
        `'${join(dataFolder, needed.file)}' is damaged, and only it has publication ${needed.number}: restore the whole data folder from a backup. Nothing was changed.`,
      );
    }
    if (held === undefined && base.copy === undefined && records.length === 0) {
      throw new Error(
        `There is no whole copy of the catalog in '${store.path('facts')}', and no record to make one from: restore the catalog from a backup.`,
      );
    }
    const isUpToDate = held !== undefined && !isOlder;
    report('reading the journal');
    if (isUpToDate) await rebuildManifest(store, dataFolder, { catalog: current!, held, journal });
    else await rebuildCatalog(store, dataFolder, { base, records: counted, current });
    await using rebuilt = await openCatalog(sqliteIn(dataFolder));
    await journal.settle(rebuilt);
    // The catalog is in place without it; the server makes the next one.
    await keepCopy(dataFolder).catch(({ message }: Error) =>
      onWarning(
        `The catalog could not be copied beside the facts (${message}); a server tries again when it is started.`,
      ),
    );
    report('comparing files');
    const files = await listManifest(rebuilt);
    const { restored, damaged } = await compare(store, files);
    return {
      rebuilt: isUpToDate ? 'manifest' : 'catalog',
      copy: base.copy === undefined ? null : new Date(base.copy.at).toISOString(),
      damagedCopies: base.damaged.map(({ file }) => join(dataFolder, file)),
      projects: new Set(files.map(({ project }) => project)).size,
      files: files.length,
      restored,
      damaged,
    };
  });
}

/** The newest whole copy, unless the catalog in the folder is as new. */
async function chooseBase(dataFolder: string, copies: readonly KeptCopy[], held: Progress | undefined): Promise<Base> {
  const damaged: KeptCopy[] = [];
  for (const copy of copies) {
    if (held !== undefined && held.changes >= copy.changes) break;
    if (await isWhole(dataFolder, copy)) return { ...copy, copy, damaged };
    damaged.push(copy);
  }
  return { number: held?.number ?? 0, changes: held?.changes ?? 0, copy: undefined, damaged };
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
    const found = [...CATALOG_FILES, REBUILT, 'facts'].filter((name) => existsSync(store.path(name)));
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
    return await openCatalog(sqliteIn(dataFolder), { mayBeOlder: true });
  } catch (error) {
    if (error instanceof CatalogMissing) return undefined;
    throw error;
  }
}

async function rebuildManifest(
  store: FactFolder,
  dataFolder: string,
  { catalog, held, journal }: { readonly catalog: Catalog; readonly held: Progress; readonly journal: Journal },
): Promise<void> {
  await journal.settle(catalog);
  const { copy, record } = readBeside(dataFolder);
  const newest = Math.max(copy?.number ?? 0, record?.number ?? 0);
  if (copy !== undefined && held.number > newest) {
    throw new Error(
      `The catalog has publication ${held.number}, but '${store.path('facts')}' has records until ${newest} only: the facts are older than the catalog. Restore them from a backup.`,
    );
  }
  const { manifest } = await manifestBeside(dataFolder, journal);
  if (manifest === undefined) return;
  await catalog.transaction(async (tx) => {
    await replaceManifest(tx, await ofKnownProjects(tx, manifest));
    await beginRevisionsAnew(tx);
  });
}

/** What a lost catalog would be made of. */
interface ManifestBeside {
  /** That of the newest whole copy with the records after it; undefined if there is no such copy. */
  readonly manifest: readonly ManifestRow[] | undefined;
  /** Newer copies that are damaged. */
  readonly damagedCopies: readonly string[];
}

export async function manifestBeside(dataFolder: string, journal: Journal): Promise<ManifestBeside> {
  const { copy, damaged } = await chooseBase(dataFolder, listCopies(dataFolder), undefined);
  const damagedCopies = damaged.map(({ file }) => join(dataFolder, file));
  if (copy === undefined) return { manifest: undefined, damagedCopies };
  const partOf = ({ project, table, part }: Pick<ManifestRow, 'project' | 'table' | 'part'>): string =>
    JSON.stringify([project, table, part]);
  const manifest = new Map(manifestOfCopy(dataFolder, copy).map((row) => [partOf(row), row]));
  for (const { lines } of await journal.records(copy.number)) {
    for await (const line of lines()) {
      if ('file' in line) manifest.set(partOf(line.file), line.file);
      else if ('gone' in line) manifest.delete(partOf(line.gone));
      else if ('remove' in line && line.remove === 'projects') {
        for (const [part, { project }] of manifest) if (project === line.row['id']) manifest.delete(part);
      }
    }
  }
  return { manifest: [...manifest.values()], damagedCopies };
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
  sources: {
    readonly base: Base;
    readonly records: readonly StoredRecord[];
    readonly current: OpenCatalog | undefined;
  },
): Promise<void> {
  const { base, records, current } = sources;
  const folder = join(dataFolder, 'rebuilding');
  await rm(folder, { recursive: true, force: true });
  // A full disk needs the room.
  await using _folder = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  const path = store.prepare('rebuilding/catalog.sqlite');
  if (base.copy !== undefined) await copyFile(store.path(base.copy.file), path);
  else if (current !== undefined) copyCatalog(dataFolder, path);
  const catalog = await openCatalog(sqliteIn(folder));
  const { catalog: identity } = await readStoreIdentity(catalog);
  const revocations = revocationsAfter(dataFolder, base.changes, identity);
  let known: Set<string>;
  try {
    await catalog.transaction(async (tx) => {
      for (const { publication, lines } of records) {
        for await (const line of lines()) await apply(tx, line);
        await setPublication(tx, publication);
      }
      await revokeAgain(tx, revocations);
      await endAccess(tx);
      await dropAllLists(tx);
      await beginRevisionsAnew(tx);
      await outnumber(tx, dataFolder);
    });
    known = new Set(await listKnownFactFiles(catalog));
  } finally {
    await catalog.close();
  }
  await current?.close();
  await sealCatalog(store, 'rebuilding/catalog.sqlite');
  await store.rename('rebuilding/catalog.sqlite', REBUILT);
  await putInPlace(store);
  await store.moveToTrash(
    (await store.factFiles()).filter((file) => !known.has(file)),
    Date.now(),
  );
}

/** Replaces the lost catalog by the rebuilt one, also after a process that was killed before it did. */
async function putInPlace(store: FactFolder): Promise<void> {
  if (!existsSync(store.path(REBUILT))) return;
  // Also the log of the lost catalog: SQLite would apply it to the new one.
  const lost = CATALOG_FILES.filter((name) => existsSync(store.path(name)));
  await store.moveToTrash(lost, Date.now());
  await store.rename(REBUILT, 'catalog.sqlite');
}

/** Applies a line of a record. */
async function apply(tx: Catalog, line: JournalLine): Promise<void> {
  if ('file' in line) await putFactFile(tx, line.file);
  if ('gone' in line) await removeFactFile(tx, line.gone);
  if ('loaded' in line) await addLoadedTable(tx, line.loaded);
  if ('bulkExport' in line) await putBulkExportDays(tx, line.bulkExport);
  // A keyword that was added after the copy is gone.
  if ('unknown' in line) await whereOwned(putKeywordGaps(tx, [line.unknown]));
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
