import PQueue from 'p-queue';
import { busy } from '../domain/errors.ts';

/** Lets a few in at a time. Whoever gives up waiting leaves the queue at once. */
export class ConcurrencyLimit {
  readonly #queue: PQueue;

  /** @param concurrency how many are inside at once */
  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency });
  }

  /** How many wait to get in. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Resolves with the way out, to be called once. Rejects with the signal's reason when it is aborted first.
   * @param priority who goes first where several wait; among equals, who came first
   */
  async enter(signal: AbortSignal, priority = 0): Promise<() => void> {
    // The queue's own signal would also free the place of somebody who is inside.
    const waiting = new AbortController();
    const giveUp = (): void => waiting.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', giveUp, { once: true });
    const { promise: outside, resolve: leave } = Promise.withResolvers<void>();
    try {
      await new Promise<void>((entered, refused) => {
        const inside = (): Promise<void> => {
          signal.removeEventListener('abort', giveUp);
          entered();
          return outside;
        };
        this.#queue.add(inside, { signal: waiting.signal, priority }).catch(refused);
      });
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return leave;
  }

  /** Runs `work` inside. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>, priority?: number): Promise<T> {
    const leave = await this.enter(signal, priority);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}

export interface SharedLimitOptions {
  /** How many are inside at once, of all keys. */
  readonly concurrency: number;
  /** How many of one key. */
  readonly perKey: number;
  /** How long somebody waits before being told to come back, in milliseconds. */
  readonly maxWait: number;
}

/** Places with a share for each key, so that one cannot take all of them. */
export class SharedConcurrencyLimit {
  readonly #all: ConcurrencyLimit;
  readonly #options: SharedLimitOptions;
  readonly #byKey = new Map<string, { limit: ConcurrencyLimit; users: number }>();

  constructor(options: SharedLimitOptions) {
    this.#options = options;
    this.#all = new ConcurrencyLimit(options.concurrency);
  }

  /** Keys that are inside or waiting. */
  get keys(): number {
    return this.#byKey.size;
  }

  /** As `ConcurrencyLimit.enter`; throws `unavailable` after `maxWait`. The way out may be called more than once. */
  async enter(key: string, signal: AbortSignal): Promise<() => void> {
    const { perKey, maxWait } = this.#options;
    const own = this.#byKey.get(key) ?? { limit: new ConcurrencyLimit(perKey), users: 0 };
    this.#byKey.set(key, own);
    own.users++;
    const exits = [
      () => {
        own.users--;
        if (own.users === 0) this.#byKey.delete(key);
      },
    ];
    const leave = (): void => {
      for (const exit of exits.splice(0)) exit();
    };
    const waiting = new AbortController();
    const giveUp = (): void => waiting.abort(signal.reason);
    const timer = setTimeout(() => waiting.abort(busy()), maxWait);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      signal.throwIfAborted();
      exits.push(await own.limit.enter(waiting.signal));
      exits.push(await this.#all.enter(waiting.signal));
      return leave;
    } catch (error) {
      leave();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }
}
