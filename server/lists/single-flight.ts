import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileLock } from '../catalog/lock.ts';
import { type Demand, NoDemand } from '../providers/places.ts';
import { isStorageFailure } from './storage-failures.ts';

/** How often a process checks whether another one has finished, in milliseconds. */
const POLL = 150;
const OLD_LOCK = 3_600_000;

interface Work<T> {
  /** Returns the result if another process has produced it. */
  readonly done: () => Promise<T | undefined>;
  /** @param demand the current demand */
  readonly work: (demand: () => Demand) => Promise<T>;
  /** Aborted when the service stops. */
  readonly stopped: AbortSignal;
}

/** A caller that waits until the signal is aborted. */
interface Waiter {
  readonly signal: AbortSignal;
  readonly demand: 'client' | 'background';
}

interface Flight {
  readonly promise: Promise<unknown>;
  readonly waiters: Set<Waiter>;
}

/** Runs work once for all concurrent callers, in all processes of the data folder. */
export class SingleFlight {
  readonly #folder: string;
  readonly #flights = new Map<string, Flight>();

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'locks');
    mkdirSync(this.#folder, { recursive: true });
  }

  /**
   * Runs `work` for a key, or joins a running call. While another process runs it, `done` is polled for the result. Started
   * work continues when its callers leave.
   */
  run<T>(key: string, { done, work, stopped }: Work<T>, waiter: Waiter): Promise<T> {
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      const waiters = new Set([waiter]);
      const promise = this.#alone(key, done, () => work(() => demandOf(waiters)), waiters, stopped).finally(() =>
        this.#flights.delete(key),
      );
      promise.catch(() => {});
      flight = { promise, waiters };
      this.#flights.set(key, flight);
    }
    const { waiters } = flight;
    waiters.add(waiter);
    waiter.signal.addEventListener('abort', () => waiters.delete(waiter), { once: true });
    return flight.promise as Promise<T>;
  }

  /** Waits for all running work. */
  async drain(): Promise<void> {
    await Promise.allSettled([...this.#flights.values()].map(({ promise }) => promise));
  }

  /** Removes lock files of killed processes. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || Date.now() - found.mtimeMs < OLD_LOCK) continue;
      using lock = FileLock.take(path);
      if (lock !== undefined) await rm(path, { force: true });
    }
  }

  async #alone<T>(
    key: string,
    done: () => Promise<T | undefined>,
    work: () => Promise<T>,
    waiters: ReadonlySet<Waiter>,
    stopped: AbortSignal,
  ): Promise<T> {
    const path = join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.lock`);
    for (;;) {
      using lock = takeLock(path);
      // Checked with the lock held, because its previous holder may just have finished.
      const result = await done();
      if (result !== undefined) return result;
      if (lock !== undefined) {
        try {
          return await work();
        } finally {
          // While the lock is held: the next process creates a new file.
          await rm(path, { force: true }).catch(() => {});
        }
      }
      await sleep(POLL);
      stopped.throwIfAborted();
      if (waiters.size === 0) throw new NoDemand('No caller is waiting for this any more.');
    }
  }
}

/** Undefined while another process holds the lock. If no lock file can be written, processes are not coordinated. */
function takeLock(path: string): Disposable | undefined {
  try {
    return FileLock.take(path);
  } catch (error) {
    if (!isStorageFailure(error)) throw error;
    return { [Symbol.dispose]: () => {} };
  }
}

function demandOf(waiters: ReadonlySet<Waiter>): Demand {
  if (waiters.size === 0) return 'nobody';
  return [...waiters].some(({ demand }) => demand === 'client') ? 'client' : 'background';
}
