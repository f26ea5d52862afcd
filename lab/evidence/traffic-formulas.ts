import { median, sum } from '../../server/alerts/statistics.ts';
import { TRAFFIC_DROP_DAYS, trafficDrop } from '../../server/alerts/traffic-drop.ts';
import { lowerTail } from './negative-binomial.ts';
import type { ComparedRule, Judgement } from './openings.ts';

/** A formula for whether the last week is worse than usual. */
export interface Formula<Days> {
  readonly name: string;
  /** Its usual limit. */
  readonly limit: number;
  readonly judge: (days: Days) => Judgement;
}

export const TRAFFIC_RULE: ComparedRule = {
  opensAfter: 2,
  resolvesAfter: 3,
  expiresAfter: 28,
  isBack: (now, { usual }) => now.value >= 0.9 * usual,
};

/** Sums of the weeks, the last one first. */
function weeksOf(days: ArrayLike<number>): readonly [number, ...number[]] {
  return Array.from({ length: TRAFFIC_DROP_DAYS / 7 }, (_, week) => {
    const end = days.length - 7 * week;
    return sum(Array.from({ length: 7 }, (_day, day) => days[end - 7 + day]!));
  }) as [number, ...number[]];
}

interface Scored {
  readonly clicks: number;
  readonly usual: number;
  readonly score: number;
}

/** All formulas share the conditions of the rule. @param score by the weeks, the last one first, and their days */
function formula(
  name: string,
  limit: number,
  score: (weeks: readonly [number, ...number[]], days: ArrayLike<number>) => Scored,
): Formula<ArrayLike<number>> {
  const judge = (days: ArrayLike<number>): Judgement => {
    const { clicks: value, usual, score: own } = score(weeksOf(days), days);
    return { value, usual, score: own, isEligible: usual >= 35 && value <= 0.8 * usual };
  };
  return { name, limit, judge };
}

/** -log10 of 0.6 %: as rare as 2.5 standard deviations of a normal distribution. */
const RARE = 2.2;
/** What a median of four weeks adds to the variance. */
const MEDIAN = 1 + Math.PI / 8;

export const TRAFFIC_FORMULAS: readonly Formula<ArrayLike<number>>[] = [
  formula('level and weekday, trimmed dispersion (the rule)', 2.5, (_, days) => {
    const { clicks, usual, z } = trafficDrop(days);
    return { clicks, usual, score: -z };
  }),
  formula('median and MAD of eight weeks', 2.5, ([clicks, ...before]) => {
    const usual = median(before);
    const scatter = 1.4826 * median(before.map((week) => Math.abs(week - usual)));
    // Eight weeks can be similar by chance: the variance is at least that of independent events.
    return { clicks, usual, score: (usual - clicks) / Math.sqrt(Math.max(scatter ** 2, usual, 1)) };
  }),
  formula('Poisson by weekday', RARE, ([clicks], days) => {
    const usual = sum(weekdayMedians(days));
    return { clicks, usual, score: -Math.log10(lowerTail(clicks, usual, usual)) };
  }),
  formula('negative binomial by weekday', RARE, ([clicks, ...before], days) => {
    const usual = median(before.slice(0, 4));
    const expected = weekdayMedians(days);
    const scale = usual / Math.max(1, sum(expected));
    const means = expected.map((mean) => Math.max(0.5, mean * scale));
    // Method of moments: the variance of a weekday above its mean, relative to the square of the mean.
    const excess = means.map((mean, weekday) => {
      const same = Array.from({ length: 8 }, (_, week) => days[week * 7 + weekday]!);
      return sum(same.map((value) => (value - mean) ** 2 - mean)) / same.length / mean ** 2;
    });
    const alpha = Math.max(0, sum(excess) / excess.length);
    const variance = sum(means.map((mean) => mean + alpha * mean ** 2)) * MEDIAN + (0.06 * usual) ** 2;
    return { clicks, usual, score: -Math.log10(lowerTail(clicks, Math.max(usual, 1), variance)) };
  }),
  formula('square roots of weeks', 2.5, (weeks) => {
    const [last, ...before] = weeks.map(Math.sqrt) as [number, ...number[]];
    const middle = median(before.slice(0, 4));
    const differences = before.slice(1).map((root, week) => Math.abs(root - before[week]!));
    // Differences of two weeks have twice the variance; the square root of a count has a variance of 1/4.
    const scatter = (1.4826 * median(differences)) / Math.SQRT2;
    const variance = Math.max(scatter ** 2, 0.25) * MEDIAN + (0.03 * middle) ** 2;
    return { clicks: last ** 2, usual: middle ** 2, score: (middle - last) / Math.sqrt(variance) };
  }),
];

/** The median of each weekday over the eight weeks before, starting with that of the oldest day. */
function weekdayMedians(days: ArrayLike<number>): number[] {
  return Array.from({ length: 7 }, (_, weekday) =>
    median(Array.from({ length: 8 }, (_week, week) => days[week * 7 + weekday]!)),
  );
}
