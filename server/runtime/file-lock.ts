import { closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/**
 * A lock between processes, held through an exclusive transaction on an SQLite file. The operating system releases it when
 * the process ends.
 */
export class FileLock {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Takes the lock of a file, which is created if missing. Undefined while another holder has it. Only holders may remove it. */
  static take(path: string): FileLock | undefined {
    for (;;) {
      makeFile(path);
      const opened = identityOf(path);
      const lock = FileLock.#lock(path);
      if (lock === undefined) return undefined;
      // The previous holder may have removed the file after it was opened; others then lock the next file.
      if (identityOf(path) === opened) return lock;
      lock.release();
    }
  }

  static #lock(path: string): FileLock | undefined {
    const db = new DatabaseSync(path, { timeout: 0 });
    try {
      // A journal on disk would need space; nothing is ever written.
      db.exec('pragma journal_mode = memory; begin exclusive');
      return new FileLock(db);
    } catch (error) {
      db.close();
      if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5) return undefined;
      throw error;
    }
  }

  release(): void {
    this.#db.close();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/**
 * Creates an empty file, if missing. An existing file is not opened, because closing it would release all locks of this
 * process on it: POSIX locks belong to the process, not to the file descriptor.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Differs for each file that the path has had, even with the same inode number. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.birthtimeNs}`;
}
