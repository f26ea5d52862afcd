import { median, sum } from './statistics.ts';

/** Days that the rule looks at: the week that ends on the evaluated day, and the eight weeks before it. */
export const TRAFFIC_DROP_DAYS = 63;

const WEEKS = 8;
/** Below so many clicks a usual week there is nothing to say. */
const MIN_USUAL = 35;
const OPENS = { share: 0.8, z: -2.5 };
const CRITICAL = { share: 0.5, z: -3.5 };
/** The share of the usual week at which clicks are back. */
const BACK = 0.9;
/** The largest deviations are left out: what they tell is the last drop, and not how much clicks scatter. */
const TRIMMED = 3;
/** What the mean of squared deviations loses by leaving out the largest. */
const TRIM_CORRECTION = 1.35;
/** No week is known better than to this share of it, however many clicks there are. */
const LEVEL_ERROR = 0.06;

export interface TrafficDrop {
  /** Clicks of the last week. */
  readonly clicks: number;
  /** Clicks of the usual week: the median of the four before. */
  readonly usual: number;
  /** By how many standard deviations the week differs from the usual one. */
  readonly z: number;
  readonly opens: boolean;
  readonly isCritical: boolean;
}

/**
 * Whether the clicks of a site in the last week are below the usual week by more than weeks scatter.
 *
 * Clicks scatter more than counts of independent events do: `phi` is by how much, from the deviations of the 56 days
 * before from their week's level and their weekday's share of it.
 * @param days clicks of `TRAFFIC_DROP_DAYS` days, oldest first
 */
export function trafficDrop(days: ArrayLike<number>): TrafficDrop {
  // Week 0 is the last one.
  const weeks = Array.from({ length: WEEKS + 1 }, (_, week) => weekOf(days, week));
  const totals = weeks.map(sum);
  const clicks = totals[0]!;
  const usual = median(totals.slice(1, 5));
  const phi = dispersion(weeks.slice(1), totals.slice(1));
  const variance = phi * Math.max(usual, 1) * (1 + Math.PI / 8) + (LEVEL_ERROR * usual) ** 2;
  const z = (clicks - usual) / Math.sqrt(variance);
  const isBelow = ({ share, z: least }: typeof OPENS): boolean => clicks <= share * usual && z <= least;
  const opens = usual >= MIN_USUAL && isBelow(OPENS);
  return { clicks, usual, z, opens, isCritical: opens && isBelow(CRITICAL) };
}

/** Whether an open alert becomes critical: clicks are at half of what was usual when it opened. */
export function trafficRises({ clicks, z }: TrafficDrop, usualAtOpening: number): boolean {
  return clicks <= CRITICAL.share * usualAtOpening && z <= CRITICAL.z;
}

export function trafficIsBack({ clicks }: TrafficDrop, usualAtOpening: number): boolean {
  return clicks >= BACK * usualAtOpening;
}

function weekOf(days: ArrayLike<number>, week: number): number[] {
  const end = days.length - 7 * week;
  return Array.from({ length: 7 }, (_, day) => days[end - 7 + day]!);
}

function dispersion(weeks: readonly (readonly number[])[], totals: readonly number[]): number {
  const shares = Array.from({ length: 7 }, (_, day) =>
    median(weeks.map((week, index) => (totals[index]! === 0 ? 0 : week[day]! / totals[index]!))),
  );
  const total = sum(shares);
  const deviations = weeks.flatMap((week, index) => {
    const level = median(totals.slice(Math.max(0, index - 1), index + 2));
    return week.map((clicks, day) => {
      const expected = Math.max(0.5, total === 0 ? 0 : (level * shares[day]!) / total);
      return (clicks - expected) ** 2 / expected;
    });
  });
  const smallest = deviations.toSorted((a, b) => a - b).slice(0, deviations.length - TRIMMED);
  return Math.max(1, (TRIM_CORRECTION * sum(smallest)) / smallest.length);
}
