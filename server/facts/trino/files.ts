import { LRUCache } from 'lru-cache';
import { DamagedFile } from '../../storage/checked-files.ts';
import type { StoredFile } from '../../storage/file-store.ts';

/** Milliseconds after which the presence of a file is checked again. */
const CHECKED_FOR = 60_000;
const MAX_CHECKED = 100_000;

/** The files that a query reads, as Trino knows them. */
export interface TrinoFiles {
  readonly projects: readonly string[];
  readonly files: readonly string[];
}

/**
 * Stored files under their names in Trino. Trino ignores files that it does not find, so the stored files are compared
 * with those that it finds.
 */
export class FilesInTrino {
  readonly #addressOf: (file: string) => string;
  readonly #checked = new LRUCache<string, number>({
    maxSize: MAX_CHECKED,
    sizeCalculation: () => 1,
    ttl: CHECKED_FOR,
  });

  /** @param addressOf the address of a file by its name, as Trino reads it */
  constructor(addressOf: (file: string) => string) {
    this.#addressOf = addressOf;
  }

  of(files: readonly StoredFile[]): TrinoFiles {
    const projects = new Set(files.map(({ file }) => file.split('/')[2]!));
    return { projects: [...projects], files: files.map(({ file }) => this.#addressOf(file)) };
  }

  /** The files that were not checked recently. */
  unchecked(files: readonly StoredFile[]): StoredFile[] {
    return files.filter(({ file, bytes }) => this.#checked.get(file) !== bytes);
  }

  /** Compares files with those that Trino found: its address and bytes. Throws `DamagedFile`. */
  check(files: readonly StoredFile[], found: ReadonlyMap<string, number>): void {
    for (const { file, bytes } of files) {
      const address = this.#addressOf(file);
      const size = found.get(address);
      if (size === undefined) throw new DamagedFile(address, file, 'it is missing');
      if (size !== bytes) throw new DamagedFile(address, file, `it has ${size} bytes instead of ${bytes}`);
      this.#checked.set(file, bytes);
    }
  }
}
