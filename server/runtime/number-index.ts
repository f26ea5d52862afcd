/** The indexes of distinct numbers in a list. A `Map` allocates at each lookup of a number that is no small integer. */
export class NumberIndex {
  readonly #numbers: Float64Array;
  readonly #indexes: Int32Array;
  readonly #shift: number;

  /** @param numbers integers from 0 to 2^53 */
  constructor(numbers: readonly number[]) {
    const bits = Math.max(1, Math.ceil(Math.log2(2 * numbers.length)));
    this.#shift = 32 - bits;
    this.#numbers = new Float64Array(2 ** bits).fill(-1);
    this.#indexes = new Int32Array(2 ** bits).fill(-1);
    for (const [index, number] of numbers.entries()) {
      const slot = this.#slotOf(number);
      this.#numbers[slot] = number;
      this.#indexes[slot] = index;
    }
  }

  /** The index of a number in the list, or -1. */
  of(number: number): number {
    return this.#indexes[this.#slotOf(number)]!;
  }

  /** The slot of a number, or the free one where it belongs. */
  #slotOf(number: number): number {
    const last = this.#numbers.length - 1;
    let slot = Math.imul(number | 0, 0x9e3779b1) >>> this.#shift;
    while (this.#numbers[slot] !== number && this.#numbers[slot] !== -1) slot = (slot + 1) & last;
    return slot;
  }
}
