import PQueue from 'p-queue';
import { busy } from '../domain/errors.ts';

/** How many callers may run at once, how many run and how many wait. */
export interface LimitState {
  readonly limit: number;
  readonly used: number;
  readonly waiting: number;
}

/** Limits how many callers run at once. A caller whose signal is aborted while it waits leaves the queue at once. */
export class ConcurrencyLimit {
  readonly #queue: PQueue;

  /** @param concurrency max callers at once */
  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency });
  }

  /** How many callers wait for a slot. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Its state, for metrics. */
  get state(): LimitState {
    const { concurrency: limit, pending: used, size: waiting } = this.#queue;
    return { limit, used, waiting };
  }

  /**
   * Waits for a slot. Resolves with a function that releases it, to be called once. Rejects with the signal's reason if
   * the signal is aborted first.
   * @param priority callers with a higher one leave the queue first; equal ones in the order in which they came
   */
  async enter(signal: AbortSignal, priority = 0): Promise<() => void> {
    // Not the signal itself: PQueue would also free the slot of a caller that is running.
    const waiting = new AbortController();
    const stopWaiting = (): void => waiting.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', stopWaiting, { once: true });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    try {
      await new Promise<void>((entered, rejected) => {
        const holdSlot = (): Promise<void> => {
          signal.removeEventListener('abort', stopWaiting);
          entered();
          return released;
        };
        this.#queue.add(holdSlot, { signal: waiting.signal, priority }).catch(rejected);
      });
    } finally {
      signal.removeEventListener('abort', stopWaiting);
    }
    return release;
  }

  /** Runs `work` in a slot. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>, priority?: number): Promise<T> {
    const release = await this.enter(signal, priority);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

export interface SharedLimitOptions {
  /** Max callers at once, of all keys. */
  readonly concurrency: number;
  /** Max callers at once, of one key. */
  readonly perKey: number;
  /** How long a caller waits for a slot before it is rejected, in milliseconds. */
  readonly maxWait: number;
  /** What a caller is told that has waited too long. */
  readonly busy?: () => Error;
}

/** A concurrency limit with a share for each key, so that one key cannot take all slots. */
export class SharedConcurrencyLimit {
  readonly #all: ConcurrencyLimit;
  readonly #options: SharedLimitOptions;
  readonly #byKey = new Map<string, { limit: ConcurrencyLimit; users: number }>();

  constructor(options: SharedLimitOptions) {
    this.#options = options;
    this.#all = new ConcurrencyLimit(options.concurrency);
  }

  /** How many keys have callers that run or wait. */
  get keys(): number {
    return this.#byKey.size;
  }

  /** Its state, for metrics. */
  get state(): LimitState {
    const { limit, used } = this.#all.state;
    const users = [...this.#byKey.values()].reduce((sum, { users }) => sum + users, 0);
    return { limit, used, waiting: Math.max(0, users - used) };
  }

  /** Like `ConcurrencyLimit.enter`, but throws `unavailable` after `maxWait`. The slot may be released more than once. */
  async enter(key: string, signal: AbortSignal): Promise<() => void> {
    const { perKey, maxWait, busy: tooBusy = busy } = this.#options;
    const ofKey = this.#byKey.get(key) ?? { limit: new ConcurrencyLimit(perKey), users: 0 };
    this.#byKey.set(key, ofKey);
    ofKey.users++;
    const releases = [
      () => {
        ofKey.users--;
        if (ofKey.users === 0) this.#byKey.delete(key);
      },
    ];
    const release = (): void => {
      for (const releaseOne of releases.splice(0)) releaseOne();
    };
    const waiting = new AbortController();
    const stopWaiting = (): void => waiting.abort(signal.reason);
    const timer = setTimeout(() => waiting.abort(tooBusy()), maxWait);
    signal.addEventListener('abort', stopWaiting, { once: true });
    try {
      signal.throwIfAborted();
      releases.push(await ofKey.limit.enter(waiting.signal));
      releases.push(await this.#all.enter(waiting.signal));
      return release;
    } catch (error) {
      release();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stopWaiting);
    }
  }
}
