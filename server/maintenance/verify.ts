import { join } from 'node:path';
import type { Catalog, LoadLock } from '../catalog/catalog.ts';
import { isFactFileKept, listManifest, type ManifestRow } from '../catalog/fact-files.ts';
import { findCatalogDamage, type JoinedStore, openJoinedStore } from '../catalog/store.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { type LockOptions, withLoadLock } from '../load/change-facts.ts';
import { Journal, openJournal, type Publications } from '../load/journal.ts';
import type { PartChange } from '../load/new-files.ts';
import { publishFiles } from '../load/publish.ts';
import type { Stores } from '../load/stores.ts';
import { findOrphans, sweep } from '../load/sweep.ts';
import { ROLLUPS, type StoredTable } from '../model/tables.ts';
import { secondsSince } from '../runtime/measurements.ts';
import type { DamagedFile } from '../storage/checked-files.ts';
import type { FileStore } from '../storage/file-store.ts';
import { storageFolders } from '../storage/open-file-store.ts';
import { FoundInOrder } from './found-in-order.ts';
import { withPace } from './pace.ts';
import { manifestBeside, ofKnownProjects } from './rebuild.ts';
import { checkRollups, isReadForRollups } from './verify-rollups.ts';

interface VerifyProblem {
  /**
   * - `file`: a current file is missing or damaged;
   * - `orphan`: a fact file that the catalog does not know;
   * - `rollup`: a rollup differs from the sums of its days;
   * - `journal`: the catalog could not be rebuilt from the journal;
   * - `catalog`: the catalog's own file is damaged.
   */
  readonly kind: 'file' | 'orphan' | 'rollup' | 'journal' | 'catalog';
  readonly project: string | null;
  readonly table: StoredTable | null;
  readonly part: string | null;
  /** Below the data folder. */
  readonly file: string | null;
  /** What is wrong, and how to repair it. */
  readonly message: string;
  readonly repaired: boolean;
}

export interface VerifyReport {
  /** Nothing is wrong, or all of it was repaired. */
  readonly ok: boolean;
  /** Current files, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** How long all took. */
  readonly seconds: number;
  readonly problems: readonly VerifyProblem[];
}

interface Options extends Pick<LockOptions, 'lockTimeout'> {
  /** Rewrites rollups and the journal, and moves orphans to the trash. */
  readonly repair?: boolean;
  /** Reads all files, even if an object store has their checksums, or an earlier verification found them in order. */
  readonly deep?: boolean;
  /** Only its files and rollups. */
  readonly project?: string;
  readonly report?: (step: string) => void;
}

/** Concurrent requests to an object store. */
const QUESTIONS = 16;

const NOWHERE = { project: null, table: null, part: null, file: null, repaired: false };

/** Checks the integrity of stored data: the catalog, the files, the rollups and the journal. */
export async function verify({ settings, catalog }: Stores, options: Options = {}): Promise<VerifyReport> {
  const started = performance.now();
  const { repair = false, deep = false, report = () => {}, project, ...lockOptions } = options;
  await using store = await openJoinedStore(settings, catalog);
  const problems: VerifyProblem[] = [];
  report('looking at the catalog');
  for (const damage of await findCatalogDamage(catalog)) {
    const message = `The catalog is damaged: ${damage}. Stop Ordinate, move it away and run 'ordinate rebuild', which takes its last copy.`;
    problems.push({ ...NOWHERE, kind: 'catalog', message });
  }
  const isMeant = (row: ManifestRow): boolean => project === undefined || row.project === project;
  const manifest = (await listManifest(catalog)).filter(isMeant);
  const path = join(settings.dataFolder, 'cache', 'verified');
  const found = store.listObjects === undefined ? undefined : await FoundInOrder.open(path);
  // What fits into the cache is fetched once.
  const read = manifest.filter(({ table }) => isReadForRollups(table));
  const isCached = read.reduce((sum, { bytes }) => sum + bytes, 0) <= settings.storageCache;
  // Without the lock, because this takes long: files do not change, and replaced ones stay for an hour.
  const damaged = await damagedFiles(store, catalog, manifest, { deep, report, found, isCached });
  const onWait = (): void => report('waiting for a load to end');
  await withLoadLock(catalog.locks, { ...lockOptions, onWait }, async (lock) => {
    // Whether a killed load was committed must be known before its files are removed, or another publication follows.
    const journal = openJournal(settings);
    await journal.settle(catalog);
    report('looking for orphans');
    problems.push(...(await orphans({ lock, store }, { settings, catalog }, repair)));
    const tools = { lock, store, journal, repair, report, damaged, isMeant, found, deep };
    const rollups = await verifyRollups({ settings, catalog }, tools);
    problems.push(...rollups.problems);
    const replaced = new Set(
      rollups.problems.flatMap(({ file, repaired }) => (repaired && file !== null ? [file] : [])),
    );
    for (const [row, message] of damaged.values()) {
      if (!replaced.has(row.file)) problems.push({ ...NOWHERE, ...placeOf(row), kind: 'file', message });
    }
    if (journal instanceof Journal) {
      report('reading the journal');
      problems.push(...(await verifyJournal(settings.dataFolder, { journal, catalog, repair })));
    }
  });
  await found?.save(project === undefined);
  return {
    ok: problems.every(({ repaired }) => repaired),
    files: manifest.length,
    bytes: manifest.reduce((sum, { bytes }) => sum + bytes, 0),
    seconds: secondsSince(started),
    problems,
  };
}

function placeOf({
  project,
  table,
  part,
  file,
}: ManifestRow): Pick<ManifestRow, 'project' | 'table' | 'part' | 'file'> {
  return { project, table, part, file };
}

type Damaged = Map<string, readonly [ManifestRow, string]>;

/** Damaged files by name, each with a message that says how to repair it. */
async function damagedFiles(
  store: FileStore,
  catalog: Catalog,
  manifest: readonly ManifestRow[],
  { deep, report, found, isCached }: Pick<RollupTools, 'deep' | 'report' | 'found'> & { readonly isCached: boolean },
): Promise<Damaged> {
  const damaged: Damaged = new Map();
  const tags = new Map<string, string>();
  if (store.listObjects !== undefined) {
    report('listing the object store');
    const sizes = new Map(manifest.map(({ file, bytes }) => [file, bytes]));
    for await (const page of store.listObjects()) {
      for (const { file, bytes, tag } of page) if (sizes.get(file) === bytes) tags.set(file, tag);
    }
  }
  const started = performance.now();
  const queue = manifest.entries();
  const work = async (): Promise<void> => {
    for (const [index, row] of queue) {
      report(withPace(`comparing files: ${index} of ${manifest.length}`, index, started));
      const tag = tags.get(row.file) ?? '';
      const names = [row.file, row.sha256, tag];
      if (!deep && tag !== '' && found?.has(names)) continue;
      const damage = await store.damageOf(row, { deep, soon: isCached && isReadForRollups(row.table) });
      if (damage === undefined) found?.note(names);
      // A load may have replaced it long ago by now.
      else if (await isFactFileKept(catalog, row.file, Number.MAX_SAFE_INTEGER))
        damaged.set(row.file, [row, describeDamage(store, row, damage)]);
    }
  };
  // An object store answers slowly.
  await Promise.all(Array.from({ length: store.folder === undefined ? QUESTIONS : 1 }, work));
  return damaged;
}

function isDerived(table: StoredTable): boolean {
  return ROLLUPS.some((name) => name === table);
}

function describeDamage(store: FileStore, { file, table, project, firstDay, lastDay }: ManifestRow, damage: string) {
  if (isDerived(table))
    return `'${store.addressOf(file)}' is damaged: ${damage}. 'ordinate verify --repair' makes it again.`;
  return `'${store.addressOf(file)}' is damaged: ${damage}. Restore it from a backup, or load ${table} of project ${project} from ${firstDay} to ${lastDay} again.`;
}

/** None if the store is not a folder: it only contains files that the catalog has planned. */
async function orphans(
  { lock, store }: Pick<RollupTools, 'lock' | 'store'>,
  { settings, catalog }: Stores,
  repair: boolean,
): Promise<VerifyProblem[]> {
  await sweep(catalog, { lock, store, dataFolder: settings.dataFolder });
  const { folder } = store;
  if (folder === undefined) return [];
  const { orphans: files, mayBeMoved } = await findOrphans(catalog, folder);
  const isMoved = repair && mayBeMoved;
  if (isMoved) await folder.moveToTrash(files, Date.now());
  const remedy = mayBeMoved
    ? "'ordinate verify --repair' moves it to the trash."
    : 'So many files are unknown to it that it may be the wrong catalog; none is touched.';
  return files.map((file) => {
    const message = `'${store.addressOf(file)}' is unknown to the catalog. ${isMoved ? 'It was moved to the trash.' : remedy}`;
    return { ...NOWHERE, kind: 'orphan', file, message, repaired: isMoved };
  });
}

interface RollupTools {
  readonly lock: LoadLock;
  readonly store: JoinedStore;
  readonly journal: Publications;
  readonly repair: boolean;
  readonly report: (step: string) => void;
  readonly damaged: Damaged;
  readonly isMeant: (row: ManifestRow) => boolean;
  readonly deep: boolean;
  /** Undefined for a data folder, whose files may change without a trace. */
  readonly found: FoundInOrder | undefined;
}

async function verifyRollups(
  { settings, catalog }: Stores,
  { lock, store, journal, repair, report, damaged, isMeant, deep, found: known }: RollupTools,
): Promise<{ problems: VerifyProblem[] }> {
  const { dataFolder } = settings;
  const staging = join(dataFolder, 'staging');
  const files = { store, lock };
  const engine = await Engine.open({
    memoryLimit: settings.memoryLimit,
    threads: settings.threads,
    temporaryFolder: join(staging, 'memory'),
    folders: [staging, ...storageFolders(settings)],
  });
  const problems: VerifyProblem[] = [];
  try {
    const manifest = (await listManifest(catalog)).filter(isMeant);
    const noteDamage = ({ file, damage }: DamagedFile): boolean => {
      const row = manifest.find((one) => one.file === file);
      if (row === undefined || damaged.has(file)) return false;
      damaged.set(file, [row, describeDamage(store, row, damage)]);
      return true;
    };
    const tools = { engine, catalog, files, repair, report, damaged, noteDamage, known, deep };
    const found = await checkRollups(tools, manifest);
    for (const rollups of Map.groupBy(found, ({ project }) => project).values()) {
      const changes: PartChange[] = rollups.flatMap((rollup) => rollup.changes);
      if (changes.length > 0) await publishFiles({ catalog, journal, lock, files }, { changes });
      for (const { project, table, part, file, message, changes: made } of rollups) {
        const repaired = made.length > 0;
        problems.push({ kind: 'rollup', project, table, part, file, message, repaired });
      }
    }
  } finally {
    await engine.close();
    // A complete record names the files of a failed repair.
    await journal.settle(catalog);
    await sweep(catalog, { lock, store, dataFolder: settings.dataFolder });
  }
  return { problems };
}

function describeDifference(manifest: readonly ManifestRow[] | undefined, differing: number): string {
  return manifest === undefined
    ? 'There is no copy of the catalog, which a server makes within a minute.'
    : `The last copy and the journal differ from the catalog in ${differing} files.`;
}

/** Checks whether the manifest could be rebuilt from a copy of the catalog and the journal. */
async function verifyJournal(
  dataFolder: string,
  { journal, catalog, repair }: { readonly journal: Journal; readonly catalog: Catalog; readonly repair: boolean },
): Promise<VerifyProblem[]> {
  let message: string;
  try {
    await journal.settle(catalog);
  } catch (error) {
    return [{ ...NOWHERE, kind: 'journal', message: (error as Error).message }];
  }
  try {
    const { manifest, damagedCopies } = await manifestBeside(dataFolder, journal);
    const names = (await ofKnownProjects(catalog, manifest ?? [])).map(({ file }) => file);
    const current = (await listManifest(catalog)).map(({ file }) => file);
    const differing = new Set(names).symmetricDifference(new Set(current)).size;
    if (differing === 0 && damagedCopies.length === 0) return [];
    message = [
      ...damagedCopies.map((file) => `'${file}' is damaged.`),
      ...(differing === 0 ? [] : [describeDifference(manifest, differing)]),
    ].join(' ');
  } catch (error) {
    message = (error as Error).message;
  }
  if (repair) await journal.beginAnew();
  const remedy = repair ? 'The catalog was copied again.' : "'ordinate verify --repair' copies it again.";
  return [{ ...NOWHERE, kind: 'journal', message: `${message} ${remedy}`, repaired: repair }];
}
