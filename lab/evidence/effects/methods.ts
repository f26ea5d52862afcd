import { estimate } from '../../../server/effects/estimate.ts';
import type { WindowLengths } from '../../../server/effects/scores.ts';
import { unitOf } from '../../../server/effects/scores.ts';

/** A page that was changed on a day, and the other pages of its site. */
export interface Asked {
  readonly page: Float64Array;
  readonly others: readonly Float64Array[];
  readonly day: number;
}

/** What a method says: p, and where it has one the interval of the relative effect. Undefined: no answer. */
interface Said {
  readonly p: number;
  readonly interval?: readonly [low: number, high: number];
}

export type Method = (asked: Asked) => Said | undefined;

export const LENGTHS: WindowLengths = { before: 56, settle: 7, after: 28 };

const sum = (values: ArrayLike<number>, from: number, to: number): number => {
  let total = 0;
  for (let day = from; day < to; day++) total += values[day]!;
  return total;
};

/** Two-sided p of a standard normal value, by the complementary error function (Numerical approximation of Abramowitz and Stegun 7.1.26). */
function normalP(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return series * Math.exp(-x * x);
}

const moments = (values: readonly number[]): { mean: number; variance: number } => {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  return { mean, variance: values.reduce((total, value) => total + (value - mean) ** 2, 0) / (values.length - 1) };
};

/** The windows of paid tools: 28 days before and after. */
function fourWeeks({ page, day }: Asked): readonly [before: number[], after: number[]] {
  const after = day + LENGTHS.settle;
  return [Array.from(page.subarray(day - 28, day)), Array.from(page.subarray(after, after + 28))];
}

/** Welch's t-test of days; with 28 days each its distribution is close to the normal one. */
function tTest(asked: Asked): Said {
  const [before, after] = fourWeeks(asked);
  const [a, b] = [moments(before), moments(after)];
  return { p: normalP((b.mean - a.mean) / Math.sqrt((a.variance + b.variance) / 28 || 1)) };
}

/** Mann and Whitney's rank sum test of days, with the correction for ties. */
function rankSum(asked: Asked): Said {
  const [before, after] = fourWeeks(asked);
  const all = [
    ...before.map((value) => ({ value, isAfter: false })),
    ...after.map((value) => ({ value, isAfter: true })),
  ];
  all.sort((a, b) => a.value - b.value);
  let [ranks, ties] = [0, 0];
  for (let first = 0; first < all.length; ) {
    let end = first;
    while (end < all.length && all[end]!.value === all[first]!.value) end++;
    const rank = (first + end + 1) / 2;
    ties += (end - first) ** 3 - (end - first);
    for (let at = first; at < end; at++) if (all[at]!.isAfter) ranks += rank;
    first = end;
  }
  const [n, both] = [28, 56];
  const deviation = Math.sqrt(((n * n) / 12) * (both + 1 - ties / (both * (both - 1))));
  return { p: normalP((ranks - (n * (both + 1)) / 2) / (deviation || 1)) };
}

/** Difference in differences of logarithms against the sum of all others, with the variance of counting. */
function plainDifference({ page, others, day }: Asked): Said | undefined {
  const windows = (values: Float64Array): [number, number] => {
    const after = day + LENGTHS.settle;
    return [sum(values, day - LENGTHS.before, day), sum(values, after, after + LENGTHS.after)];
  };
  const [before, after] = windows(page);
  let [otherBefore, otherAfter] = [0, 0];
  for (const other of others) {
    const [b, a] = windows(other);
    otherBefore += b;
    otherAfter += a;
  }
  if (before < 30 || otherBefore === 0 || otherAfter === 0) return undefined;
  const effect = Math.log((after + 0.5) / (before + 0.5)) - Math.log(otherAfter / otherBefore);
  const deviation = Math.sqrt(1 / (before + 0.5) + 1 / (after + 0.5) + 1 / otherBefore + 1 / otherAfter);
  return { p: normalP(effect / deviation), interval: between(effect, 1.96 * deviation) };
}

const between = (effect: number, margin: number): readonly [number, number] => [
  Math.expm1(effect - margin),
  Math.expm1(effect + margin),
];

/**
 * A structural time series: a local level on the logarithm of the page's weekly share of the site, whose two variances are
 * fitted by maximum likelihood on the weeks before, and the prediction of the mean of the weeks after.
 */
function localLevel({ page, others, day }: Asked): Said | undefined {
  const weeks = LENGTHS.before / 7;
  const ahead = LENGTHS.after / 7;
  const common = (from: number): number => others.reduce((total, other) => total + sum(other, from, from + 7), 0);
  const share = (from: number): number => Math.log((sum(page, from, from + 7) + 0.5) / (common(from) + 0.5));
  if (sum(page, day - LENGTHS.before, day) < 30) return undefined;
  const before = Array.from({ length: weeks }, (_, week) => share(day - LENGTHS.before + 7 * week));
  const start = day + LENGTHS.settle;
  const after = Array.from({ length: ahead }, (_, week) => share(start + 7 * week));
  let best = { likelihood: Number.NEGATIVE_INFINITY, level: 0, variance: 0, noise: 0, step: 0 };
  for (const noise of [0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3]) {
    for (const step of [0, 0.0005, 0.002, 0.005, 0.01, 0.02, 0.05]) {
      let [level, variance, likelihood] = [before[0]!, noise, 0];
      for (const value of before.slice(1)) {
        const total = variance + step + noise;
        likelihood -= 0.5 * (Math.log(total) + (value - level) ** 2 / total);
        const gain = (variance + step) / total;
        level += gain * (value - level);
        variance = (1 - gain) * (variance + step);
      }
      if (likelihood > best.likelihood) best = { likelihood, level, variance, noise, step };
    }
  }
  const { level, variance, noise, step } = best;
  const effect = moments(after).mean - level;
  // Steps until the first week after, then those that its mean shares.
  const settled = 1 + LENGTHS.settle / 7;
  const steps = step * (settled + ((ahead - 1) * (2 * ahead - 1)) / (6 * ahead));
  const deviation = Math.sqrt(variance + steps + noise / ahead);
  return { p: normalP(effect / deviation), interval: between(effect, 1.96 * deviation) };
}

/** The method of the product. */
function placebos({ page, others, day }: Asked): Said | undefined {
  const units = [unitOf(page), ...others.map((other) => unitOf(other))];
  const stored = new Uint8Array(page.length).fill(1);
  const steps = estimate({ units, stored, day, lengths: LENGTHS });
  for (;;) {
    const { done, value } = steps.next();
    if (done !== true) continue;
    if (value.effect === null) return undefined;
    return { p: value.effect.p, interval: [value.effect.low, value.effect.high] };
  }
}

export const METHODS: Readonly<Record<string, Method>> = {
  'placebos (the product)': placebos,
  't-test': tTest,
  'Mann and Whitney': rankSum,
  'difference in differences': plainDifference,
  'local level': localLevel,
};
