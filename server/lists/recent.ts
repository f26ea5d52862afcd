import { LRUCache } from 'lru-cache';

/** An LRU cache with a lifetime by an injected clock. */
export class Recent<T extends object> {
  readonly #now: () => number;
  readonly #lifetime: number;
  readonly #values: LRUCache<string, { value: T; until: number }>;

  /**
   * @param now milliseconds
   * @param lifetime milliseconds
   * @param maxSize maximum size of all values
   * @param sizeOf size of one value; 1 by default
   */
  constructor(now: () => number, lifetime: number, maxSize: number, sizeOf: (value: T) => number = () => 1) {
    this.#now = now;
    this.#lifetime = lifetime;
    this.#values = new LRUCache({ maxSize, sizeCalculation: ({ value }) => sizeOf(value) });
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    return found !== undefined && found.until > this.#now() ? found.value : undefined;
  }

  set(key: string, value: T): void {
    this.#values.set(key, { value, until: this.#now() + this.#lifetime });
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
