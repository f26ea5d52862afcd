import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock, Locks } from '../catalog/catalog.ts';
import { type Demand, NoDemand } from '../providers/slots.ts';
import { isStorageFailure } from './storage-failures.ts';

/** How often a process checks whether another one has finished, in milliseconds. */
const POLL = 150;

interface Fetch<T> {
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

/** Runs work once for all concurrent callers, in all processes that use a catalog. */
export class FetchOnce {
  readonly #locks: Locks;
  readonly #flights = new Map<string, Flight>();

  constructor(locks: Locks) {
    this.#locks = locks;
  }

  /**
   * Runs `work` for a key, or joins a running call. While another process runs it, `done` is polled for the result. Started
   * work continues when its callers leave.
   */
  run<T>(key: string, { done, work, stopped }: Fetch<T>, waiter: Waiter): Promise<T> {
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

  async #alone<T>(
    key: string,
    done: () => Promise<T | undefined>,
    work: () => Promise<T>,
    waiters: ReadonlySet<Waiter>,
    stopped: AbortSignal,
  ): Promise<T> {
    for (;;) {
      await using lock = await this.#take(key);
      // Checked with the lock held, because its previous holder may just have finished.
      const result = await done();
      if (result !== undefined) return result;
      if (lock !== undefined) return await work();
      await sleep(POLL);
      stopped.throwIfAborted();
      if (waiters.size === 0) throw new NoDemand('No caller is waiting for this any more.');
    }
  }

  /** Undefined while another process has the lock. If no lock can be stored, processes are not coordinated. */
  async #take(key: string): Promise<Pick<Lock, typeof Symbol.asyncDispose> | undefined> {
    try {
      return await this.#locks.take(key);
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      return { [Symbol.asyncDispose]: async () => {} };
    }
  }
}

function demandOf(waiters: ReadonlySet<Waiter>): Demand {
  if (waiters.size === 0) return 'nobody';
  return [...waiters].some(({ demand }) => demand === 'client') ? 'client' : 'background';
}
