import type { Measures } from '../domain/metrics.ts';
import type { StoredDays } from './stored-days.ts';

/** Measures of one subject by day, as sums until the end of each day; the first entry is 0. */
export interface DailySums {
  readonly clicks: ArrayLike<number>;
  readonly impressions: ArrayLike<number>;
  /** Of zero-based positions. */
  readonly positions: ArrayLike<number>;
  readonly stored: StoredDays;
}

/** What a window has, both ends counted; undefined where a day of it is not stored. */
export function windowMeasures(sums: DailySums, from: number, to: number): Measures | undefined {
  if (!sums.stored.areWhole(from, to)) return undefined;
  return {
    clicks: sums.clicks[to + 1]! - sums.clicks[from]!,
    impressions: sums.impressions[to + 1]! - sums.impressions[from]!,
    sumPosition: sums.positions[to + 1]! - sums.positions[from]!,
  };
}

/** Sums until the end of each day, from the days. */
export function runningSums(days: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(days.length + 1);
  for (let day = 0; day < days.length; day++) sums[day + 1] = sums[day]! + days[day]!;
  return sums;
}
