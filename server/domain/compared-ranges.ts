import { Comparer, type UnsafeReason } from './comparison.ts';
import { addDays, type Day, eachDay, earlier } from './dates.ts';
import type { Bucket } from './intervals.ts';
import { metricsWithEvents, type ProviderEvent } from './provider-events.ts';
import type { Range } from './range.ts';
import { hasPartOfMonth } from './spread.ts';

/** What is known of the days that measures were added up from. */
export interface DayReasons {
  /** Why a day makes comparisons unsafe. */
  readonly reasonsOn: (day: Day) => readonly UnsafeReason[];
  /** Up to this day there are totals of months only; null where all days are stored as such. */
  readonly monthlyThrough?: Day | null;
}

/** Two ranges that are compared: as a whole, and day by day, counted from the start of each. */
export class ComparedRanges {
  readonly then: Range;
  /** For totals over the ranges. */
  readonly total: Comparer;
  readonly #now: Range;
  readonly #days: { readonly now: readonly DayMark[]; readonly then: readonly DayMark[] };
  readonly #monthlyThrough: Day | null;
  readonly #device: ProviderEvent['device'];
  readonly #hasEvents: boolean;
  readonly #comparers = new Map<string, Comparer>();

  /**
   * @param now the range of the answer
   * @param then the other one
   * @param device of the rows; null for all together
   */
  constructor(
    now: Range,
    then: Range,
    { reasonsOn, monthlyThrough = null }: DayReasons,
    device: ProviderEvent['device'],
  ) {
    const marks = ({ from, to }: Range): DayMark[] => eachDay(from, to).map((day) => [...reasonsOn(day)]);
    this.#now = now;
    this.then = then;
    this.#days = { now: marks(now), then: marks(then) };
    this.#monthlyThrough = monthlyThrough;
    this.#device = device;
    this.#hasEvents = metricsWithEvents([now, then], device).size > 0;
    this.total = this.#comparer([...this.#days.now, ...this.#days.then], now, then);
  }

  /** For the rows of a device. */
  ofDevice(device: ProviderEvent['device']): Comparer {
    const common = new Set([...this.#days.now, ...this.#days.then].flat());
    return new Comparer(common, metricsWithEvents([this.#now, this.then], device));
  }

  /** The days of the other range that a part of this one is compared with; null where it has none. */
  counterpart({ first, last }: Bucket): Range | null {
    const from = addDays(this.then.from, first);
    return from > this.then.to ? null : { from, to: earlier(addDays(this.then.from, last), this.then.to) };
  }

  /** For a part of the range. */
  part(bucket: Bucket): Comparer {
    const { first, last } = bucket;
    const then = this.#days.then.slice(first, last + 1);
    const marks = [...this.#days.now.slice(first, last + 1), ...then];
    // The other range has fewer days.
    if (then.length < last + 1 - first) marks.push(['missing_days']);
    return this.#comparer(marks, bucket, this.counterpart(bucket));
  }

  #comparer(marks: readonly DayMark[], now: Range, then: Range | null): Comparer {
    const common = new Set(marks.flat());
    if ([now, then].some((range) => range !== null && hasPartOfMonth(range, this.#monthlyThrough))) {
      common.add('monthly_spread');
    }
    const events = this.#hasEvents && then !== null ? metricsWithEvents([now, then], this.#device) : new Set<never>();
    // Comparers are shared by rows with the same reasons.
    const key = [...common, '', ...events].join();
    const comparer = this.#comparers.get(key) ?? new Comparer(common, events);
    this.#comparers.set(key, comparer);
    return comparer;
  }
}

/** Why a day makes comparisons unsafe; mostly nothing. */
type DayMark = readonly UnsafeReason[];
