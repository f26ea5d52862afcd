/** The stored days of a range, with a constant-time check for windows. Days are indexed from 0. */
export class StoredDays {
  readonly #missing: Int32Array;

  constructor(stored: ArrayLike<number | boolean>) {
    this.#missing = new Int32Array(stored.length + 1);
    for (let day = 0; day < stored.length; day++) {
      this.#missing[day + 1] = this.#missing[day]! + (stored[day] ? 0 : 1);
    }
  }

  /** Whether all days of a window are stored, both ends included; days outside the range are not. */
  areWhole(from: number, to: number): boolean {
    if (from < 0 || to >= this.#missing.length - 1) return false;
    return this.#missing[to + 1] === this.#missing[from];
  }
}
