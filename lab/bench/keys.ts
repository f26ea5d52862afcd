import { setTimeout as sleep } from 'node:timers/promises';

/** The service allows each key 120 requests per minute; one is left for other requests. */
const REQUESTS_PER_MINUTE = 119;
/** Milliseconds after which requests no longer count: a minute, and the time between taking a key and using it. */
const WINDOW = 70_000;

/**
 * Hands out keys in turn, so that no key exceeds its limit: the 20 keys of a workspace allow almost 2,400 requests per
 * minute. A caller that needs more waits.
 */
export class KeyRing {
  readonly #keys: readonly string[];
  readonly #taken: { readonly at: number; readonly count: number }[] = [];
  #next = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /** Some of the keys as a separate ring. Rings do not know of each other's requests: use a key in one ring only. */
  part(from: number, to: number): KeyRing {
    const keys = this.#keys.slice(from, to);
    return new KeyRing(keys.length > 0 ? keys : this.#keys);
  }

  /** Returns a key for each of `count` requests, in turn. */
  async take(count: number): Promise<string[]> {
    const budget = this.#keys.length * REQUESTS_PER_MINUTE;
    if (count > budget) {
      throw new Error(`${count} requests at once are more than ${this.#keys.length} keys may send in a minute.`);
    }
    while (this.#inWindow() + count > budget) await sleep(Math.max(0, this.#taken[0]!.at + WINDOW - performance.now()));
    this.#taken.push({ at: performance.now(), count });
    return Array.from({ length: count }, () => this.#keys[this.#next++ % this.#keys.length]!);
  }

  #inWindow(): number {
    while (this.#taken.length > 0 && this.#taken[0]!.at + WINDOW <= performance.now()) this.#taken.shift();
    return this.#taken.reduce((sum, { count }) => sum + count, 0);
  }
}
