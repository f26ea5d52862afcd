import { mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newUuid } from './domain/ids.ts';
import { FileLock } from './runtime/file-lock.ts';

/**
 * A folder for the temporary files of one process, removed at a regular end. A lock file beside it shows whether the
 * process still runs, also in another container, where process ids and host names are not unique.
 */
export class ProcessFolder {
  readonly path: string;
  readonly #lock: FileLock;

  private constructor(path: string, lock: FileLock) {
    this.path = path;
    this.#lock = lock;
  }

  /** Creates a folder below `parent`, and removes those of processes that were killed. */
  static async take(parent: string): Promise<ProcessFolder> {
    mkdirSync(parent, { recursive: true });
    await removeLeftovers(parent);
    const path = join(parent, newUuid());
    // The lock first, so that other processes never see an unlocked folder.
    const lock = FileLock.take(lockOf(path));
    if (lock === undefined) throw new Error(`The lock of '${path}' is held by another process.`);
    mkdirSync(path);
    return new ProcessFolder(path, lock);
  }

  async remove(): Promise<void> {
    await removeLocked(this.path, this.#lock);
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
async function removeLocked(path: string, lock: FileLock): Promise<void> {
  using _held = lock;
  await rm(path, { recursive: true, force: true });
  await rm(lockOf(path), { force: true });
}

function lockOf(path: string): string {
  return `${path}.lock`;
}
