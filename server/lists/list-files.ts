import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import type { StoredList } from '../catalog/stored-lists.ts';

/** Bytes of a file; undefined where it is not there. */
export function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Tells whether stored files are what was written. Each is read once in each process, when it is first needed. */
export class FileChecks {
  readonly #checks = new LRUCache<string, Promise<boolean>>({ maxSize: 10_000, sizeCalculation: () => 1 });

  /** False where the file is not there or not what was written. Throws where it cannot be read. */
  async isWhole(path: string, list: StoredList): Promise<boolean> {
    if (sizeOf(path) !== list.bytes) return false;
    let check = this.#checks.get(path);
    if (check === undefined) {
      // Lists of older versions have no hash.
      check = list.sha256 === '' ? Promise.resolve(true) : hashOf(path).then((hash) => hash === list.sha256);
      this.#checks.set(path, check);
      check.catch(() => this.#checks.delete(path));
    }
    return check;
  }

  /** Looks at a file again the next time. */
  forget(path: string): void {
    this.#checks.delete(path);
  }
}
