import { setTimeout as sleep } from 'node:timers/promises';

/** What the service allows each key in a minute is 120; one is left for a request on the side. */
const REQUESTS_A_MINUTE = 119;
/** Milliseconds after which requests no longer count: a minute, and what may pass between taking a key and its use. */
const WINDOW = 70_000;

/**
 * Keys in turn, so that no key goes over its limit: with the 20 keys of a workspace, almost 2,400 requests a minute. Who
 * wants more waits.
 */
export class KeyRing {
  readonly #keys: readonly string[];
  readonly #taken: { readonly at: number; readonly count: number }[] = [];
  #next = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  /** Some of the keys as a ring of their own; the two share their limits, so use one or the other. */
  part(from: number, to: number): KeyRing {
    const keys = this.#keys.slice(from, to);
    return new KeyRing(keys.length > 0 ? keys : this.#keys);
  }

  /** Keys for so many requests, each as often as the others. */
  async take(count: number): Promise<string[]> {
    const budget = this.#keys.length * REQUESTS_A_MINUTE;
    if (count > budget) {
      throw new Error(`${count} requests at once are more than ${this.#keys.length} keys may send in a minute.`);
    }
    while (this.#inWindow() + count > budget) await sleep(this.#taken[0]!.at + WINDOW - performance.now());
    this.#taken.push({ at: performance.now(), count });
    return Array.from({ length: count }, () => this.#keys[this.#next++ % this.#keys.length]!);
  }

  #inWindow(): number {
    while (this.#taken.length > 0 && this.#taken[0]!.at + WINDOW <= performance.now()) this.#taken.shift();
    return this.#taken.reduce((sum, { count }) => sum + count, 0);
  }
}
