import type { Measures } from '../domain/metrics.ts';
import type { StoredDays } from './stored-days.ts';

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

/** Prefix sums of daily values, starting with 0. */
export function runningSums(days: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(days.length + 1);
  for (let day = 0; day < days.length; day++) sums[day + 1] = sums[day]! + days[day]!;
  return sums;
}
