import { LRUCache } from 'lru-cache';
import type { FileStore, StoredFile } from './file-store.ts';

/** Some hundred bytes each. */
const MAX_CHECKED = 100_000;

/** A stored file is not what was written. The message names it, for the operator; clients are told nothing of it. */
export class DamagedFile extends Error {
  readonly file: string;

  constructor(path: string, file: string, damage: string) {
    super(
      `The file '${path}' is damaged: ${damage}. Restore it from a backup or load its days again; 'ordinate verify' names all damaged files and what would mend them.`,
    );
    this.name = 'DamagedFile';
    this.file = file;
  }
}

/**
 * Hands out stored files for reading, each compared with its size and SHA-256 when it is first opened. Later only its
 * size, times and inode are looked at, which costs a few microseconds; when they differ it is compared again.
 */
export class CheckedFiles {
  readonly #store: FileStore;
  /** What the file system said of a file when it was compared. */
  // Bounded by size and not by `max`, which takes room for all of them at once: every load has such a cache.
  readonly #checked = new LRUCache<string, string>({ maxSize: MAX_CHECKED, sizeCalculation: () => 1 });
  readonly #checking = new Map<string, Promise<void>>();

  constructor(store: FileStore) {
    this.#store = store;
  }

  /** The paths of files that are whole. Throws `DamagedFile` for the first that is not. */
  async open(files: readonly StoredFile[]): Promise<string[]> {
    const waiting: Promise<void>[] = [];
    for (const stored of files) {
      const seen = this.#checked.get(stored.file);
      if (seen === undefined || seen !== this.#store.stampOf(stored.file)) waiting.push(this.#check(stored));
    }
    if (waiting.length > 0) await Promise.all(waiting);
    return files.map(({ file }) => this.#store.path(file));
  }

  /** Bytes of a file that has been opened, `start` to `end`, both included. */
  read({ file }: StoredFile, span: { readonly start: number; readonly end: number }): AsyncIterable<Buffer> {
    return this.#store.read(file, span);
  }

  /** Many requests that open the same file for the first time read it once. */
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
    // Before the reading: what is written to it meanwhile is noticed the next time.
    const stamp = this.#store.stampOf(file);
    const damage = await this.#store.damageOf(stored);
    if (damage !== undefined) throw new DamagedFile(this.#store.path(file), file, damage);
    if (stamp !== undefined) this.#checked.set(file, stamp);
  }
}
