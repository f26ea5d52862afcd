import { type Day, daysInMonth, lastDayOf, type Month, monthOf } from './dates.ts';
import { add, type ExactMeasures, type Fraction, type Measures, type Metrics, NOTHING, toMetrics } from './metrics.ts';
import type { Range } from './range.ts';

/** The part of a month's total for its days `first` to `last` (1-based), if the total is spread evenly. */
function partOfTotal(total: number, days: number, first: number, last: number): number {
  return upTo(total, days, last) - upTo(total, days, first - 1);
}

/** Whether a range contains only a part of a month that is stored as one total. */
export function hasPartOfMonth({ from, to }: Range, monthlyThrough: Day | null): boolean {
  if (monthlyThrough === null || from > monthlyThrough) return false;
  return !from.endsWith('-01') || (to < monthlyThrough && to !== lastDayOf(monthOf(to)));
}

/** floor(total * day / days) without leaving the safe integers. */
function upTo(total: number, days: number, day: number): number {
  const whole = Math.floor(total / days);
  return whole * day + Math.floor(((total - whole * days) * day) / days);
}

/**
 * Adds up measures of days and parts of months. A part of a month has the month's average position, so its share of the
 * position sum is a fraction, stored exactly.
 */
export class Total {
  #measures: Measures = NOTHING;
  #fraction: Fraction = { numerator: 0n, denominator: 1n };

  addDay(measures: Measures): void {
    this.#measures = add(this.#measures, measures);
  }

  /** Adds the days `first` to `last` (1-based) of a month's total. */
  addPartOfMonth(month: Month, total: Measures, first: number, last: number): void {
    const days = daysInMonth(month);
    const clicks = partOfTotal(total.clicks, days, first, last);
    const impressions = partOfTotal(total.impressions, days, first, last);
    if (impressions === total.impressions) {
      // Without impressions there is no position.
      this.addDay({ clicks, impressions, sumPosition: impressions === 0 ? 0 : total.sumPosition });
      return;
    }
    this.addDay({ clicks, impressions, sumPosition: 0 });
    const denominator = BigInt(total.impressions);
    this.#fraction = {
      numerator:
        this.#fraction.numerator * denominator +
        BigInt(total.sumPosition) * BigInt(impressions) * this.#fraction.denominator,
      denominator: this.#fraction.denominator * denominator,
    };
  }

  /** Whether the position sum is not a whole number. */
  get isSpread(): boolean {
    return this.#fraction.numerator !== 0n;
  }

  /** The position sum, rounded to a double. */
  get sumPosition(): number {
    const { numerator, denominator } = this.#fraction;
    return this.#measures.sumPosition + Number(numerator) / Number(denominator);
  }

  get measures(): ExactMeasures {
    return this.isSpread ? { ...this.#measures, fraction: this.#fraction } : this.#measures;
  }

  metrics(): Metrics {
    return toMetrics(this.measures);
  }
}
