import { mkdirSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { lastPublication } from '../catalog/fact-files.ts';
import { RESTORING, sqliteIn } from '../catalog/location.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import {
  copiedIdentity,
  findCatalogDamage,
  heirsOf,
  identityOfCopies,
  inheritRevocations,
  keepCopy,
  outnumber,
  readStoreIdentity,
  revocationsAfter,
  revokeAgain,
  sealCatalog,
  settleRestored,
} from '../catalog/store.ts';
import type { BackupStore } from '../storage/backup-store.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { LocalFiles, syncFolder } from '../storage/local-files.ts';
import { megabytes } from './copy-files.ts';
import { type BackupIndex, chooseIndex, readIndexes } from './index-file.ts';
import { openBackup } from './target.ts';

export interface RestoreOptions {
  readonly backup: string;
  /** A new or empty folder. */
  readonly dataFolder: string;
  /** See `chooseIndex`. */
  readonly at: string;
  /** The data folder in use, whose revocations after the backup are made again if it is one of the same catalog. */
  readonly usedFolder: string;
  readonly report?: (step: string) => void;
}

export interface RestoreReport {
  readonly id: string;
  readonly time: string;
  readonly dataFolder: string;
  readonly projects: number;
  readonly files: number;
  readonly bytes: number;
  /** Files of the catalog that the backup does not have. */
  readonly lost: readonly string[];
  /** The data folder whose revocations after the backup were made again; null if there was none of this catalog. */
  readonly revocationsOf: string | null;
}

const CATALOG = 'catalog.sqlite';

/**
 * Restores a backup into a new or empty folder, and compares every file with its hash. Until it is done, the catalog is
 * in a folder that keeps all commands from using the data folder. Reuses intact files of a killed restore. A failure
 * leaves the folder unchanged.
 */
export async function restore({
  backup,
  dataFolder,
  at,
  usedFolder,
  report = () => {},
}: RestoreOptions): Promise<RestoreReport> {
  const folder = resolve(dataFolder);
  using target = await openBackup(backup);
  const { store } = target;
  const index = await readIndex(store, at);
  const wasThere = prepare(folder);
  const facts = new LocalFiles(folder);
  try {
    await syncFolder(folder);
    await removeOthers(facts, index.files);
    report('restoring the catalog');
    // Fails before the long part if a newer version has made the backup.
    await restoreFile(store, index.catalog, facts, `${RESTORING}/${CATALOG}`);
    const bytes = index.files.reduce((sum, file) => sum + file.bytes, 0);
    let revocationsOf: string | null = null;
    {
      const copied = copiedIdentity(usedFolder, join(folder, RESTORING, CATALOG));
      await using catalog = await openCatalog(sqliteIn(join(folder, RESTORING)), { create: false });
      const [damage] = await findCatalogDamage(catalog);
      if (damage !== undefined) throw damagedFile(store, index.catalog.file, damage);
      let done = 0;
      let doneBytes = 0;
      for (const file of index.files) {
        await restoreFile(store, file, facts, file.file);
        done++;
        doneBytes += file.bytes;
        const all = `${index.files.length}, ${megabytes(doneBytes)} of ${megabytes(bytes)} MB`;
        report(`restoring files: ${done} of ${all}`);
      }
      const identity = copied ?? (await readStoreIdentity(catalog)).catalog;
      const { changes } = await lastPublication(catalog);
      if (heirsOf(usedFolder, identity).has(identityOfCopies(usedFolder) ?? '')) revocationsOf = usedFolder;
      const since = revocationsAfter(usedFolder, changes, identity);
      await catalog.transaction(async (tx) => {
        await revokeAgain(tx, since);
        await settleRestored(tx, { keepsStore: false });
        await outnumber(tx, usedFolder);
      });
      const heir = { ...(await lastPublication(catalog)), ...(await readStoreIdentity(catalog)) };
      await inheritRevocations(usedFolder, folder, identity, heir);
    }
    await sealCatalog(facts, `${RESTORING}/${CATALOG}`);
    await facts.syncFolders();
    // Replaces the catalog of a restore killed after this.
    await facts.rename(`${RESTORING}/${CATALOG}`, CATALOG);
    await rm(join(folder, RESTORING), { recursive: true });
    await syncFolder(folder);
    if (!wasThere) await syncFolder(dirname(folder));
    // What was restored is whole without it; the server makes the next one.
    await keepCopy(folder).catch(() => {});
    const { id, time, projects, files, lost = [] } = index;
    const all = bytes + index.catalog.bytes;
    return { id, time, dataFolder: folder, projects, files: files.length, bytes: all, lost, revocationsOf };
  } catch (error) {
    await (wasThere ? empty(folder) : rm(folder, { recursive: true, force: true }));
    throw error;
  }
}

/** The index of the backup to restore. Throws if it is damaged. @param at see `chooseIndex` */
export async function readIndex(store: BackupStore, at: string): Promise<BackupIndex> {
  const { indexes, damaged } = await readIndexes(store);
  const unreadable = damaged.find(({ id }) => id === at);
  if (unreadable !== undefined) throw damagedFile(store, unreadable.file, unreadable.damage);
  return chooseIndex(indexes, at);
}

/** Throws unless a folder can be restored into; creates a missing one, and marks it. Returns whether it existed. */
function prepare(folder: string): boolean {
  const wasMade = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
  const names = readdirSync(folder);
  if (names.length === 0 || names.includes(RESTORING)) {
    mkdirSync(join(folder, RESTORING), { recursive: true, mode: 0o700 });
    return !wasMade;
  }
  throw new Error(
    `'${folder}' is not empty: restore into a new or empty folder. To replace a data folder, stop its server, restore into a folder beside it, move the old one away and the restored one in its place: what was revoked since the backup is read from the old one, which ORDINATE_DATA must name.`,
  );
}

/** Removes what a restore writes. */
async function empty(folder: string): Promise<void> {
  for (const name of ['facts', CATALOG]) await rm(join(folder, name), { recursive: true, force: true });
  await rm(join(folder, RESTORING), { recursive: true, force: true });
}

/** Removes files of a killed restore of another backup, and those that this one writes itself. */
async function removeOthers(facts: LocalFiles, files: readonly StoredFile[]): Promise<void> {
  const named = new Set(files.map(({ file }) => file));
  for (const { file } of [...(await facts.list('facts')), ...(await facts.list(RESTORING))]) {
    // The folders stay: one of them marks an unfinished restore.
    if (!named.has(file)) await facts.remove(file);
  }
}

async function restoreFile(store: BackupStore, from: StoredFile, facts: LocalFiles, to: string): Promise<void> {
  if (facts.sizeOf(to) === from.bytes && (await facts.seal(to)).sha256 === from.sha256) return;
  if (store.sizeOf(from.file) === undefined) throw damagedFile(store, from.file, 'it is missing');
  await store.get(from.file, facts.prepare(to));
  const { bytes, sha256 } = await facts.seal(to);
  if (bytes === from.bytes && sha256 === from.sha256) return;
  throw damagedFile(store, from.file, 'its size or content has changed');
}

export function damagedFile(store: BackupStore, file: string, damage: string): Error {
  return new Error(
    `Nothing was restored: '${store.address}/${file}' is damaged: ${damage}. 'ordinate verify ${store.address}' lists all damaged files and their backups; --at chooses an earlier one.`,
  );
}
