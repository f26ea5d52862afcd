import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../runtime/file-lock.ts';

/** An exclusive right across all processes. */
export interface Lease {
  /** Extends the lease by its time to live; false if it was lost. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** Provides named leases with one holder at a time. A lease ends with the process of its holder. */
export interface Leases {
  /**
   * Takes a lease; undefined while another holder has it.
   * @param ttl milliseconds after which an unrenewed lease may be given to others, if the end of its process cannot be
   *   detected
   */
  acquire(name: string, ttl: number): Promise<Lease | undefined>;
}

/** Leases on one machine: file locks of the operating system, which end with their process. */
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
      // If the file was removed, another process can take a lock with the same name.
      renew: async () => taken !== undefined && inodeOf(path) === taken,
      release: async () => lock.release(),
    };
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
