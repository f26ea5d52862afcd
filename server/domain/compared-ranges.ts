import { type Dimension, intervalOf, isTime } from '../model/tables.ts';
import { pairingOf } from './compared-days.ts';
import { Comparer, lengthReasons, type UnsafeReason } from './comparison.ts';
import { countDays, type Day, eachDay } from './dates.ts';
import { type Bucket, bucketsOf } from './intervals.ts';
import { metricsWithEvents, type ProviderEvent } from './provider-events.ts';
import type { Range } from './range.ts';
import { hasPartOfMonth } from './spread.ts';

/** Properties of the days whose measures are compared. */
export interface DayReasons {
  /** Why a day makes comparisons unsafe. */
  reasonsOn(day: Day): readonly UnsafeReason[];
  /** Up to this day only monthly totals are stored; null if all days are stored. */
  readonly monthlyThrough?: Day | null;
  /** The events of the provider that concern the measures. */
  readonly events: readonly ProviderEvent[];
}

/** Compares two ranges as a whole and part by part (`pairingOf`). */
export class ComparedRanges {
  readonly base: Range;
  /** Compares totals over the ranges. */
  readonly total: Comparer;
  /** The days of the other range to compare a part of this one with; empty if it has no such days. */
  readonly counterpart: (part: Range) => readonly Range[];
  readonly #now: Range;
  readonly #days: { readonly now: readonly ReasonsOfDay[]; readonly base: readonly ReasonsOfDay[] };
  /** The reasons of all days. */
  readonly #common: readonly ReasonsOfDay[];
  readonly #monthlyThrough: Day | null;
  readonly #device: ProviderEvent['device'];
  readonly #events: readonly ProviderEvent[];
  readonly #hasEvents: boolean;
  readonly #comparers = new Map<string, Comparer>();

  /**
   * @param now the range of the response
   * @param base the range to compare with
   * @param device of the rows; null for all together
   */
  constructor(now: Range, base: Range, days: DayReasons, device: ProviderEvent['device']) {
    const reasons = ({ from, to }: Range): ReasonsOfDay[] => eachDay(from, to).map((day) => days.reasonsOn(day));
    this.#now = now;
    this.base = base;
    this.counterpart = pairingOf(now, base);
    this.#days = { now: reasons(now), base: reasons(base) };
    this.#monthlyThrough = days.monthlyThrough ?? null;
    this.#device = device;
    this.#events = days.events;
    this.#hasEvents = this.#metrics(now, [base]).size > 0;
    this.#common = [...this.#days.now, ...this.#days.base, lengthReasons(now, base)];
    this.total = this.#comparer(this.#common, now, [base]);
  }

  #ofDevice(device: ProviderEvent['device']): Comparer {
    return new Comparer(new Set(this.#common.flat()), this.#metrics(this.#now, [this.base], device));
  }

  /**
   * Compares rows by what they are about: their day, week or month, else their device, else the whole range. Null for a part
   * of which the other range has no days.
   * @param by the dimensions of the rows
   */
  ofRows(by: readonly Dimension[]): (names: readonly string[]) => Comparer | null {
    const time = by.find(isTime);
    if (time !== undefined) {
      const timeAt = by.indexOf(time);
      const parts = bucketsOf(this.#now, intervalOf(time)).map((bucket) => [bucket.from, this.part(bucket)] as const);
      const byStart = new Map(parts);
      return (names) => byStart.get(names[timeAt]!) ?? null;
    }
    const deviceAt = by.indexOf('device');
    return deviceAt < 0 ? () => this.total : (names) => this.#ofDevice(names[deviceAt] as ProviderEvent['device']);
  }

  /** Compares totals over a part of the range; null if the other range has no such days. */
  part(bucket: Bucket): Comparer | null {
    const base = this.counterpart(bucket);
    if (base.length === 0) return null;
    const placeOf = (day: Day): number => countDays(this.base.from, day) - 1;
    const reasons = [
      ...this.#days.now.slice(bucket.first, bucket.last + 1),
      ...base.flatMap(({ from, to }) => this.#days.base.slice(placeOf(from), placeOf(to) + 1)),
      lengthReasons(bucket, ...base),
    ];
    return this.#comparer(reasons, bucket, base);
  }

  /** The metrics that events of the provider make unsafe. */
  #metrics(now: Range, base: readonly Range[], device = this.#device): ReturnType<typeof metricsWithEvents> {
    return metricsWithEvents([now, ...base], device, this.#events);
  }

  #comparer(reasons: readonly ReasonsOfDay[], now: Range, base: readonly Range[]): Comparer {
    const common = new Set(reasons.flat());
    if ([now, ...base].some((range) => hasPartOfMonth(range, this.#monthlyThrough))) {
      common.add('monthly_spread');
    }
    const events = this.#hasEvents ? this.#metrics(now, base) : new Set<never>();
    // Comparers are shared by rows with the same reasons.
    const key = [...common, '', ...events].join();
    const comparer = this.#comparers.get(key) ?? new Comparer(common, events);
    this.#comparers.set(key, comparer);
    return comparer;
  }
}

type ReasonsOfDay = readonly UnsafeReason[];
