import { DatabaseSync } from 'node:sqlite';
import { makeFile } from './data-folder.ts';

/**
 * A lock between processes: one of the operating system's, held through an SQLite file of its own, so that it ends
 * with the process, however that ends.
 */
export class FileLock {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** The lock of a file, which is made where there is none; undefined while somebody else holds it. */
  static take(path: string): FileLock | undefined {
    makeFile(path);
    const db = new DatabaseSync(path, { timeout: 0 });
    try {
      db.exec('begin exclusive');
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
