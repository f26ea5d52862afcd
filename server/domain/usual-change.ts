import { addDays, type Day, earlier } from './dates.ts';
import type { Range } from './range.ts';

/** How far the change of two adjacent windows usually goes, as differences from the clicks of the first one. */
export interface UsualChange {
  /** Nine of ten changes of the past year were between them. */
  readonly low: number;
  readonly high: number;
  /** The pairs of windows of the past year. */
  readonly windows: number;
}

/** The days that are looked at: 52 weeks. */
const DAYS = 364;
/** With fewer pairs of windows, quantiles say little. */
const MIN_WINDOWS = 60;
const [LOW, HIGH] = [0.05, 0.95];

/** The days to look at: 364 that end with the last final day before a range. */
export function usualDays({ from }: Range, lastFinalDay: Day | null): Range {
  const before = addDays(from, -1);
  const to = lastFinalDay === null ? before : earlier(before, lastFinalDay);
  return { from: addDays(to, 1 - DAYS), to };
}

/**
 * The usual change of a number of clicks, from every pair of adjacent windows whose days are all stored: the 5 % and 95 %
 * quantiles of the logarithm of (clicks + 1) of the second window over (clicks + 1) of the first. Null with fewer than 60
 * pairs.
 * @param days clicks by day; null for days that are not stored
 * @param length days of a window
 * @param base clicks that the change starts from, and how many days they are of: of another length, they are brought to
 * that of the window
 */
export function usualChange(
  days: readonly (number | null)[],
  length: number,
  base: { readonly clicks: number; readonly days: number },
): UsualChange | null {
  const [clicks, missing] = [[0], [0]];
  for (const [index, day] of days.entries()) {
    clicks.push(clicks[index]! + (day ?? 0));
    missing.push(missing[index]! + (day === null ? 1 : 0));
  }
  const changes: number[] = [];
  for (let start = 0; start + 2 * length <= days.length; start++) {
    const [middle, end] = [start + length, start + 2 * length];
    if (missing[end] !== missing[start]) continue;
    changes.push(Math.log((clicks[end]! - clicks[middle]! + 1) / (clicks[middle]! - clicks[start]! + 1)));
  }
  if (changes.length < MIN_WINDOWS) return null;
  changes.sort((a, b) => a - b);
  const start = (base.clicks * length) / base.days;
  const differenceAt = (share: number): number => rounded(start * Math.exp(quantile(changes, share)) - base.clicks);
  return { low: differenceAt(LOW), high: differenceAt(HIGH), windows: changes.length };
}

/** Linear between the order statistics. @param sorted ascending */
function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const index = Math.floor(at);
  const value = sorted[index]!;
  return value + (at - index) * ((sorted[index + 1] ?? value) - value);
}

/** Rounds halves away from zero; never to -0. A half of clicks is one however its logarithm was rounded. */
function rounded(number: number): number {
  const size = Math.floor(Math.abs(number) + 0.5 + 1e-9);
  return number < 0 ? 0 - size : size;
}
