import type { Measures } from './metrics.ts';

/** Positions from here on share one CTR. */
const LAST_POSITION = 60;
/** Impressions at the mean CTR that count for each position besides the rows, so that few impressions bend nothing. */
const PRIOR_IMPRESSIONS = 50;

/** The average position of a row with impressions, from 1; not rounded. */
export function positionOf({ impressions, sumPosition }: Measures): number {
  return sumPosition / impressions + 1;
}

/** Clicks and impressions of rows by their rounded average position. */
export class PositionSums {
  /** By position; index 0 is unused. */
  readonly clicks = new Float64Array(LAST_POSITION + 1);
  readonly impressions = new Float64Array(LAST_POSITION + 1);

  /** Adds a row with impressions; halves of positions are rounded up. */
  add(row: Measures): void {
    this.#addTimes(row, 1);
  }

  /** Takes out a row that was added. */
  remove(row: Measures): void {
    this.#addTimes(row, -1);
  }

  #addTimes(row: Measures, times: 1 | -1): void {
    const at = Math.min(LAST_POSITION, Math.round(positionOf(row)));
    this.clicks[at]! += times * row.clicks;
    this.impressions[at]! += times * row.impressions;
  }
}

/** The CTR that rows of a property have at a position: it never rises with the position. */
export class CtrCurve {
  /** By position; index 0 is unused. */
  readonly #ctr: Float64Array;

  /**
   * Each position has the CTR of its rows together with 50 impressions at the mean CTR. Where CTR rises from one position
   * to the next, both get their common CTR, until it rises nowhere (isotonic regression by pooling adjacent violators,
   * weighted with impressions). Without clicks it is zero everywhere.
   */
  constructor(sums: PositionSums) {
    const mean = ratio(total(sums.clicks), total(sums.impressions));
    const pools: Pool[] = [];
    for (let position = 1; position <= LAST_POSITION; position++) {
      let pool: Pool = {
        clicks: sums.clicks[position]! + PRIOR_IMPRESSIONS * mean,
        impressions: sums.impressions[position]! + PRIOR_IMPRESSIONS,
        positions: 1,
      };
      for (let last = pools.at(-1); last !== undefined && ctrOf(last) < ctrOf(pool); last = pools.at(-1)) {
        pool = pooled(last, pool);
        pools.pop();
      }
      pools.push(pool);
    }
    this.#ctr = Float64Array.from([0, ...pools.flatMap((pool) => Array<number>(pool.positions).fill(ctrOf(pool)))]);
  }

  /** The CTR at an average position of at least 1: linear between whole positions, and constant from 60 on. */
  at(position: number): number {
    const whole = Math.min(LAST_POSITION, Math.floor(position));
    const ctr = this.#ctr[whole]!;
    return whole === LAST_POSITION ? ctr : ctr + (position - whole) * (this.#ctr[whole + 1]! - ctr);
  }
}

/** Neighbouring positions with a common CTR. */
interface Pool {
  readonly clicks: number;
  readonly impressions: number;
  readonly positions: number;
}

function pooled(a: Pool, b: Pool): Pool {
  return {
    clicks: a.clicks + b.clicks,
    impressions: a.impressions + b.impressions,
    positions: a.positions + b.positions,
  };
}

function ctrOf({ clicks, impressions }: Pool): number {
  return clicks / impressions;
}

function total(numbers: Float64Array): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
