/** Random numbers that a seed determines (mulberry32), and draws of some distributions. */
export class Random {
  #state: number;

  constructor(seed: number | string) {
    this.#state = typeof seed === 'number' ? seed >>> 0 : fnv(seed);
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  uniform(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.whole(0, items.length - 1)]!;
  }

  /** True once in `times` calls, on average. */
  once(times: number): boolean {
    return this.whole(1, times) === 1;
  }

  /** About half of the items. */
  some<T>(items: readonly T[]): T[] {
    return items.filter(() => this.once(2));
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }

  /** An independent generator: what one part draws does not change what another one gets. */
  fork(name: string): Random {
    return new Random(this.#state ^ hash(name));
  }

  normal(): number {
    return Math.sqrt(-2 * Math.log(this.uniform(1e-12, 1))) * Math.cos(this.uniform(0, 2 * Math.PI));
  }

  poisson(mean: number): number {
    if (mean <= 0) return 0;
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()));
    const limit = Math.exp(-mean);
    let count = -1;
    for (let product = 1; product > limit; count++) product *= this.next();
    return count;
  }

  /** How many of `count` stay, each by chance. */
  thinned(count: number, share: number): number {
    let kept = 0;
    for (let one = 0; one < count; one++) if (this.chance(share)) kept++;
    return kept;
  }
}

function fnv(text: string): number {
  let mixed = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  return mixed >>> 0;
}

/** A number of 32 bits from a text (FNV-1a, mixed once more). */
export function hash(text: string): number {
  let mixed = fnv(text);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
