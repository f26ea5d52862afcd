import { COUNTS, type Count } from '../model/tables.ts';
import { previousDays, yearBefore } from './compared-days.ts';
import { countDays } from './dates.ts';
import {
  type ExactMeasures,
  type Fraction,
  hasPosition,
  type Metrics,
  scaledBigRatio,
  scaledRatio,
  toMetrics,
} from './metrics.ts';
import type { Range } from './range.ts';

export const METRIC_NAMES = ['clicks', 'impressions', 'ctr', 'position'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

/** The metrics of questions; which of them one may have together depends on its table. */
export const QUESTION_METRICS: readonly string[] = [...METRIC_NAMES, ...COUNTS.map(({ name }) => name)];

/** Why the ratio of a change would mislead, in the order of responses. */
export const UNSAFE_REASONS = [
  'low_base',
  'provisional',
  'missing_days',
  'different_length',
  'cut_off',
  'monthly_spread',
  'different_source',
  'provider_event',
] as const;
export type UnsafeReason = (typeof UNSAFE_REASONS)[number];

/** How a metric changed from the other range. Null if it is undefined, or a ratio would mislead. */
export interface Change {
  readonly difference: number | null;
  /** (now - base) / base, four decimals. */
  readonly ratio: number | null;
}

/** Metrics whose ratio would mislead, with all reasons. */
export type Unsafe = Readonly<Partial<Record<MetricName, readonly UnsafeReason[]>>>;

/** Properties added to metrics that are compared with those of another range. */
export interface Compared {
  readonly comparison: Metrics;
  readonly change: Readonly<Record<MetricName, Change>>;
  readonly unsafe: Unsafe;
}

/** The comparison of a part, such as a 31st, that has no counterpart in the other range: it is unknown, not zero. */
export interface NotCompared {
  readonly comparison: null;
  readonly change: null;
  readonly unsafe: Unsafe;
}

export const NOT_COMPARED: NotCompared = {
  comparison: null,
  change: null,
  unsafe: Object.fromEntries(METRIC_NAMES.map((name) => [name, ['missing_days']])),
};

/** Sums by the names of what is counted, in its units. */
export type Counted = Readonly<Record<string, number>>;

/** What is counted as in responses. */
export function countsOf(counts: readonly Count[], sums: Counted): Counted {
  return Object.fromEntries(counts.map(({ name, scale }) => [name, sums[name]! / scale]));
}

/** Like `Compared`, of what a table counts in place of searches. */
export interface ComparedCounts {
  readonly comparison: Counted;
  readonly change: Readonly<Record<string, Change>>;
  readonly unsafe: Readonly<Record<string, readonly UnsafeReason[]>>;
}

/** The other range of a comparison, as requested. */
export type Compare = 'previous' | 'year' | Range;

/** The range to compare with: the days just before, those a year before, or given days. */
export function comparisonRange(range: Range, compare: Compare): Range {
  if (typeof compare === 'object') return compare;
  return compare === 'year' ? yearBefore(range) : previousDays(range);
}

/** Why the lengths of a range and of the ranges beside it make them unsafe to compare. */
export function lengthReasons(now: Range, ...base: readonly Range[]): UnsafeReason[] {
  const days = base.reduce((sum, { from, to }) => sum + countDays(from, to), 0);
  return countDays(now.from, now.to) === days ? [] : ['different_length'];
}

type Reasons = ReadonlySet<UnsafeReason>;

/** With fewer clicks or impressions than this in the other range, a ratio is meaningless. */
const MIN_BASE = 10;

/** Decimals of metrics and ratios in responses, as factors. */
export const METRIC_SCALES: Readonly<Record<MetricName, number>> = {
  clicks: 1,
  impressions: 1,
  ctr: 10_000,
  position: 10,
};
export const RATIO_SCALE = 10_000;

/** Index of the first ratio in the results of `Comparer.changes`. */
export const RATIOS = METRIC_NAMES.length;
/** Number of results of `Comparer.changes`. */
export const CHANGES = 2 * METRIC_NAMES.length;

/** Compares measures of two ranges, row by row. Properties of the ranges are given once. */
export class Comparer {
  readonly #common: Reasons;
  readonly #events: ReadonlySet<MetricName>;
  /** Results of `unsafe` by what is low in the other range: there are few, and equal ones share an object. */
  readonly #unsafe: (Unsafe | undefined)[] = [];

  /**
   * @param common reasons for all metrics
   * @param events metrics that a provider event has changed
   */
  constructor(common: Reasons, events: ReadonlySet<MetricName> = NO_METRICS) {
    this.#common = common;
    this.#events = events;
  }

  /** Reasons for all metrics. */
  get common(): Reasons {
    return this.#common;
  }

  /** A comparer with additional reasons for all metrics. */
  with(more: Iterable<UnsafeReason>): Comparer {
    return new Comparer(new Set([...this.#common, ...more]), this.#events);
  }

  compare(now: ExactMeasures, base: ExactMeasures): Compared {
    const unsafe = this.changes(now, base, scratch);
    const change = (at: number, scale: number): Change => ({
      difference: unscaled(scratch[at]!, scale),
      ratio: unscaled(scratch[RATIOS + at]!, RATIO_SCALE),
    });
    return {
      comparison: toMetrics(base),
      change: {
        clicks: change(0, METRIC_SCALES.clicks),
        impressions: change(1, METRIC_SCALES.impressions),
        ctr: change(2, METRIC_SCALES.ctr),
        position: change(3, METRIC_SCALES.position),
      },
      unsafe,
    };
  }

  /**
   * The differences of the metrics, then their ratios, as multiples of the last decimal of responses; NaN for null.
   * Writes them to `into`, because objects for thousands of rows would cost more than the numbers.
   */
  changes(now: ExactMeasures, base: ExactMeasures, into: Float64Array): Unsafe {
    const unsafe = this.unsafe(base);
    const isInteger = now.fraction === undefined && base.fraction === undefined;
    change(into, 0, now.clicks, 1, base.clicks, 1, 1, unsafe.clicks === undefined);
    change(into, 1, now.impressions, 1, base.impressions, 1, 1, unsafe.impressions === undefined);
    if (now.impressions === 0 || base.impressions === 0) {
      for (const at of [2, 3, RATIOS + 2, RATIOS + 3]) into[at] = Number.NaN;
      return unsafe;
    }
    const isSafe = unsafe.ctr === undefined;
    change(into, 2, now.clicks, now.impressions, base.clicks, base.impressions, METRIC_SCALES.ctr, isSafe);
    if (!hasPosition(now) || !hasPosition(base)) {
      for (const at of [3, RATIOS + 3]) into[at] = Number.NaN;
      return unsafe;
    }
    const [current, previous] = [now.sumPosition + now.impressions, base.sumPosition + base.impressions];
    const hasRatio = unsafe.position === undefined;
    if (isInteger)
      change(into, 3, current, now.impressions, previous, base.impressions, METRIC_SCALES.position, hasRatio);
    else exactChange(into, 3, positionOf(now), positionOf(base), METRIC_SCALES.position, hasRatio);
    return unsafe;
  }

  /**
   * Compares sums of a table that does not count searches, by the names of what it counts. What changed how searches are
   * counted does not concern them.
   */
  compareCounts(counts: readonly Count[], now: Counted, base: Counted): ComparedCounts {
    const unsafe: Record<string, readonly UnsafeReason[]> = {};
    const changes = counts.map(({ name, scale }): readonly [string, Change] => {
      const [current, before] = [now[name]!, base[name]!];
      const isLow = before < MIN_BASE * scale;
      const reasons = UNSAFE_REASONS.filter((one) => (one === 'low_base' ? isLow : this.#common.has(one)));
      if (reasons.length > 0) unsafe[name] = reasons;
      change(scratch, 0, current, scale, before, scale, scale, reasons.length === 0);
      return [name, { difference: unscaled(scratch[0]!, scale), ratio: unscaled(scratch[RATIOS]!, RATIO_SCALE) }];
    });
    return { comparison: countsOf(counts, base), change: Object.fromEntries(changes), unsafe };
  }

  /** The unsafe metrics of a row that has these measures in the other range. */
  unsafe({ clicks, impressions }: ExactMeasures): Unsafe {
    const lowClicks = clicks < MIN_BASE;
    const lowImpressions = impressions < MIN_BASE;
    const variant = Number(lowClicks) + 2 * Number(lowImpressions) + 4 * Number(clicks === 0);
    const unsafe =
      this.#unsafe[variant] ??
      this.#unsafeMetrics({
        clicks: lowClicks,
        impressions: lowImpressions,
        // A ratio to zero is undefined.
        ctr: lowImpressions || clicks === 0,
        position: lowImpressions,
      });
    this.#unsafe[variant] = unsafe;
    return unsafe;
  }

  #unsafeMetrics(isLow: Readonly<Record<MetricName, boolean>>): Unsafe {
    const unsafe: Partial<Record<MetricName, readonly UnsafeReason[]>> = {};
    for (const metric of METRIC_NAMES) {
      const reasons = UNSAFE_REASONS.filter((reason) => {
        if (reason === 'low_base') return isLow[metric];
        // Averages do not grow with the number of days.
        if (reason === 'different_length' && !isCount(metric)) return false;
        return this.#common.has(reason) || (reason === 'provider_event' && this.#events.has(metric));
      });
      if (reasons.length > 0) unsafe[metric] = reasons;
    }
    return unsafe;
  }
}

function isCount(metric: MetricName): boolean {
  return metric === 'clicks' || metric === 'impressions';
}

const NO_METRICS: ReadonlySet<MetricName> = new Set();

/** The change of a metric without another value. */
export const NO_CHANGE: Change = { difference: null, ratio: null };

/** Results of `changes` that are converted to an object at once. */
const scratch = new Float64Array(CHANGES);

function unscaled(value: number, scale: number): number | null {
  return Number.isNaN(value) ? null : value / scale;
}

/** Writes the change between two quotients of integers to its places. */
function change(
  into: Float64Array,
  at: number,
  numerator: number,
  denominator: number,
  baseNumerator: number,
  baseDenominator: number,
  scale: number,
  hasRatio: boolean,
): void {
  const scaled = numerator * baseDenominator;
  const base = baseNumerator * denominator;
  const both = denominator * baseDenominator;
  if (scaled > Number.MAX_SAFE_INTEGER || base > Number.MAX_SAFE_INTEGER || both > Number.MAX_SAFE_INTEGER) {
    const quotient = (above: number, below: number): Fraction => ({
      numerator: BigInt(above),
      denominator: BigInt(below),
    });
    exactChange(into, at, quotient(numerator, denominator), quotient(baseNumerator, baseDenominator), scale, hasRatio);
    return;
  }
  into[at] = signedRatio(scaled - base, both, scale);
  into[RATIOS + at] = hasRatio && base > 0 ? signedRatio(scaled - base, base, RATIO_SCALE) : Number.NaN;
}

/** Rounds half away from zero. */
function signedRatio(numerator: number, denominator: number, scale: number): number {
  return numerator < 0 ? 0 - scaledRatio(-numerator, denominator, scale) : scaledRatio(numerator, denominator, scale);
}

/** Like `change`, for numbers that a double cannot hold exactly. */
function exactChange(
  into: Float64Array,
  at: number,
  now: Fraction,
  base: Fraction,
  scale: number,
  hasRatio: boolean,
): void {
  const other = base.numerator * now.denominator;
  const difference = now.numerator * base.denominator - other;
  into[at] = signedBigRatio(difference, now.denominator * base.denominator, scale);
  into[RATIOS + at] = hasRatio && other > 0n ? signedBigRatio(difference, other, RATIO_SCALE) : Number.NaN;
}

function signedBigRatio(numerator: bigint, denominator: bigint, scale: number): number {
  const rounded = Number(scaledBigRatio(numerator < 0n ? -numerator : numerator, denominator, scale));
  return numerator < 0n ? 0 - rounded : rounded;
}

/** The average position, before rounding. */
function positionOf({ impressions, sumPosition, fraction }: ExactMeasures): Fraction {
  const part = fraction ?? { numerator: 0n, denominator: 1n };
  return {
    numerator: (BigInt(sumPosition) + BigInt(impressions)) * part.denominator + part.numerator,
    denominator: BigInt(impressions) * part.denominator,
  };
}
