import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../runtime/file-lock.ts';

/** An exclusive right across all processes. */
export interface Lease {
  /** False if it was lost: another process may have taken it. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * Provides named leases with one holder at a time. A lease ends with the process of its holder, even if killed; if its
 * machine or network is gone, within 30 s.
 */
export interface Leases {
  /** Takes a lease; undefined while another holder has it. */
  acquire(name: string): Promise<Lease | undefined>;
}

/** A lease was lost while its holder worked; another process may have taken it. */
class LeaseLost extends Error {}

interface WhileHeld {
  /** Said if the lease is lost. */
  readonly message: string;
  /** Resolves after some milliseconds, or when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds between two checks of the lease; 10,000 by default. */
  readonly every?: number | undefined;
}

const LEASE_CHECK = 10_000;

/** Runs `work` with a signal that is aborted with `LeaseLost` when the lease is lost. Does not release the lease. */
export async function whileHeld<T>(
  lease: Pick<Lease, 'isHeld'>,
  { message, sleep, every = LEASE_CHECK }: WhileHeld,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const ended = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(every, ended.signal);
      if (ended.signal.aborted) return;
      if (await lease.isHeld().catch(() => false)) continue;
      lost.abort(new LeaseLost(message));
      return;
    }
  };
  const watching = watch();
  try {
    return await work(lost.signal);
  } finally {
    ended.abort();
    await watching;
  }
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
      isHeld: async () => taken !== undefined && inodeOf(path) === taken,
      release: async () => lock.release(),
    };
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
