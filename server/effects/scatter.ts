import { WEEK } from '../domain/dates.ts';
import type { WindowLengths } from './windows.ts';

/** Fewer clicks before a change cannot show its effect: false alarms would be twice as frequent. */
export const MIN_CLICKS = 30;
/** Days between placebo dates. */
export const STEP = 7;

/** Clicks of pages or keywords that are judged together. */
export interface Unit {
  /** The sum of clicks of the days before each day: one more element than there are days. */
  readonly sums: Float64Array;
  /** The days on which something was changed on it, as indices. */
  readonly changes: readonly number[];
}

/** Adds up the clicks of days. */
export function unitOf(clicks: ArrayLike<number>, changes: readonly number[] = []): Unit {
  const sums = new Float64Array(clicks.length + 1);
  for (let day = 0; day < clicks.length; day++) sums[day + 1] = sums[day]! + clicks[day]!;
  return { sums, changes };
}

/** Clicks from one day (included) to another (excluded). */
export function clicksIn({ sums }: Unit, from: number, to: number): number {
  return sums[to]! - sums[from]!;
}

/** What the clicks of units were before a day, one element each; 0 clicks for units that are left out. */
export interface Before {
  readonly clicks: Float64Array;
  /** Variance of weekly clicks (logarithm, relative to the controls) beyond what counting explains. */
  readonly scatter: Float64Array;
}

/**
 * Measures units in the window before a day. The weeks of all controls together say what was common; each counts by the
 * root of its clicks, so that no large one decides.
 * @param units the subject, then its controls
 * @param isUsed whether a unit can be used for this day
 */
export function measureBefore(
  units: readonly Unit[],
  day: number,
  { before }: WindowLengths,
  isUsed: (unit: Unit, index: number) => boolean,
): Before {
  const clicks = new Float64Array(units.length);
  const scatter = new Float64Array(units.length);
  const weeks = Math.floor(before / WEEK);
  const first = day - weeks * WEEK;
  const week = (unit: Unit, at: number): number => clicksIn(unit, first + at * WEEK, first + (at + 1) * WEEK);
  const common = new Float64Array(weeks);
  let weights = 0;
  for (const [index, unit] of units.entries()) {
    const total = clicksIn(unit, day - before, day);
    if (total < MIN_CLICKS || !isUsed(unit, index)) continue;
    clicks[index] = total;
    if (index === 0) continue;
    const weight = Math.sqrt(total);
    weights += weight;
    for (let at = 0; at < weeks; at++) common[at]! += weight * Math.log(week(unit, at) + 0.5);
  }
  for (const [index, unit] of units.entries()) {
    if (clicks[index] === 0) continue;
    let [sum, squares, counting] = [0, 0, 0];
    for (let at = 0; at < weeks; at++) {
      const counted = week(unit, at);
      const residual = Math.log(counted + 0.5) - common[at]! / (weights || 1);
      sum += residual;
      squares += residual * residual;
      counting += 1 / (counted + 1);
    }
    scatter[index] = (squares - (sum * sum) / weeks) / (weeks - 1) - counting / weeks;
  }
  return { clicks, scatter };
}

/** The scatter of a site's units: the mean over all units and days, large units counting more, as theirs is measured better. */
export function commonScatter(measured: readonly Before[], { before }: WindowLengths): number {
  let [sum, weights] = [0, 0];
  for (const { clicks, scatter } of measured) {
    for (let index = 1; index < clicks.length; index++) {
      if (clicks[index] === 0) continue;
      const weight = 1 / (before / WEEK / clicks[index]! + 0.01);
      sum += weight * scatter[index]!;
      weights += weight;
    }
  }
  return Math.max(MIN_SCATTER, sum / (weights || 1));
}

const MIN_SCATTER = 0.0005;
/** The scatter of few weeks is measured badly: the site's counts as much as this many weeks of the unit. */
const SITE_WEEKS = 20;

/** The scatter of a unit, drawn towards that of the site. */
export function ownScatter(scatter: number, common: number, { before }: WindowLengths): number {
  const freedom = Math.floor(before / WEEK) - 1;
  return Math.max(MIN_SCATTER / 2, (freedom * scatter + SITE_WEEKS * common) / (freedom + SITE_WEEKS));
}
