import type { Random } from '../../../test/random.ts';

/** Weeks of a world: seven windows of four. */
export const WEEKS = 28;

/** Rows of one kind by week, oldest first: row · WEEKS + week. */
export interface WeekRows {
  readonly count: number;
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  /** Mean position of the week. */
  readonly position: Float64Array;
  readonly stratum: Uint8Array;
}

export interface World {
  readonly queries: WeekRows;
  readonly pages: WeekRows;
}

/** Impressions and positions by row and week, before clicks are drawn. */
export interface Shown {
  readonly count: number;
  readonly impressions: Float64Array;
  readonly position: Float64Array;
  /** What all demand is multiplied by in each week. */
  readonly common: Float64Array;
}

export const SIZES = { small: [40, 15], medium: [200, 60], large: [1000, 300] } as const;
export type Size = keyof typeof SIZES;

/** The CTR of worlds: smooth in position. */
export function ctrAt(position: number): number {
  if (position >= 10) return 0.028 * (position / 10) ** -1.5;
  const low = Math.floor(position);
  return CTR[low - 1]! * (CTR[low]! / CTR[low - 1]!) ** (Math.log(position / low) / Math.log((low + 1) / low));
}

/** At positions 1 to 10. */
const CTR = [0.319, 0.246, 0.185, 0.133, 0.095, 0.069, 0.052, 0.041, 0.033, 0.028];

/** How many of `trials` succeed. */
function binomial(draws: Random, trials: number, chance: number): number {
  const mean = trials * chance;
  if (mean <= 0) return 0;
  if (mean > 150) {
    const deviation = Math.sqrt(mean * (1 - chance));
    return Math.min(trials, Math.max(0, Math.round(mean + deviation * draws.normal())));
  }
  // Inversion.
  const odds = chance / (1 - chance);
  let term = (1 - chance) ** trials;
  let left = draws.uniform(0, 1) - term;
  let count = 0;
  while (left > 0 && count < trials) {
    term *= ((trials - count) / (count + 1)) * odds;
    count++;
    left -= term;
    if (term < 1e-300) break;
  }
  return count;
}

export interface Noise {
  /** Innovation of the logarithm of demand in a week, and how much of the week before stays. */
  readonly deviation: number;
  readonly memory: number;
  /** Whether all rows rise and fall together at times. */
  readonly steps: boolean;
  /** How much positions move in a week. */
  readonly moves: number;
}

/** Generated demand and positions of rows. */
export function generate(draws: Random, count: number, median: number, noise: Noise): Shown {
  const impressions = new Float64Array(count * WEEKS);
  const position = new Float64Array(count * WEEKS);
  const common = commonDemand(draws, noise);
  for (let row = 0; row < count; row++) {
    const size = median * Math.exp(1.3 * draws.normal());
    const at = 1 + Math.exp(1.1 + 0.9 * draws.normal());
    const stationary = noise.deviation / Math.sqrt(1 - noise.memory ** 2);
    let [level, shift] = [stationary * draws.normal(), noise.moves * draws.normal()];
    for (let week = 0; week < WEEKS; week++) {
      const cell = row * WEEKS + week;
      level = noise.memory * level + noise.deviation * draws.normal();
      shift = 0.7 * shift + noise.moves * Math.sqrt(1 - 0.49) * draws.normal();
      impressions[cell] = draws.poisson(size * common[week]! * Math.exp(level));
      position[cell] = Math.max(1, at * Math.exp(shift));
    }
  }
  return { count, impressions, position, common };
}

function commonDemand(draws: Random, { steps }: Noise): Float64Array {
  const common = new Float64Array(WEEKS).fill(1);
  if (!steps) return common;
  let level = 0;
  const phase = draws.uniform(0, 52);
  for (let week = 0; week < WEEKS; week++) {
    if (draws.uniform(0, 1) < 0.06) level += 0.35 * draws.normal();
    common[week] = Math.exp(level + 0.2 * Math.sin((2 * Math.PI * (week + phase)) / 52));
  }
  return common;
}

interface Clicking {
  /** How much the CTRs of rows differ for good, as the standard deviation of their logarithms. */
  readonly differ: number;
  /** The share of rows with a brand, which have 1.8 times the CTR. */
  readonly brand: number;
  /** What CTRs are multiplied by in each week. */
  readonly factor?: Float64Array;
}

/** Clicks drawn at the CTR of each position. */
export function draw(draws: Random, shown: Shown, { differ, brand, factor }: Clicking): WeekRows {
  const { count, impressions, position } = shown;
  const clicks = new Float64Array(count * WEEKS);
  const stratum = new Uint8Array(count);
  for (let row = 0; row < count; row++) {
    const own = Math.exp(differ * draws.normal() - differ ** 2 / 2);
    const branded = draws.uniform(0, 1) < brand;
    stratum[row] = branded ? 1 : 0;
    for (let cell = row * WEEKS; cell < (row + 1) * WEEKS; cell++) {
      const chance = Math.min(0.95, own * ctrAt(position[cell]!) * (branded ? 1.8 : 1) * (factor?.[cell] ?? 1));
      clicks[cell] = binomial(draws, impressions[cell]!, chance);
    }
  }
  return { count, clicks, impressions, position, stratum };
}
