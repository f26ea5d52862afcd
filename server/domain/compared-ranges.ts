import { Comparer, type UnsafeReason } from './comparison.ts';
import { addDays, type Day, eachDay } from './dates.ts';
import type { Bucket } from './intervals.ts';
import { metricsWithEvents, type ProviderEvent } from './provider-events.ts';
import type { Range } from './range.ts';
import { hasPartOfMonth } from './spread.ts';

/** What is known of the days that measures were added up from. */
export interface DayReasons {
  /** Why a day makes comparisons unsafe. */
  reasonsOn(day: Day): readonly UnsafeReason[];
  /** Up to this day there are totals of months only; null where all days are stored as such. */
  readonly monthlyThrough?: Day | null;
}

/** Two ranges that are compared: as a whole, and day by day, counted from the start of each. */
export class ComparedRanges {
  readonly base: Range;
  /** For totals over the ranges. */
  readonly total: Comparer;
  readonly #now: Range;
  readonly #days: { readonly now: readonly DayMark[]; readonly base: readonly DayMark[] };
  readonly #monthlyThrough: Day | null;
  readonly #device: ProviderEvent['device'];
  readonly #hasEvents: boolean;
  readonly #comparers = new Map<string, Comparer>();

  /**
   * @param now the range of the answer
   * @param base the other one
   * @param device of the rows; null for all together
   */
  constructor(now: Range, base: Range, days: DayReasons, device: ProviderEvent['device']) {
    const marks = ({ from, to }: Range): DayMark[] => eachDay(from, to).map((day) => days.reasonsOn(day));
    this.#now = now;
    this.base = base;
    this.#days = { now: marks(now), base: marks(base) };
    this.#monthlyThrough = days.monthlyThrough ?? null;
    this.#device = device;
    this.#hasEvents = metricsWithEvents([now, base], device).size > 0;
    this.total = this.#comparer([...this.#days.now, ...this.#days.base], now, base);
  }

  /** For the rows of a device. */
  ofDevice(device: ProviderEvent['device']): Comparer {
    const common = new Set([...this.#days.now, ...this.#days.base].flat());
    return new Comparer(common, metricsWithEvents([this.#now, this.base], device));
  }

  /** The days of the other range that a part of this one is compared with; null where it has none. */
  counterpart({ first, last }: Bucket): Range | null {
    const end = Math.min(last, this.#days.base.length - 1);
    return first > end ? null : { from: addDays(this.base.from, first), to: addDays(this.base.from, end) };
  }

  /** For a part of the range. */
  part(bucket: Bucket): Comparer {
    const { first, last } = bucket;
    const base = this.#days.base.slice(first, last + 1);
    const marks = [...this.#days.now.slice(first, last + 1), ...base];
    // The other range has fewer days.
    if (base.length < last + 1 - first) marks.push(['missing_days']);
    return this.#comparer(marks, bucket, this.counterpart(bucket));
  }

  #comparer(marks: readonly DayMark[], now: Range, base: Range | null): Comparer {
    const common = new Set(marks.flat());
    if ([now, base].some((range) => range !== null && hasPartOfMonth(range, this.#monthlyThrough))) {
      common.add('monthly_spread');
    }
    const events = this.#hasEvents && base !== null ? metricsWithEvents([now, base], this.#device) : new Set<never>();
    // Comparers are shared by rows with the same reasons.
    const key = [...common, '', ...events].join();
    const comparer = this.#comparers.get(key) ?? new Comparer(common, events);
    this.#comparers.set(key, comparer);
    return comparer;
  }
}

/** Why a day makes comparisons unsafe; mostly nothing. */
type DayMark = readonly UnsafeReason[];
