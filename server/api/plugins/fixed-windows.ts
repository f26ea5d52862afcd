import { LRUCache } from 'lru-cache';

/** Maximum number of counted keys or addresses; the least recently used is dropped first. */
const MAX_COUNTED = 100_000;

interface Window {
  count: number;
  /** Milliseconds. */
  endsAt: number;
}

/** Requests in the current window, this one included, and milliseconds until it ends. */
export interface Counted {
  readonly current: number;
  readonly ttl: number;
}

type Done = (error: Error | null, result?: Counted) => void;

/** Counts requests by key in windows of a length in milliseconds, as the rate-limit plugin requires. */
export interface WindowCounter {
  incr(key: string, done: Done, length: number): void;
  /** The counter of another limit. */
  child(): WindowCounter;
}

/**
 * A store for the rate-limit plugin with fixed windows that start with the first request of a key. The plugin's own store
 * shares one object per key, so requests that arrive in the same tick would all read the last count.
 */
export class FixedWindows implements WindowCounter {
  // Uses `maxSize`, because `max` allocates memory for all entries in advance.
  readonly #windows = new LRUCache<string, Window>({ maxSize: MAX_COUNTED, sizeCalculation: () => 1 });
  readonly #now: () => number;

  /** @param now milliseconds, as `Date.now` */
  constructor(now: () => number) {
    this.#now = now;
  }

  incr(key: string, done: Done, length: number): void {
    done(null, this.count(key, length));
  }

  /** Counts a request, as `incr` does. */
  count(key: string, length: number): Counted {
    const now = this.#now();
    let window = this.#windows.get(key);
    // A window that ends too late was started before the clock was set back.
    if (window === undefined || window.endsAt <= now || window.endsAt > now + length) {
      window = { count: 0, endsAt: now + length };
      this.#windows.set(key, window);
    }
    window.count++;
    return { current: window.count, ttl: window.endsAt - now };
  }

  /** Each limit has its own counters. */
  child(): FixedWindows {
    return new FixedWindows(this.#now);
  }
}
