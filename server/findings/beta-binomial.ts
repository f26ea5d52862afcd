import { logGamma } from './probability.ts';

/** The spreads that are told apart, each √2 times the one before: from 1 % to 128 %. */
export const SPREADS = Float64Array.from({ length: 15 }, (_, k) => 0.01 * 2 ** (k / 2));
/** A beta distribution has no larger one. */
const MOST_SPREAD = 1.9;
/** Larger counts are scaled down: what they tell beyond is less than the spread, and sums stay short. */
const MOST = 5000;

/** A count and its trials as they are used: scaled down together where `largest`, one of them, is large. */
export function bounded(count: number, trials: number, largest: number): readonly [number, number] {
  if (largest <= MOST) return [count, trials];
  return [Math.round((count * MOST) / largest), Math.round((trials * MOST) / largest)];
}

/**
 * Counts whose chance is drawn from a beta distribution around a mean, for several spreads: the variance of the chance is
 * spread² · mean² · (1 − mean)², so that a spread is about the standard deviation of the logarithm of the odds.
 */
export class BetaBinomials {
  readonly #a: Float64Array;
  readonly #b: Float64Array;
  readonly #constant: Float64Array;

  /** @param spreads how many there are */
  constructor(spreads: number) {
    this.#a = new Float64Array(spreads);
    this.#b = new Float64Array(spreads);
    this.#constant = new Float64Array(spreads);
  }

  /** @param mean in (0, 1) @param spreadOf each spread, above 0 */
  set(mean: number, spreadOf: (k: number) => number): this {
    for (let k = 0; k < this.#a.length; k++) {
      const size = 1 / (Math.min(MOST_SPREAD, spreadOf(k)) ** 2 * mean * (1 - mean)) - 1;
      this.#a[k] = mean * size;
      this.#b[k] = (1 - mean) * size;
      this.#constant[k] = logGamma(size) - logGamma(this.#a[k]!) - logGamma(this.#b[k]!);
    }
    return this;
  }

  /** The probability of a count with each spread. */
  probabilities(count: number, trials: number, into: Float64Array): void {
    const choices = logChoices(count, trials);
    for (let k = 0; k < this.#a.length; k++) into[k] = Math.exp(choices + this.#logOf(k, count, trials));
  }

  /** The two-sided mid-p of a count, if spreads have these weights: half of the probability of the count is on either side. */
  twoSided(count: number, trials: number, weights: Float64Array): number {
    const choices = logChoices(count, trials);
    let below = 0;
    let above = 0;
    for (let k = 0; k < weights.length; k++) {
      const weight = weights[k]!;
      if (weight < LEAST_WEIGHT) continue;
      const at = Math.exp(choices + this.#logOf(k, count, trials));
      const a = this.#a[k]!;
      const b = this.#b[k]!;
      // The sum goes away from the mean, where terms get smaller; the other side is what is left.
      const isLow = count * b <= (trials - count) * a;
      const beyond =
        (isLow ? downwards(at, count, trials, a, b) : downwards(at, trials - count, trials, b, a)) + at / 2;
      const rest = Math.max(at / 2, 1 - beyond);
      below += weight * (isLow ? beyond : rest);
      above += weight * (isLow ? rest : beyond);
    }
    return Math.min(1, 2 * Math.min(below, above));
  }

  #logOf(k: number, count: number, trials: number): number {
    const a = this.#a[k]!;
    const b = this.#b[k]!;
    return logGamma(count + a) + logGamma(trials - count + b) - logGamma(trials + a + b) + this.#constant[k]!;
  }
}

/** Spreads that are less probable are left out. */
const LEAST_WEIGHT = 1e-7;

function logChoices(count: number, trials: number): number {
  return logGamma(trials + 1) - logGamma(count + 1) - logGamma(trials - count + 1);
}

/** The probability of fewer than `count`. @param at that of `count` */
function downwards(at: number, count: number, trials: number, a: number, b: number): number {
  const isFalling = a >= 1 && b >= 1;
  let term = at;
  let total = 0;
  for (let k = count; k > 0; k--) {
    term *= (k * (trials - k + b)) / ((trials - k + 1) * (k - 1 + a));
    total += term;
    if (isFalling && term < total * 1e-12) break;
  }
  return Math.min(1, total);
}

/** What logarithms of likelihoods make of their choices, all equally likely beforehand. */
export function posterior(logs: Float64Array, into: Float64Array): void {
  const most = logs.reduce((a, b) => Math.max(a, b));
  let sum = 0;
  for (let k = 0; k < logs.length; k++) sum += into[k] = Math.exp(logs[k]! - most);
  for (let k = 0; k < logs.length; k++) into[k]! /= sum;
}
