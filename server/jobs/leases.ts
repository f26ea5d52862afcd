import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../catalog/lock.ts';

/** The right to do something alone, over all processes. */
export interface Lease {
  /** Extends it by its time to live; false when it was lost and somebody else may have it. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Hands out leases by name: each to one holder at a time. It ends with the process of its holder. */
export interface Leases {
  /**
   * Undefined while somebody else holds it.
   * @param ttl milliseconds after which a lease that is not renewed may be given to others, where the end of its
   *   process cannot be noticed
   */
  acquire(name: string, ttl: number): Promise<Lease | undefined>;
}

/** Leases of one machine: locks of the operating system on files, which end with their process, however that ends. */
export class FileLeases implements Leases {
  readonly #folder: string;

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'leases');
  }

  async acquire(name: string): Promise<Lease | undefined> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${name}.lock`);
    const lock = FileLock.take(path);
    if (lock === undefined) return undefined;
    const taken = inodeOf(path);
    return {
      // Somebody who removes the file makes room for another lock of the same name.
      renew: async () => taken !== undefined && inodeOf(path) === taken,
      release: async () => lock.release(),
    };
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
