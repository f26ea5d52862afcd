// Distributions and fits of docs/decisions/findings.md in plain numbers, with no code of the server.

export const LEVELS = Array.from({ length: 15 }, (_, k) => 0.01 * 2 ** (k / 2));
const MOST_COUNT = 5000;

export const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);
export const middle = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return (sorted[Math.floor(half)]! + sorted[Math.ceil(half)]!) / 2;
};

/** ln Γ by Stirling's series, far out where its first terms are enough. */
function lnGamma(value: number): number {
  let [at, shift] = [value, 0];
  for (; at < 30; at++) shift += Math.log(at);
  const square = at * at;
  const series = 1 / (12 * at) - 1 / (360 * at * square) + 1 / (1260 * at * square * square);
  return (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series - shift;
}
const lnBeta = (a: number, b: number): number => lnGamma(a) + lnGamma(b) - lnGamma(a + b);

/** A count and its trials, scaled down together if `largest` is beyond 5,000. */
export function scaled(count: number, trials: number, largest: number): [number, number] {
  if (largest <= MOST_COUNT) return [count, trials];
  return [Math.round((count / largest) * MOST_COUNT), Math.round((trials / largest) * MOST_COUNT)];
}

function shapeOf(mean: number, spread: number): [number, number] {
  const capped = Math.min(1.9, spread);
  const size = 1 / (capped * capped * mean * (1 - mean)) - 1;
  return [mean * size, (1 - mean) * size];
}

/** The beta-binomial probability of a count. */
export function probability([count, trials]: readonly [number, number], mean: number, spread: number): number {
  const [a, b] = shapeOf(mean, spread);
  const choices = -Math.log(trials + 1) - lnBeta(count + 1, trials - count + 1);
  return Math.exp(choices + lnBeta(count + a, trials - count + b) - lnBeta(a, b));
}

/** The two-sided mid-p of a count, if spreads have these weights. */
export function twoSided(
  [count, trials]: readonly [number, number],
  mean: number,
  spreads: readonly number[],
  weights: readonly number[],
): number {
  const sides = [0, 0];
  for (const [k, spread] of spreads.entries()) {
    if (weights[k]! < 1e-7) continue;
    const [a, b] = shapeOf(mean, spread);
    const own = probability([count, trials], mean, spread);
    const isLow = count * b <= (trials - count) * a;
    // Each further count on the side away from the mean, by its ratio to the one before.
    const [from, p, q] = isLow ? [count, a, b] : [trials - count, b, a];
    let [term, beyond] = [own, own / 2];
    for (let j = from; j >= 1 && term > 0; j--) {
      term *= (j / (trials - j + 1)) * ((trials - j + q) / (j - 1 + p));
      beyond += term;
    }
    beyond = Math.min(beyond, 1 + own / 2);
    const other = Math.max(own / 2, 1 - beyond);
    sides[0]! += weights[k]! * (isLow ? beyond : other);
    sides[1]! += weights[k]! * (isLow ? other : beyond);
  }
  return Math.min(1, 2 * Math.min(...sides));
}

/** What logarithms of likelihoods make of choices that are equally likely beforehand. */
export function shares(logs: readonly number[]): number[] {
  const most = Math.max(...logs);
  const each = logs.map((log) => Math.exp(log - most));
  return each.map((one) => one / total(each));
}

/** The probability that Student's t is below a value, by the series of the incomplete beta function. */
export function studentBelow(value: number, df: number): number {
  const half = incomplete(df / (df + value * value), df / 2, 0.5) / 2;
  return value > 0 ? 1 - half : half;
}

function incomplete(x: number, a: number, b: number): number {
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete(1 - x, b, a);
  if (x <= 0) return 0;
  let [sum, term] = [1, 1];
  for (let j = 0; j < 100_000 && term > sum * 1e-17; j++) {
    term *= ((a + b + j) / (a + 1 + j)) * x;
    sum += term;
  }
  return (Math.exp(a * Math.log(x) + b * Math.log(1 - x) - lnBeta(a, b)) / a) * sum;
}

/** The step-up p of all tests of a family. */
export function stepUp(p: readonly number[]): number[] {
  const sorted = [...p].sort((a, b) => a - b);
  const at = (rank: number): number => Math.min(1, (sorted[rank]! * p.length) / (rank + 1));
  const least: number[] = [];
  for (let rank = p.length - 1; rank >= 0; rank--) least[rank] = Math.min(at(rank), least[rank + 1] ?? 1);
  return p.map((one) => least[sorted.lastIndexOf(one)]!);
}

/** A part of a row: clicks, impressions and position of a week. */
export interface Part {
  readonly clicks: number;
  readonly shown: number;
  readonly position: number;
}
/** What a curve expects at a position, its variance by chance, and what is added for each unit between rows. */
export interface Expectation {
  readonly ctr: number;
  readonly chance: number;
  readonly perSpread: number;
}

const lnPosition = (position: number): number => Math.log(Math.max(1, position));

/** The curve through weighted parts at a position; null if none is near. */
export function curveAt(
  parts: readonly (readonly [part: Part, weight: number])[],
  position: number,
): Expectation | null {
  const bins = new Map<number, { c: number; n: number; x: number; q: number; s: number }>();
  for (const [{ clicks, shown, position: of }, w] of parts) {
    const bin = Math.min(115, Math.floor(lnPosition(of) / 0.04));
    const sums = bins.get(bin) ?? { c: 0, n: 0, x: 0, q: 0, s: 0 };
    sums.c += w * clicks;
    sums.n += w * shown;
    sums.x += w * shown * lnPosition(of);
    sums.q += w * w * shown;
    sums.s += w * w * shown * shown;
    bins.set(bin, sums);
  }
  const near = [...bins.entries()]
    .sort(([a], [b]) => a - b)
    .filter(([, { n }]) => n >= 1e-6)
    .map(([, sums]) => ({ ...sums, d: sums.x / sums.n - lnPosition(position) }))
    .filter(({ d }) => Math.abs(d) < 0.4)
    .map((sums) => ({ ...sums, K: (1 - (sums.d / 0.4) ** 2) ** 2 }));
  const clicks = total(near.map(({ K, c }) => K * c));
  if (clicks < 1e-6) return null;
  let [alpha, beta] = [Math.log(clicks / total(near.map(({ K, n, d }) => K * n * Math.exp(-d)))), -1];
  let matrix = [0, 0, 0];
  for (let round = 0; round < 6; round++) {
    const rates = near.map(({ n, d }) => n * Math.exp(alpha + beta * d));
    const sum = (of: (bin: (typeof near)[number], rate: number) => number): number =>
      total(near.map((bin, at) => of(bin, rates[at]!)));
    const u = sum(({ K, c }, rate) => K * (c - rate));
    const v = sum(({ K, c, d }, rate) => K * (c - rate) * d) - 4 * (beta + 1);
    matrix = [
      sum(({ K }, rate) => K * rate) + 1e-12,
      sum(({ K, d }, rate) => K * rate * d),
      sum(({ K, d }, rate) => K * rate * d * d) + 4,
    ];
    const [a, b, c] = matrix as [number, number, number];
    const change = (c * u - b * v) / (a * c - b * b);
    const turn = (a * v - b * u) / (a * c - b * b);
    alpha += Math.min(1, Math.max(-1, change));
    beta += Math.min(1, Math.max(-1, turn));
    if (Math.abs(change) < 1e-4) break;
  }
  const [a, b, c] = matrix as [number, number, number];
  const det = a * c - b * b;
  let [chance, perSpread, bend] = [4 * (b / det) ** 2, 0, 0];
  for (const { K, n, q, s, d } of near) {
    const rate = Math.exp(alpha + beta * d);
    const g = (K * (c - b * d)) / det;
    chance += g * g * rate * q;
    perSpread += g * g * rate * rate * s;
    bend += 0.5 * g * n * rate * d * d;
  }
  return { ctr: Math.exp(alpha), chance: chance + bend * bend, perSpread };
}

/** The first week of the newest state of counts, if a split of the weeks is likelier than chance. */
export function changedSince(counts: readonly number[], expected: readonly number[]): number | null {
  const part = (count: number, of: number): number => (count === 0 || of === 0 ? 0 : count * Math.log(count / of));
  const [all, usual] = [total(counts), total(expected)];
  if (all === 0 || usual === 0) return null;
  let [found, most]: [number | null, number] = [null, 3];
  for (let week = 1; week < counts.length; week++) {
    const [before, of] = [total(counts.slice(0, week)), total(expected.slice(0, week))];
    const ratio = part(before, (all * of) / usual) + part(all - before, (all * (usual - of)) / usual);
    if (ratio > most) [found, most] = [week, ratio];
  }
  return found;
}

/** The week at which a line that is flat before fits best. */
export function bentAt(series: readonly number[]): number {
  let [found, least] = [0, Number.POSITIVE_INFINITY];
  for (let bend = 0; bend <= series.length - 6; bend++) {
    const x = series.map((_, week) => Math.max(0, week - bend));
    const [mx, my] = [total(x) / x.length, total(series) / x.length];
    const slope = total(x.map((one, at) => (one - mx) * (series[at]! - my))) / total(x.map((one) => (one - mx) ** 2));
    const left = total(x.map((one, at) => (series[at]! - my - slope * (one - mx)) ** 2));
    if (left < least - 1e-12) [found, least] = [bend, left];
  }
  return found;
}
