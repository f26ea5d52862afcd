type Rows = Uint32Array;

/** Rows sorted or merged per step: about a millisecond when texts are compared. */
const STEP = 2048;

/** Sorts rows in place by a comparison, a step at a time, because there may be many. Equal rows keep their order. */
export function* sortInSteps(rows: Rows, compare: (a: number, b: number) => number): Generator<void> {
  const { length } = rows;
  for (let at = 0; at < length; at += STEP) {
    rows.subarray(at, at + STEP).sort(compare);
    yield;
  }
  let [from, into]: [Rows, Rows] = [rows, new Uint32Array(length)];
  for (let width = STEP; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length);
      const end = Math.min(middle + width, length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const takesLeft = left < middle && (right >= end || compare(from[left]!, from[right]!) <= 0);
        into[at] = takesLeft ? from[left++]! : from[right++]!;
        if (at % STEP === 0) yield;
      }
    }
    [from, into] = [into, from];
  }
  if (from !== rows) rows.set(from);
}

/** Numbers to sort rows by, as pairs of 32-bit integers with the same order. */
export class SortKeys {
  readonly #numbers: Float64Array;
  readonly #halves: Uint32Array;

  constructor(rows: number) {
    this.#numbers = new Float64Array(rows);
    this.#halves = new Uint32Array(this.#numbers.buffer);
  }

  /** The keys of some rows from the numbers of all; NaN is last in either direction. */
  static of(numbers: Float64Array, rows: Rows, sign: 1 | -1): SortKeys {
    const keys = new SortKeys(numbers.length);
    const most = mostOfWhole(numbers);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      const number = numbers[row]!;
      // Small integers as they are have fewer digits.
      if (most !== undefined) keys.#halves[2 * row] = sign > 0 ? number : most - number;
      else keys.set(row, Number.isNaN(number) ? Number.POSITIVE_INFINITY : sign * number);
    }
    return keys;
  }

  set(row: number, number: number): void {
    const halves = this.#halves;
    // Makes -0 equal to 0.
    this.#numbers[row] = number + 0;
    const high = halves[2 * row + 1]!;
    const isNegative = high >>> 31 === 1;
    if (isNegative) halves[2 * row] = ~halves[2 * row]!;
    halves[2 * row + 1] = isNegative ? ~high : high ^ 0x8000_0000;
  }

  /**
   * Sorts rows in place, digit by digit from the last one: ten times faster than by comparisons. Equal rows keep their
   * order. Small whole numbers have few digits that differ.
   */
  *sort(rows: Rows): Generator<void> {
    const halves = this.#halves;
    const counts = countDigits(halves, rows);
    yield;
    let [from, into]: [Rows, Rows] = [rows, new Uint32Array(rows.length)];
    for (const [digit, ofDigit] of counts.entries()) {
      if (ofDigit.includes(rows.length)) continue;
      placeByDigit(halves, digit, ofDigit, from, into);
      [from, into] = [into, from];
      yield;
    }
    if (from !== rows) rows.set(from);
  }
}

const DIGIT_BITS = 11;
const DIGIT_MASK = (1 << DIGIT_BITS) - 1;
const DIGITS_PER_HALF = 3;

/** The largest of integers that are not negative and fit into 32 bits; undefined for others. */
function mostOfWhole(numbers: Float64Array): number | undefined {
  let most = 0;
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at]!;
    if (number >>> 0 !== number) return undefined;
    if (number > most) most = number;
  }
  return most;
}

// These loops are separate functions, because V8 compiles loops in generators to slower code.

/** How often each value of each digit occurs; the last digit is the first. */
function countDigits(halves: Uint32Array, rows: Rows): Uint32Array[] {
  const counts = Array.from({ length: 2 * DIGITS_PER_HALF }, () => new Uint32Array(1 << DIGIT_BITS));
  const [a, b, c, d, e, f] = counts as [Rows, Rows, Rows, Rows, Rows, Rows];
  for (let at = 0; at < rows.length; at++) {
    const row = 2 * rows[at]!;
    const low = halves[row]!;
    const high = halves[row + 1]!;
    a[low & DIGIT_MASK]!++;
    b[(low >>> DIGIT_BITS) & DIGIT_MASK]!++;
    c[low >>> (2 * DIGIT_BITS)]!++;
    d[high & DIGIT_MASK]!++;
    e[(high >>> DIGIT_BITS) & DIGIT_MASK]!++;
    f[high >>> (2 * DIGIT_BITS)]!++;
  }
  return counts;
}

/** Orders rows by a digit. */
function placeByDigit(halves: Uint32Array, digit: number, counts: Uint32Array, from: Rows, into: Rows): void {
  const half = digit < DIGITS_PER_HALF ? 0 : 1;
  const shift = (digit % DIGITS_PER_HALF) * DIGIT_BITS;
  let before = 0;
  for (let value = 0; value < counts.length; value++) {
    const count = counts[value]!;
    counts[value] = before;
    before += count;
  }
  for (let at = 0; at < from.length; at++) {
    const row = from[at]!;
    const value = (halves[2 * row + half]! >>> shift) & DIGIT_MASK;
    into[counts[value]!++] = row;
  }
}
