import { mkdirSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { classifyFailure } from '../domain/failures.ts';
import { FileLock } from '../runtime/file-lock.ts';
import { BackupFolder } from '../storage/backup-folder.ts';
import type { BackupStore } from '../storage/backup-store.ts';
import { syncFolder } from '../storage/local-files.ts';

/** Marks a folder as a backup: nothing is written to or removed from a folder with other content. */
const MARK = 'ordinate-backup.json';
const MARK_TEXT = `${JSON.stringify({ ordinateBackup: 1 })}\n`;
const LOCK = 'backup.lock';

/** An open backup. One process at a time uses it. */
export interface Target extends Disposable {
  readonly store: BackupStore;
}

/**
 * Opens the folder that backups are written to; creates a missing one. Throws for a folder with other files, and for one
 * that contains the data folder or is part of it.
 */
export async function openTarget(path: string, dataFolder: string): Promise<Target> {
  const folder = resolve(path);
  refuseOverlap(folder, dataFolder);
  const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = readdirSync(folder);
  if (!names.includes(MARK) && names.some((name) => name !== 'unfinished' && !name.startsWith(LOCK))) {
    throw new Error(
      `'${folder}' has other files: back up into a new or empty folder, or one that has backups of Ordinate.`,
    );
  }
  const lock = takeLock(folder);
  try {
    const store = new BackupFolder(folder);
    if (!names.includes(MARK)) await store.putText(MARK, MARK_TEXT);
    // Makes new folders durable.
    for (let made = folder; created !== undefined && made.length >= created.length; made = dirname(made)) {
      await syncFolder(dirname(made));
    }
    return { store, [Symbol.dispose]: () => lock.release() };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opens existing backups for reading. Works without write access, then without a lock. */
export async function openBackup(path: string): Promise<Target> {
  const folder = resolve(path);
  const store = new BackupFolder(folder);
  if ((await store.getText(MARK)) === undefined) throw new Error(`There is no backup of Ordinate in '${folder}'.`);
  let lock: FileLock | undefined;
  try {
    lock = takeLock(folder);
  } catch (error) {
    if (classifyFailure(error) !== 'read-only') throw error;
  }
  return { store, [Symbol.dispose]: () => lock?.release() };
}

function takeLock(folder: string): FileLock {
  const lock = FileLock.take(join(folder, LOCK));
  if (lock !== undefined) return lock;
  throw new Error(`'${folder}' is used by another backup, restore or verify. Try again when it has ended.`);
}

function refuseOverlap(folder: string, dataFolder: string): void {
  const [target, data] = [realPath(folder), realPath(resolve(dataFolder))];
  const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}${sep}`);
  if (!isWithin(target, data) && !isWithin(data, target)) return;
  throw new Error(
    `'${folder}' overlaps the data folder '${dataFolder}': back up into a folder elsewhere, best on another disk.`,
  );
}

/** Resolves the links of a path whose last parts may not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}
