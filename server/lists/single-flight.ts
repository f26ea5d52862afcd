import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileLock } from '../catalog/lock.ts';
import { type Demand, NoDemand } from '../providers/places.ts';
import { isStorageFailure } from './storage-failures.ts';

/** How often a process looks whether another one has ended what it waits for, in milliseconds. */
const POLL = 150;
const OLD_LOCK = 3_600_000;

interface Work<T> {
  /** What another process may have made meanwhile. */
  readonly done: () => Promise<T | undefined>;
  /** @param demand who waits for it at the moment */
  readonly work: (demand: () => Demand) => Promise<T>;
  /** The service is stopping. */
  readonly stopped: AbortSignal;
}

/** One who waits: until the signal is aborted. */
interface Waiter {
  readonly signal: AbortSignal;
  readonly demand: 'client' | 'background';
}

interface Flight {
  readonly promise: Promise<unknown>;
  readonly waiters: Set<Waiter>;
}

/** Work that is done once for all who want it at the same time, in this process and in others of the data folder. */
export class SingleFlight {
  readonly #folder: string;
  readonly #flights = new Map<string, Flight>();

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'locks');
    mkdirSync(this.#folder, { recursive: true });
  }

  /**
   * The one run of `work` for a key. Where another process is at it, `done` is asked now and then for what that one
   * has made. Once begun it goes on when those who wait for it leave; `work` decides what to do before that.
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

  /** Resolves when nothing is under way any more. */
  async drain(): Promise<void> {
    await Promise.allSettled([...this.#flights.values()].map(({ promise }) => promise));
  }

  /** Removes lock files of processes that were killed. */
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
      // Asked again with the lock in hand: the one who had it may just have ended.
      const made = await done();
      if (made !== undefined) return made;
      if (lock !== undefined) {
        try {
          return await work();
        } finally {
          // While it is held: who comes next makes a file of its own.
          await rm(path, { force: true }).catch(() => {});
        }
      }
      await sleep(POLL);
      stopped.throwIfAborted();
      if (waiters.size === 0) throw new NoDemand('Nobody waits for this any more.');
    }
  }
}

/** Undefined while another process holds it. Where no lock can be written, one process does not know of the others. */
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
