import type { Measures } from '../domain/metrics.ts';

/** Replaces each value by the sum of all up to it. */
export function toPrefixSums<Values extends Float64Array | Int32Array>(values: Values): Values {
  for (let at = 1; at < values.length; at++) values[at]! += values[at - 1]!;
  return values;
}

/** The stored days of a range, with a constant-time check for windows. Days are indexed from 0. */
export class StoredDays {
  readonly #missing: Int32Array;

  constructor(stored: ArrayLike<number | boolean>) {
    this.#missing = toPrefixSums(Int32Array.from([0, ...Array.from(stored, (is) => (is ? 0 : 1))]));
  }

  /** Whether all days of a window are stored, both ends included; days outside the range are not. */
  areWhole(from: number, to: number): boolean {
    if (from < 0 || to >= this.#missing.length - 1) return false;
    return this.#missing[to + 1] === this.#missing[from];
  }
}

/** Measures of one subject as prefix sums: entry n is the sum of the first n days. */
export interface DailySums {
  readonly clicks: ArrayLike<number>;
  readonly impressions: ArrayLike<number>;
  /** Zero-based positions. */
  readonly positions: ArrayLike<number>;
  readonly stored: StoredDays;
}

/** The measures of a window, both ends included; undefined if a day of it is not stored. */
export function windowMeasures(sums: DailySums, from: number, to: number): Measures | undefined {
  if (!sums.stored.areWhole(from, to)) return undefined;
  return {
    clicks: sums.clicks[to + 1]! - sums.clicks[from]!,
    impressions: sums.impressions[to + 1]! - sums.impressions[from]!,
    sumPosition: sums.positions[to + 1]! - sums.positions[from]!,
  };
}
