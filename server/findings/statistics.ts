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

/** The logarithm of the gamma function for positive values: Stirling's series, shifted to where it converges. */
export function logGamma(value: number): number {
  let factor = 1;
  let at = value;
  while (at < 10) factor *= at++;
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / at;
  return (at - 0.5) * Math.log(at) - at + HALF_LOG_2PI + series - Math.log(factor);
}

const HALF_LOG_2PI = 0.5 * Math.log(2 * Math.PI);

/** The probability that Student's t with `df` degrees of freedom is at most `value`. */
export function studentBelow(value: number, df: number): number {
  const tail = 0.5 * incompleteBeta(df / (df + value * value), df / 2, 0.5);
  return value > 0 ? 1 - tail : tail;
}

/** The regularised incomplete beta function: a continued fraction, on the side on which it converges. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  // Lentz's method.
  let [c, d] = [1, 1 / nonZero(1 - ((a + b) * x) / (a + 1))];
  let total = d;
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    total *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    const factor = d * c;
    total *= factor;
    if (Math.abs(factor - 1) < 1e-14) break;
  }
  return front * total;
}

const nonZero = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);

/**
 * The step-up p of each test of a family (Benjamini and Hochberg): the smallest share of false findings at which it is
 * listed. The tests may come in several parts.
 */
export function stepUp(parts: readonly Float64Array[]): Float64Array[] {
  const count = parts.reduce((sum, part) => sum + part.length, 0);
  const p = new Float64Array(count);
  let filled = 0;
  for (const part of parts) {
    p.set(part, filled);
    filled += part.length;
  }
  // Those of 1 stay so and come last, and most p of rows that are shown are 1: they need no place.
  const order = Uint32Array.from(p.keys())
    .filter((test) => p[test]! < 1)
    .sort((a, b) => p[a]! - p[b]!);
  const adjusted = new Float64Array(count).fill(1);
  let least = 1;
  for (let rank = order.length; rank > 0; rank--) {
    const test = order[rank - 1]!;
    least = Math.min(least, (p[test]! * count) / rank);
    adjusted[test] = least;
  }
  let end = 0;
  return parts.map((part) => {
    end += part.length;
    return adjusted.subarray(end - part.length, end);
  });
}
