/** Numbers of a seed, always the same ones. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761) >>> 0;
  }

  /** From 0 to below 1. */
  share(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.share() * (most - least + 1));
  }

  /** True once in `times` calls, on average. */
  once(times: number): boolean {
    return this.whole(1, times) === 1;
  }

  one<T>(from: readonly T[]): T {
    return from[this.whole(0, from.length - 1)]!;
  }

  some<T>(from: readonly T[]): T[] {
    return from.filter(() => this.once(2));
  }

  shuffled<T>(from: readonly T[]): T[] {
    return from
      .map((item) => ({ item, place: this.share() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }
}
