/** Which days of a range are stored, so that whole windows are told at once. Days are places, from 0. */
export class StoredDays {
  readonly #missing: Int32Array;

  constructor(stored: ArrayLike<number | boolean>) {
    this.#missing = new Int32Array(stored.length + 1);
    for (let day = 0; day < stored.length; day++) {
      this.#missing[day + 1] = this.#missing[day]! + (stored[day] ? 0 : 1);
    }
  }

  /** Whether every day of a window is stored, both ends counted; those outside of the range are not. */
  areWhole(from: number, to: number): boolean {
    if (from < 0 || to >= this.#missing.length - 1) return false;
    return this.#missing[to + 1] === this.#missing[from];
  }
}
