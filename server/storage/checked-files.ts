import { LRUCache } from 'lru-cache';
import type { FileStore, StoredFile } from './file-store.ts';

/** About a hundred bytes each. */
const MAX_CHECKED = 100_000;

/** A stored file is damaged. The message names it for the operator and is not sent to clients. */
export class DamagedFile extends Error {
  readonly file: string;

  constructor(path: string, file: string, damage: string) {
    super(
      `The file '${path}' is damaged: ${damage}. Restore it from a backup or load its days again; 'ordinate verify' lists all damaged files and how to repair them.`,
    );
    this.name = 'DamagedFile';
    this.file = file;
  }
}

/**
 * Opens stored files for reading. Verifies size and SHA-256 on first use. Later only size, times and inode are compared,
 * which takes a few microseconds; if they differ, the file is verified again.
 */
export class CheckedFiles {
  readonly #store: FileStore;
  /** The stamp of each verified file. */
  // Uses `maxSize`, because `max` allocates memory for all entries in advance, and every load has such a cache.
  readonly #checked = new LRUCache<string, string>({ maxSize: MAX_CHECKED, sizeCalculation: () => 1 });
  readonly #checking = new Map<string, Promise<void>>();

  constructor(store: FileStore) {
    this.#store = store;
  }

  /** Verifies files and returns their paths. Throws `DamagedFile` for the first damaged one. */
  async open(files: readonly StoredFile[]): Promise<string[]> {
    const waiting: Promise<void>[] = [];
    for (const stored of files) {
      const seen = this.#checked.get(stored.file);
      if (seen === undefined || seen !== this.#store.stampOf(stored.file)) waiting.push(this.#check(stored));
    }
    if (waiting.length > 0) await Promise.all(waiting);
    return files.map(({ file }) => this.#store.path(file));
  }

  /** Bytes `start` to `end` (inclusive) of a file that `open` has verified. */
  read({ file }: StoredFile, span: { readonly start: number; readonly end: number }): AsyncIterable<Buffer> {
    return this.#store.read(file, span);
  }

  /** Concurrent callers share one verification. */
  #check(stored: StoredFile): Promise<void> {
    let checking = this.#checking.get(stored.file);
    if (checking === undefined) {
      checking = this.#compare(stored).finally(() => this.#checking.delete(stored.file));
      this.#checking.set(stored.file, checking);
    }
    return checking;
  }

  async #compare(stored: StoredFile): Promise<void> {
    const { file } = stored;
    // Taken before reading, so that a concurrent change is detected next time.
    const stamp = this.#store.stampOf(file);
    const damage = await this.#store.damageOf(stored);
    if (damage !== undefined) throw new DamagedFile(this.#store.path(file), file, damage);
    if (stamp !== undefined) this.#checked.set(file, stamp);
  }
}
