import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog, LoadLock, PlannedFile } from '../catalog/catalog.ts';
import {
  forgetRetiredFactFiles,
  isFactFileKept,
  listKnownFactFiles,
  listRetiredFactFiles,
} from '../catalog/fact-files.ts';
import { PLANS } from '../catalog/file-locks.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { FileFolder, FileStore } from '../storage/file-store.ts';
import { ifMissing } from '../storage/local-files.ts';

/**
 * Longer than any request may take: earlier requests may still read files that a load replaced, and earlier uploads may still
 * store files that were removed.
 */
const GRACE_MS = 3_700_000;
const ORPHANS_EVERY_MS = 86_400_000;
const ORPHANS_MARK = 'orphans-moved';
/** Up to this many orphans are moved, even in a small data folder. */
const FEW_ORPHANS = 10;

/**
 * Removes staged files, unpublished fact files, and fact files that were replaced before the grace period. Returns the
 * number of removed fact files.
 */
export async function sweep(
  catalog: Catalog,
  { lock, store, dataFolder }: { readonly lock: LoadLock; readonly store: FileStore; readonly dataFolder: string },
  now = Date.now(),
): Promise<number> {
  let removed = 0;
  const planned = await lock.plans(now);
  const again: PlannedFile[] = [];
  for (const plan of planned) {
    if (await isFactFileKept(catalog, plan.file, 0)) continue;
    await store.remove(plan.file);
    removed++;
    // An upload of a killed process to an object store may still complete, and nothing would find it there.
    if (store.folder === undefined && !plan.isAgain) again.push(plan);
  }
  if (planned.length > 0) await lock.settlePlans(planned, again, now + GRACE_MS);
  if (lock.isForAll) await removeStaged(join(dataFolder, 'staging'));
  // A copy of the catalog that names them comes with the records of what replaced them.
  const before = toMicroseconds(now - GRACE_MS);
  const retired = await listRetiredFactFiles(catalog, before);
  for (const file of retired) await store.remove(file);
  // A commit would make all processes read keys and projects again.
  if (retired.length > 0) await forgetRetiredFactFiles(catalog, before);
  removed += retired.length;
  await store.folder?.emptyTrash(now);
  return removed;
}

/** Removes staged files, but not plans, whose files may have to be removed again later. */
async function removeStaged(staging: string): Promise<void> {
  const names = await readdir(staging).catch(ifMissing<string[]>([]));
  for (const name of names) {
    if (name !== PLANS) await rm(join(staging, name), { recursive: true, force: true });
  }
  // Fails while there are plans.
  await rmdir(staging).catch(() => {});
}

/** Fact files that the catalog does not reference. Lists all files. */
export async function findOrphans(
  catalog: Catalog,
  folder: FileFolder,
): Promise<{ orphans: string[]; mayBeMoved: boolean }> {
  const files = await folder.factFiles();
  const known = new Set(await listKnownFactFiles(catalog));
  const orphans = files.filter((file) => !known.has(file));
  // Many unknown files suggest the wrong catalog rather than superfluous files.
  const isFew = orphans.length <= Math.max(FEW_ORPHANS, files.length / 10);
  return { orphans, mayBeMoved: isFew && orphans.length < files.length };
}

/**
 * Moves orphans, such as a power cut may leave, to the trash once a day, unless another load may be writing some. If they
 * are more than a tenth of all files it moves none and returns a warning. Only for stores that are a folder.
 */
export async function moveOrphansDaily(
  catalog: Catalog,
  lock: LoadLock,
  { folder }: Pick<FileStore, 'folder'>,
  now = Date.now(),
): Promise<string | undefined> {
  if (folder === undefined || !lock.isForAll) return undefined;
  if (now - (await folder.touchedAt(ORPHANS_MARK)) < ORPHANS_EVERY_MS) return undefined;
  const { orphans, mayBeMoved } = await findOrphans(catalog, folder);
  if (orphans.length > 0 && !mayBeMoved) {
    return `${orphans.length} fact files are unknown to the catalog, more than a tenth of all; none was moved. Check that this is the right catalog; 'ordinate verify' lists the files.`;
  }
  await folder.moveToTrash(orphans, now);
  await folder.touch(ORPHANS_MARK, now);
  return undefined;
}
