import { LRUCache } from 'lru-cache';

/** Keys or addresses that are counted at once; the least recently used is dropped first. */
const MAX_COUNTED = 100_000;

interface Window {
  count: number;
  /** Milliseconds. */
  endsAt: number;
}

type Done = (error: Error | null, result?: { current: number; ttl: number }) => void;

/**
 * Counts for the rate-limit plugin in fixed windows that start with the first request of a key. The plugin's own store
 * hands one object to all requests of a key; those that arrive in one tick would all read the last count.
 */
export class FixedWindows {
  // Bounded by size and not by `max`, which takes room for all of them at once.
  readonly #windows = new LRUCache<string, Window>({ maxSize: MAX_COUNTED, sizeCalculation: () => 1 });
  readonly #now: () => number;

  /** @param now milliseconds, as `Date.now` */
  constructor(now: () => number) {
    this.#now = now;
  }

  incr(key: string, done: Done, length: number): void {
    const now = this.#now();
    let window = this.#windows.get(key);
    // A window that ends too late was begun before the clock was set back.
    if (window === undefined || window.endsAt <= now || window.endsAt > now + length) {
      window = { count: 0, endsAt: now + length };
      this.#windows.set(key, window);
    }
    window.count++;
    done(null, { current: window.count, ttl: window.endsAt - now });
  }

  /** A limit of its own counts for itself. */
  child(): FixedWindows {
    return new FixedWindows(this.#now);
  }
}
