import { LRUCache } from 'lru-cache';
import type { StoredFile } from './file-store.ts';
import type { LocalFiles } from './local-files.ts';

/** About a hundred bytes each. */
const MAX_CHECKED = 100_000;

/** The damage of a file that is not there. */
export const MISSING = 'it is missing';

/** A stored file is damaged. The message names it for the operator and is not sent to clients. */
export class DamagedFile extends Error {
  readonly file: string;
  readonly damage: string;

  constructor(address: string, file: string, damage: string) {
    super(
      `The file '${address}' is damaged: ${damage}. Restore it from a backup or load its days again; 'ordinate verify' lists all damaged files and how to repair them.`,
    );
    this.name = 'DamagedFile';
    this.file = file;
    this.damage = damage;
  }
}

/**
 * Compares files with their size and SHA-256 on first use. Later only size, times and inode are compared, which takes a
 * few microseconds; if they differ, the file is compared again.
 */
export class CheckedFiles {
  readonly #files: Pick<LocalFiles, 'damageOf' | 'stampOf'>;
  /** The stamp of each compared file. */
  // Uses `maxSize`, because `max` allocates memory for all entries in advance, and every load has such a cache.
  readonly #checked = new LRUCache<string, string>({ maxSize: MAX_CHECKED, sizeCalculation: () => 1 });
  readonly #checking = new Map<string, Promise<string | undefined>>();

  constructor(files: Pick<LocalFiles, 'damageOf' | 'stampOf'>) {
    this.#files = files;
  }

  /** Whether a file is as it was when it was compared. */
  isKnown({ file }: StoredFile): boolean {
    const seen = this.#checked.get(file);
    return seen !== undefined && seen === this.#files.stampOf(file);
  }

  /** Notes that a file is intact: its hash was computed just now. */
  note(file: string): void {
    const stamp = this.#files.stampOf(file);
    if (stamp !== undefined) this.#checked.set(file, stamp);
  }

  /** Describes the damage of a file; undefined if it is intact. Concurrent callers share one comparison. */
  damageOf(stored: StoredFile): Promise<string | undefined> {
    let checking = this.#checking.get(stored.file);
    if (checking === undefined) {
      checking = this.#compare(stored).finally(() => this.#checking.delete(stored.file));
      this.#checking.set(stored.file, checking);
    }
    return checking;
  }

  async #compare(stored: StoredFile): Promise<string | undefined> {
    // Taken before reading, so that a concurrent change is detected next time.
    const stamp = this.#files.stampOf(stored.file);
    const damage = await this.#files.damageOf(stored);
    if (damage === undefined && stamp !== undefined) this.#checked.set(stored.file, stamp);
    return damage;
  }
}
