/** Bins of the logarithm of positions from 1 to 100. */
const BINS = 116;
const WIDTH = 0.04;
/** How far beside a position rows count, in the logarithm of positions, with weights that fall to zero there. */
const REACH = 0.4;
/** Curves are taken to fall like 1 / position, give or take: the precision of this as knowledge beforehand. */
const SLOPE = -1;
const SLOPE_PRECISION = 4;
/** The standard deviation of what slopes change by, for each unit of the logarithm of positions. */
const BEND = 1;
const ROUNDS = 6;

/** What the curve of the other rows expects of a row, and how sure it is. */
export interface Expected {
  ctr: number;
  /** The variance of the logarithm of `ctr` by chance alone. */
  variance: number;
  /** What is added to it for each unit of variance between rows: the fewer rows a curve rests on, the more. */
  perSpread: number;
}

/** A fitted line, and how the level follows from the sums that it solves. */
interface Line {
  readonly level: number;
  readonly slope: number;
  readonly tilt: number;
  readonly weight: number;
}

/**
 * CTR as a smooth function of position: at each position a line through the logarithms, fitted to rows near it as counts
 * (Poisson). Rows of many clicks count as their usual difference allows, so that no single one makes the curve.
 */
export class LocalCurve {
  readonly #clicks = new Float64Array(BINS);
  readonly #impressions = new Float64Array(BINS);
  readonly #chance = new Float64Array(BINS);
  readonly #squares = new Float64Array(BINS);
  /** Sums of the logarithms of positions, by impressions. */
  readonly #logs = new Float64Array(BINS);
  /** The mean x of each bin and e to the minus of it, unless the bin has changed since. */
  readonly #mean = new Float64Array(BINS);
  readonly #falling = new Float64Array(BINS);
  readonly #isKnown = new Uint8Array(BINS);
  // The bins near a position, while a line is fitted to them; rates are those of a curve like 1 / position.
  readonly #near = new Int32Array(BINS);
  readonly #x = new Float64Array(BINS);
  readonly #kernel = new Float64Array(BINS);
  readonly #rate = new Float64Array(BINS);

  /** Adds a row, or a part of it. @param weight of the row: what it tells beside its clicks, in [0, 1] */
  add(position: number, clicks: number, impressions: number, weight: number): void {
    const x = Math.log(Math.max(1, position));
    const bin = Math.min(BINS - 1, Math.floor(x / WIDTH));
    this.#clicks[bin]! += weight * clicks;
    this.#impressions[bin]! += weight * impressions;
    this.#logs[bin]! += weight * impressions * x;
    this.#chance[bin]! += weight * weight * impressions;
    this.#squares[bin]! += Math.sign(impressions) * (weight * impressions) ** 2;
    this.#isKnown[bin] = 0;
  }

  /** Takes away what was added. */
  remove(position: number, clicks: number, impressions: number, weight: number): void {
    this.add(position, -clicks, -impressions, weight);
  }

  /** Fits the curve at a position. Returns false if there are no rows near it. */
  expect(position: number, into: Expected): boolean {
    const at = Math.log(Math.max(1, position));
    const count = this.#look(at);
    let clicks = 0;
    let impressions = 0;
    for (let i = 0; i < count; i++) {
      const bin = this.#near[i]!;
      clicks += this.#kernel[i]! * this.#clicks[bin]!;
      impressions += this.#kernel[i]! * this.#impressions[bin]! * this.#rate[i]!;
    }
    if (clicks < 1e-6 || impressions <= 0) return false;
    let level = Math.log(clicks / impressions);
    let slope = SLOPE;
    let a = 0;
    let b = 0;
    let c = 0;
    for (let round = 0; round < ROUNDS; round++) {
      let u = 0;
      let v = -SLOPE_PRECISION * (slope - SLOPE);
      a = 1e-12;
      b = 0;
      c = SLOPE_PRECISION;
      const height = Math.exp(level);
      for (let i = 0; i < count; i++) {
        const bin = this.#near[i]!;
        const x = this.#x[i]!;
        const rate = slope === SLOPE ? height * this.#rate[i]! : Math.exp(level + slope * x);
        const mean = this.#kernel[i]! * this.#impressions[bin]! * rate;
        const left = this.#kernel[i]! * this.#clicks[bin]! - mean;
        u += left;
        v += left * x;
        a += mean;
        b += mean * x;
        c += mean * x * x;
      }
      const determinant = a * c - b * b;
      const change = (c * u - b * v) / determinant;
      level += Math.max(-1, Math.min(1, change));
      slope += Math.max(-1, Math.min(1, (a * v - b * u) / determinant));
      if (Math.abs(change) < 1e-4) break;
    }
    this.#doubt(count, { level, slope, tilt: b / (a * c - b * b), weight: c / (a * c - b * b) }, into);
    into.ctr = Math.exp(level);
    return true;
  }

  /** Finds the bins near a position. */
  #look(at: number): number {
    const from = Math.max(0, Math.floor((at - REACH) / WIDTH));
    const to = Math.min(BINS - 1, Math.floor((at + REACH) / WIDTH));
    const nearness = Math.exp(-SLOPE * at);
    let count = 0;
    for (let bin = from; bin <= to; bin++) {
      const impressions = this.#impressions[bin]!;
      if (impressions < 1e-6) continue;
      if (this.#isKnown[bin] === 0) {
        this.#mean[bin] = this.#logs[bin]! / impressions;
        this.#falling[bin] = Math.exp(SLOPE * this.#mean[bin]!);
        this.#isKnown[bin] = 1;
      }
      const x = this.#mean[bin]! - at;
      const left = 1 - (x / REACH) ** 2;
      if (left <= 0) continue;
      this.#near[count] = bin;
      this.#x[count] = x;
      this.#kernel[count] = left * left;
      this.#rate[count] = this.#falling[bin]! * nearness;
      count++;
    }
    return count;
  }

  /**
   * The variance of the level: what chance and the differences between rows add to the sums that it solves; and what a line
   * misses by a bend of the curve, or by another slope than the one that is taken beforehand.
   */
  #doubt(count: number, { level, slope, tilt, weight }: Line, into: Expected): void {
    let chance = 0;
    let spread = 0;
    let bend = 0;
    for (let i = 0; i < count; i++) {
      const bin = this.#near[i]!;
      const x = this.#x[i]!;
      const rate = Math.exp(level + slope * x);
      const factor = this.#kernel[i]! * (weight - tilt * x);
      chance += factor * factor * rate * this.#chance[bin]!;
      spread += factor * factor * rate * rate * this.#squares[bin]!;
      bend += (BEND / 2) * factor * this.#impressions[bin]! * rate * x * x;
    }
    into.variance = chance + SLOPE_PRECISION * tilt * tilt + bend * bend;
    into.perSpread = spread;
  }
}
