import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { copyStateTo, openTarget as openCatalogTarget } from '../catalog/copy.ts';
import { type CatalogLocation, sqliteIn } from '../catalog/location.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { findCatalogDamage, readStoreIdentity, settleRestored } from '../catalog/store.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { allEnded } from '../runtime/promises.ts';
import type { BackupStore } from '../storage/backup-store.ts';
import { type CopyTarget, openCopyTarget } from '../storage/copy-target.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { differenceOf, measure } from '../storage/local-files.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';
import { readMark } from '../storage/store-mark.ts';
import { megabytes } from './copy-files.ts';
import { damagedFile, readIndex } from './restore.ts';
import { openBackup } from './target.ts';

export interface StoresRestoreOptions {
  readonly backup: string;
  /** See `chooseIndex`. */
  readonly at: string;
  readonly report?: (step: string) => void;
}

export interface StoresRestoreReport {
  readonly id: string;
  readonly time: string;
  /** The database and the place of the files; without passwords. */
  readonly catalog: string;
  readonly storage: string;
  readonly projects: number;
  readonly files: number;
  readonly bytes: number;
  /** Files of the catalog that the backup does not have. */
  readonly lost: readonly string[];
  /** Files that were there already, such as those of a killed restore. */
  readonly present: number;
}

/**
 * Restores a backup into a PostgreSQL database without a catalog, and the files into the store of the settings. Files come
 * first, each compared with its hash, and the catalog last, in one transaction: a restore that is killed leaves a database
 * without a catalog, which no server uses, and goes on when it is run again. Nothing of the file store is removed.
 */
export async function restoreStores(
  settings: CatalogLocation & StorageSettings,
  { backup, at, report = () => {} }: StoresRestoreOptions,
): Promise<StoresRestoreReport> {
  const { dataFolder, storage } = settings;
  using source = await openBackup(backup);
  const { store } = source;
  const index = await readIndex(store, at);
  await using catalogTarget = await openCatalogTarget(settings);
  if (catalogTarget.hasCatalog) {
    throw new Error(
      `There is a catalog in ${catalogTarget.name} already; nothing was restored. Restore into an empty database: create one, and set ORDINATE_CATALOG to it.`,
    );
  }
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const folder = await ProcessFolder.take(join(dataFolder, 'temporary'));
  try {
    const here = join(folder.path, 'catalog');
    mkdirSync(here, { mode: 0o700 });
    report('reading the catalog');
    await fetch(store, index.catalog, join(here, 'catalog.sqlite'));
    await using catalog = await openCatalog(sqliteIn(here), { create: false });
    const [damage] = await findCatalogDamage(catalog);
    if (damage !== undefined) throw damagedFile(store, index.catalog.file, damage);
    await using files = await openCopyTarget({ ...settings, storage: '', dataFolder: here }, storage || dataFolder);
    const keepsStore = await isOwnStore(catalog, files);
    const present = await restoreFiles({ store, files, folder: folder.path, report }, index.files);
    await files.flush();
    await catalog.transaction((tx) => settleRestored(tx, { keepsStore }));
    await copyStateTo(catalog, catalogTarget, report);
    const { id, time, projects, lost = [] } = index;
    const bytes = index.files.reduce((sum, file) => sum + file.bytes, index.catalog.bytes);
    const places = { catalog: catalogTarget.name, storage: files.address };
    return { id, time, ...places, projects, files: index.files.length, bytes, lost, present };
  } finally {
    await folder.remove();
  }
}

/** Whether the files are restored into the store that the catalog had. Throws for the store of another catalog. */
async function isOwnStore(catalog: Catalog, files: CopyTarget): Promise<boolean> {
  const mark = await readMark(files);
  if (mark === undefined) return false;
  if (mark.id === (await readStoreIdentity(catalog)).store) return true;
  throw new Error(
    `'${files.address}' is the store of another catalog (${mark.id}); nothing was restored. Set ORDINATE_STORAGE to an empty bucket or prefix.`,
  );
}

interface Places {
  readonly store: BackupStore;
  readonly files: CopyTarget;
  /** For temporary files. */
  readonly folder: string;
  readonly report: (step: string) => void;
}

/** Copies files that the target does not have as they should be. Returns how many it had. */
async function restoreFiles({ store, files, folder, report }: Places, wanted: readonly StoredFile[]): Promise<number> {
  const all = megabytes(wanted.reduce((sum, { bytes }) => sum + bytes, 0));
  const queue = wanted.values();
  let [present, done, doneBytes] = [0, 0, 0];
  let hasFailed = false;
  const work = async (worker: number): Promise<void> => {
    const path = join(folder, `${worker}.parquet`);
    for (const file of queue) {
      if (hasFailed) return;
      if ((await files.damageOf(file)) === undefined) present++;
      else {
        await fetch(store, file, path);
        await files.put(file, path);
        await rm(path, { force: true });
      }
      done++;
      doneBytes += file.bytes;
      report(`restoring files: ${done} of ${wanted.length}, ${megabytes(doneBytes)} of ${all} MB`);
    }
  };
  const working = Array.from({ length: files.atOnce }, (_, worker) =>
    work(worker).catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  await allEnded(working);
  return present;
}

/** Copies a file of a backup to a path, and compares it. */
async function fetch(store: BackupStore, file: StoredFile, path: string): Promise<void> {
  if (store.sizeOf(file.file) === undefined) throw damagedFile(store, file.file, 'it is missing');
  await store.get(file.file, path);
  const damage = differenceOf(await measure(path), file);
  if (damage !== undefined) throw damagedFile(store, file.file, damage);
}
