import { LRUCache } from 'lru-cache';

/** Values that are remembered for a while by the service's own clock, the most recently used ones of them. */
export class Recent<T extends object> {
  readonly #now: () => number;
  readonly #lifetime: number;
  readonly #values: LRUCache<string, { value: T; until: number }>;

  /**
   * @param now milliseconds
   * @param lifetime milliseconds
   * @param maxSize what all values may come to
   * @param sizeOf what one value comes to; 1 where it is left out
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
