import type { BackupStore } from '../storage/backup-store.ts';
import type { BackupIndex } from './index-file.ts';

const FILE = 'unfinished/files.json';

/**
 * The names of fact files that may be in the target without belonging to a backup: those that a backup is about to write,
 * and those of backups that are about to be removed. Only these are ever removed, so that a killed backup leaves nothing
 * behind for good, and no file that a backup did not write is touched.
 */
export class PendingFiles {
  readonly #store: BackupStore;
  readonly #files: Set<string>;

  private constructor(store: BackupStore, files: readonly string[]) {
    this.#store = store;
    this.#files = new Set(files);
  }

  /** With the files of an interrupted backup. */
  static async read(store: BackupStore): Promise<PendingFiles> {
    const text = await store.getText(FILE);
    return new PendingFiles(store, text === undefined ? [] : (JSON.parse(text) as string[]));
  }

  /** Durable when it returns. */
  async add(files: Iterable<string>): Promise<void> {
    const before = this.#files.size;
    for (const file of files) this.#files.add(file);
    if (this.#files.size > before) await this.#store.putText(FILE, JSON.stringify([...this.#files]));
  }

  /** Removes the files that no backup names; returns how many there were. */
  async settle(indexes: readonly BackupIndex[]): Promise<number> {
    const named = new Set(indexes.flatMap(({ files }) => files.map(({ file }) => file)));
    let removed = 0;
    for (const file of this.#files) {
      if (named.has(file) || this.#store.sizeOf(file) === undefined) continue;
      await this.#store.remove(file);
      removed++;
    }
    await this.#store.flush();
    await this.#store.remove(FILE);
    this.#files.clear();
    return removed;
  }
}
