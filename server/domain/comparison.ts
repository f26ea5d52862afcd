import { addDays, countDays } from './dates.ts';
import { type ExactMeasures, type Fraction, type Metrics, roundBigRatio, roundRatio, toMetrics } from './metrics.ts';
import type { Range } from './range.ts';

export const METRIC_NAMES = ['clicks', 'impressions', 'ctr', 'position'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];

/** Why the ratio of a change would mislead, in the order of answers. */
export const UNSAFE_REASONS = [
  'low_base',
  'provisional',
  'missing_days',
  'cut_off',
  'monthly_spread',
  'different_source',
  'provider_event',
] as const;
export type UnsafeReason = (typeof UNSAFE_REASONS)[number];

/** How a metric changed from the other range. Null: there is no such number, or a ratio would mislead. */
export interface Change {
  readonly difference: number | null;
  /** (now - then) / then, four decimals. */
  readonly ratio: number | null;
}

/** Metrics of which a ratio would mislead, with all reasons. */
export type Unsafe = Readonly<Partial<Record<MetricName, readonly UnsafeReason[]>>>;

/** What stands beside metrics that are compared with those of another range. */
export interface Compared {
  readonly comparison: Metrics;
  readonly change: Readonly<Record<MetricName, Change>>;
  readonly unsafe: Unsafe;
}

/** The other range of a comparison, as it is asked for. */
export type Compare = 'previous' | 'year' | Range;

/** Days from a day to the same weekday a year before. */
const YEAR = 364;

/** The range that another one is compared with: as many days just before it, the same weekdays a year before, or given days. */
export function comparisonRange(range: Range, compare: Compare): Range {
  if (typeof compare === 'object') return compare;
  const days = compare === 'year' ? YEAR : countDays(range.from, range.to);
  return { from: addDays(range.from, -days), to: addDays(range.to, -days) };
}

type Reasons = ReadonlySet<UnsafeReason>;

/** With fewer clicks or impressions than this in the other range, a ratio says nothing. */
const MIN_BASE = 10;

/** Decimals of answers, as factors. */
const RATIO_SCALE = 10_000;
const SCALES: Readonly<Record<MetricName, number>> = { clicks: 1, impressions: 1, ctr: 10_000, position: 10 };

/** Compares measures of two ranges. What is known of the ranges is given once, the rows of both are compared one by one. */
export class Comparer {
  readonly #common: Reasons;
  readonly #events: ReadonlySet<MetricName>;
  /** By what is low in the other range: few answers are needed, and equal ones are the same object. */
  readonly #unsafe: (Unsafe | undefined)[] = [];

  /**
   * @param common reasons of all metrics
   * @param events metrics that a provider event has changed
   */
  constructor(common: Reasons, events: ReadonlySet<MetricName> = NO_METRICS) {
    this.#common = common;
    this.#events = events;
  }

  /** Reasons of all metrics. */
  get common(): Reasons {
    return this.#common;
  }

  /** One with more reasons of all metrics. */
  with(more: Iterable<UnsafeReason>): Comparer {
    return new Comparer(new Set([...this.#common, ...more]), this.#events);
  }

  compare(now: ExactMeasures, base: ExactMeasures): Compared {
    const unsafe = this.unsafe(base);
    const change = (metric: MetricName): Change => changeOf(metric, now, base, unsafe[metric] !== undefined);
    return {
      comparison: toMetrics(base),
      change: {
        clicks: change('clicks'),
        impressions: change('impressions'),
        ctr: change('ctr'),
        position: change('position'),
      },
      unsafe,
    };
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
        return this.#common.has(reason) || (reason === 'provider_event' && this.#events.has(metric));
      });
      if (reasons.length > 0) unsafe[metric] = reasons;
    }
    return unsafe;
  }
}

const NO_METRICS: ReadonlySet<MetricName> = new Set();

/** A metric as it is before rounding; undefined where there is none. */
interface Quotient {
  readonly numerator: number;
  readonly denominator: number;
  /** A part of the numerator that is not whole. */
  readonly fraction?: Fraction | undefined;
}

/** The change of a metric, from unrounded values. */
function changeOf(metric: MetricName, now: ExactMeasures, base: ExactMeasures, isUnsafe: boolean): Change {
  const a = quotientOf(metric, now);
  const b = quotientOf(metric, base);
  if (a === undefined || b === undefined) return NO_CHANGE;
  const scale = SCALES[metric];
  const wanted = { scale, withRatio: !isUnsafe && b.numerator > 0 };
  const isWhole = a.fraction === undefined && b.fraction === undefined;
  return (isWhole ? wholeChange(a, b, wanted) : undefined) ?? exactChange(a, b, wanted);
}

/** Where there is nothing to compare. */
export const NO_CHANGE: Change = { difference: null, ratio: null };

function quotientOf(metric: MetricName, measures: ExactMeasures): Quotient | undefined {
  const { clicks, impressions, sumPosition, fraction } = measures;
  if (metric === 'clicks') return { numerator: clicks, denominator: 1 };
  if (metric === 'impressions') return { numerator: impressions, denominator: 1 };
  if (impressions === 0) return undefined;
  if (metric === 'ctr') return { numerator: clicks, denominator: impressions };
  return { numerator: sumPosition + impressions, denominator: impressions, fraction };
}

interface Wanted {
  readonly scale: number;
  readonly withRatio: boolean;
}

/** Undefined where the numbers are too large to be multiplied exactly. */
function wholeChange(a: Quotient, b: Quotient, { scale, withRatio }: Wanted): Change | undefined {
  const crossed = a.numerator * b.denominator;
  const other = b.numerator * a.denominator;
  const denominator = a.denominator * b.denominator;
  if (!Number.isSafeInteger(crossed) || !Number.isSafeInteger(other) || !Number.isSafeInteger(denominator)) return;
  const difference = crossed - other;
  return {
    difference: signedRatio(difference, denominator, scale),
    ratio: withRatio ? signedRatio(difference, other, RATIO_SCALE) : null,
  };
}

/** Rounds half away from zero. */
function signedRatio(numerator: number, denominator: number, scale: number): number {
  const rounded = roundRatio(Math.abs(numerator), denominator, scale);
  return numerator < 0 ? 0 - rounded : rounded;
}

function exactChange(a: Quotient, b: Quotient, { scale, withRatio }: Wanted): Change {
  const now = bigQuotient(a);
  const base = bigQuotient(b);
  const other = base.numerator * now.denominator;
  const difference = now.numerator * base.denominator - other;
  return {
    difference: signedBigRatio(difference, now.denominator * base.denominator, scale),
    ratio: withRatio ? signedBigRatio(difference, other, RATIO_SCALE) : null,
  };
}

function bigQuotient({ numerator, denominator, fraction }: Quotient): Fraction {
  const part = fraction ?? { numerator: 0n, denominator: 1n };
  return {
    numerator: BigInt(numerator) * part.denominator + part.numerator,
    denominator: BigInt(denominator) * part.denominator,
  };
}

function signedBigRatio(numerator: bigint, denominator: bigint, scale: number): number {
  const rounded = roundBigRatio(numerator < 0n ? -numerator : numerator, denominator, scale);
  return numerator < 0n ? 0 - rounded : rounded;
}
