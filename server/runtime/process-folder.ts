import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newUuid } from '../domain/ids.ts';
import { FileLock } from './file-lock.ts';

/**
 * A folder for the temporary files of one process, removed at a regular end. A lock file beside it shows whether the
 * process still runs, also in another container, where process ids and host names are not unique.
 */
export class ProcessFolder {
  readonly path: string;
  #lock: FileLock | undefined;
  #isRemoved = false;

  private constructor(path: string, lock: FileLock) {
    this.path = path;
    this.#lock = lock;
  }

  /** Creates a folder below `parent`, and removes those of processes that were killed. */
  static async take(parent: string): Promise<ProcessFolder> {
    mkdirSync(parent, { recursive: true });
    await removeLeftovers(parent);
    const path = join(parent, newUuid());
    return new ProcessFolder(path, makeLocked(path));
  }

  /**
   * Recreates the folder if somebody removed it, and returns whether it was. Takes some microseconds.
   * @param within a folder that is not recreated: throws if it is missing
   */
  makeAgain(within: string | undefined): boolean {
    // Work that still runs after a failure must not bring the folder back.
    if (this.#isRemoved) return false;
    if (this.#lock !== undefined && existsSync(this.path)) return false;
    if (within !== undefined) statSync(within);
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    // The file of the old lock may be gone, or none was taken the last time: others would remove the folder as a leftover.
    this.#lock?.release();
    this.#lock = undefined;
    this.#lock = makeLocked(this.path);
    return true;
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    await removeLocked(this.path, this.#lock);
  }
}

/** What processes that still run have written to a file of their folders. */
export function readRunning(parent: string, file: string): string[] {
  const folders = existsSync(parent) ? readdirSync(parent, { withFileTypes: true }) : [];
  return folders.flatMap((entry) => {
    const path = join(parent, entry.name);
    if (!entry.isDirectory() || !existsSync(join(path, file))) return [];
    using free = FileLock.take(lockOf(path));
    return free === undefined ? [readFileSync(join(path, file), 'utf8')] : [];
  });
}

/** Creates a folder; the lock first, so that other processes never see an unlocked folder. */
function makeLocked(path: string): FileLock {
  const lock = FileLock.take(lockOf(path));
  if (lock === undefined) throw new Error(`The lock of '${path}' is held by another process.`);
  try {
    mkdirSync(path, { recursive: true });
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function removeLeftovers(parent: string): Promise<void> {
  for (const entry of await readdir(parent, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(parent, entry.name);
    const lock = FileLock.take(lockOf(path));
    if (lock !== undefined) await removeLocked(path, lock);
  }
}

/** Removes the lock file last, while the lock is held. */
async function removeLocked(path: string, lock: FileLock | undefined): Promise<void> {
  using _held = lock;
  await rm(path, { recursive: true, force: true });
  await rm(lockOf(path), { force: true });
}

function lockOf(path: string): string {
  return `${path}.lock`;
}
