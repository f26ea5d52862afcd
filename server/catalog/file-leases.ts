import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../runtime/file-lock.ts';
import type { Lease, Leases } from './leases.ts';

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
      isHeld: async () => taken !== undefined && inodeOf(path) === taken,
      release: async () => lock.release(),
    };
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
