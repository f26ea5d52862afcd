import { ageOf, fallingSince, type KindRows, type RowFinding, type RowTests, SURE } from './finding.ts';
import { DECAY_WEEKS, type RowGrids } from './grids.ts';
import { studentBelow } from './statistics.ts';

export interface DecayTests {
  readonly rows: Uint32Array;
  readonly p: Float64Array;
  /** The weekly change of the logarithm of the share, and its standard error. */
  readonly slope: Float64Array;
  readonly error: Float64Array;
}

/** Clicks that a page must have in all weeks together, and pages that are needed to know the usual noise. */
const LEAST_CLICKS = 260;
const LEAST_PAGES = 5;
/** Residuals beyond so many standard deviations count as these. */
const CUT = 2.5;
/** What the noise of a page counts against that of all pages, in degrees of freedom. */
const COMMON_FREEDOM = 16;
const W = DECAY_WEEKS;
const MIDDLE = (W - 1) / 2;
const SQUARES = (W * (W * W - 1)) / 12;

/** Tests which pages lose clicks against the rest of the site for months. `weeks`: by page, then week, oldest first. */
export function* testDecay(weeks: Float64Array): Generator<void, DecayTests | null> {
  const rows = testedPages(weeks);
  if (rows.length < LEAST_PAGES) return null;
  const totals = new Float64Array(W);
  for (let at = 0; at < weeks.length; at++) totals[at % W]! += weeks[at]!;
  const count = rows.length;
  const residuals = new Float64Array(count * W);
  const slopes = new Float64Array(count);
  const chance = new Float64Array(count);
  const series = new Float64Array(W);
  for (let at = 0; at < count; at++) {
    const offset = rows[at]! * W;
    let sum = 0;
    for (let week = 0; week < W; week++) {
      const value = weeks[offset + week]!;
      series[week] = Math.log((value + 0.5) / (totals[week]! - value + 0.5));
      sum += value;
    }
    chance[at] = W / sum;
    slopes[at] = robustLine(series, residuals.subarray(at * W, at * W + W));
    if (at % 8 === 0) yield;
  }
  const noise = commonNoise(residuals, chance);
  yield;
  const z = new Float64Array(count);
  const error = new Float64Array(count);
  const freedom = ((W - 2) * (1 - noise.memory)) / (1 + noise.memory);
  for (let at = 0; at < count; at++) {
    let value = 0;
    for (let week = 0; week < W; week++) value += residuals[at * W + week]! ** 2;
    const usual = (W - 2) * chance[at]! + noise.variance * residualSum(noise.memory);
    const factor = (COMMON_FREEDOM + (freedom * value) / usual) / (COMMON_FREEDOM + freedom);
    error[at] = Math.sqrt(factor * (chance[at]! / SQUARES + noise.variance * slopeVariance(noise.memory)));
  }
  const middle = count >= 10 ? median(slopes) : 0;
  for (let at = 0; at < count; at++) z[at] = (slopes[at]! - middle) / error[at]!;
  const scale = Math.max(1, huberScale(z));
  const p = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    error[at]! *= scale;
    p[at] = studentBelow(z[at]! / scale, COMMON_FREEDOM + freedom);
  }
  return { rows, p, slope: slopes.map((slope) => slope - middle), error };
}

function testedPages(weeks: Float64Array): Uint32Array {
  const found: number[] = [];
  for (let row = 0; row * W < weeks.length; row++) {
    let sum = 0;
    for (let week = 0; week < W; week++) sum += weeks[row * W + week]!;
    if (sum >= LEAST_CLICKS) found.push(row);
  }
  return Uint32Array.from(found);
}

/**
 * The slope of a line through a series, with weeks far off drawn to it (Huber). `residuals`: set to those of the line.
 */
function robustLine(series: Float64Array, residuals: Float64Array): number {
  const fitted = series.slice();
  let [slope, level] = fitLine(fitted);
  for (let round = 0; round < 5; round++) {
    for (let week = 0; week < W; week++) residuals[week] = Math.abs(series[week]! - level - slope * (week - MIDDLE));
    const cut = (CUT * median(residuals)) / 0.6745;
    for (let week = 0; week < W; week++) {
      const line = level + slope * (week - MIDDLE);
      fitted[week] = line + Math.max(-cut, Math.min(cut, series[week]! - line));
    }
    [slope, level] = fitLine(fitted);
  }
  for (let week = 0; week < W; week++) residuals[week] = fitted[week]! - level - slope * (week - MIDDLE);
  return slope;
}

function fitLine(series: Float64Array): [slope: number, level: number] {
  let [sum, cross] = [0, 0];
  for (let week = 0; week < W; week++) {
    sum += series[week]!;
    cross += (week - MIDDLE) * series[week]!;
  }
  return [cross / SQUARES, sum / W];
}

interface Noise {
  /** The variance of a week beyond chance, and its correlation with the week before. */
  readonly variance: number;
  readonly memory: number;
}

/** The noise of all pages, from the squares and the products of neighbours of their residuals. */
function commonNoise(residuals: Float64Array, chance: Float64Array): Noise {
  let [squares, products, weights, chanceSquares, chanceProducts] = [0, 0, 0, 0, 0];
  const still = momentsOf(0);
  for (let page = 0; page < chance.length; page++) {
    const weight = 1 / (chance[page]! + 0.01) ** 2;
    let [square, product] = [0, 0];
    for (let week = 0; week < W; week++) {
      const value = residuals[page * W + week]!;
      square += value * value;
      if (week > 0) product += value * residuals[page * W + week - 1]!;
    }
    squares += weight * square;
    products += weight * product;
    weights += weight;
    chanceSquares += weight * chance[page]! * still.squares;
    chanceProducts += weight * chance[page]! * still.products;
  }
  const [square, product] = [(squares - chanceSquares) / weights, (products - chanceProducts) / weights];
  if (square <= 0) return { variance: 0, memory: 0 };
  const memory = memoryOf(product / square);
  return { variance: square / momentsOf(memory).squares, memory };
}

/** The memory, of 0 to 0.95 in steps of 0.01, that explains so much product of neighbours for each square. */
function memoryOf(ratio: number): number {
  let [low, high] = [0, 95];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { products, squares } = momentsOf((middle + 1) / 100);
    if (products / squares < ratio) low = middle + 1;
    else high = middle;
  }
  return low / 100;
}

const known = new Map<number, { squares: number; products: number; slope: number }>();

/** What residuals of a line through noise with a memory are expected to be, for each unit of its variance. */
function momentsOf(memory: number): { squares: number; products: number; slope: number } {
  const key = Math.round(memory * 100);
  const found = known.get(key);
  if (found !== undefined) return found;
  // M·R·M, with M taking a line away and R the correlations.
  const rho = key / 100;
  const cut = (i: number, j: number) => (i === j ? 1 : 0) - 1 / W - ((i - MIDDLE) * (j - MIDDLE)) / SQUARES;
  let [squares, products, slope] = [0, 0, 0];
  const left = Array.from({ length: W }, (_, i) =>
    Array.from({ length: W }, (_, k) => {
      let sum = 0;
      for (let j = 0; j < W; j++) sum += cut(i, j) * rho ** Math.abs(j - k);
      return sum;
    }),
  );
  for (let i = 0; i < W; i++) {
    for (let k = 0; k < W; k++) {
      squares += left[i]![k]! * cut(k, i);
      if (i > 0) products += left[i]![k]! * cut(k, i - 1);
      slope += ((i - MIDDLE) * (k - MIDDLE) * rho ** Math.abs(i - k)) / SQUARES ** 2;
    }
  }
  const moments = { squares, products, slope };
  known.set(key, moments);
  return moments;
}

const residualSum = (memory: number): number => momentsOf(memory).squares;
const slopeVariance = (memory: number): number => momentsOf(memory).slope;

function median(values: Float64Array): number {
  const sorted = values.toSorted();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A standard deviation to which values beyond 1.5 of it add no more (Huber's proposal 2). */
function huberScale(values: Float64Array): number {
  // The mean of min(z², 1.5²) of a normal distribution.
  const usual = 0.7785;
  let scale = Math.max(1e-9, median(values.map(Math.abs)) / 0.6745);
  for (let round = 0; round < 30; round++) {
    let sum = 0;
    for (const value of values) sum += Math.min(2.25, (value / scale) ** 2);
    scale *= Math.sqrt(sum / values.length / usual);
  }
  return scale;
}

/** The findings of tests of decay. A gain is what the page would have with its share of 26 weeks ago. */
export function decayTests({ kind, grids }: KindRows, tests: DecayTests): RowTests {
  const all = grids.weekTotals();
  const weeks = Math.min(DECAY_WEEKS, grids.size.days / 7);
  // From the first week to the middle of the range.
  const elapsed = DECAY_WEEKS - 0.5 - weeks / 2;
  const findingOf = (at: number): RowFinding => {
    const row = tests.rows[at]!;
    const { clicks } = grids.totals(row);
    const [slope, error] = [tests.slope[at]!, tests.error[at]!];
    const back = (change: number): number => clicks * (Math.exp(-change * elapsed) - 1);
    return {
      type: 'decaying_page',
      kind,
      row,
      evidence: { clicks, weeklyChange: Math.exp(slope) - 1, change: Math.exp(slope * (DECAY_WEEKS - 1)) - 1 },
      gain: { clicks: back(slope), low: back(slope + SURE * error), high: back(slope - SURE * error) },
      p: tests.p[at]!,
      sinceAge: tests.p[at]! < 0.05 ? ageOf(fallingSince(sharesOf(grids, row, all)), DECAY_WEEKS) : null,
    };
  };
  return { p: tests.p, findingOf };
}

/** The logarithms of a page's odds against all others, by week. */
function sharesOf({ weekClicks }: RowGrids, row: number, all: Float64Array): Float64Array {
  return all.map((total, week) => {
    const count = weekClicks[row * DECAY_WEEKS + week]!;
    return Math.log((count + 0.5) / (total - count + 0.5));
  });
}
