/**
 * The additive measures of a fact. `sumPosition` is the zero-based sum of positions over the impressions, as in the
 * search engine's bulk export; negative if the position is unknown (`hasPosition`). Averages are computed last.
 */
export interface Measures {
  readonly clicks: number;
  readonly impressions: number;
  readonly sumPosition: number;
}

/** Metrics as in responses: ctr has four decimals, position one; both are null without impressions. */
export interface Metrics {
  readonly clicks: number;
  readonly impressions: number;
  readonly ctr: number | null;
  readonly position: number | null;
}

/** An exact sum that is not an integer: `numerator / denominator`. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Measures whose position sum may not be an integer (a part of a month): `fraction` is the remainder. */
export interface ExactMeasures extends Measures {
  readonly fraction?: Fraction | undefined;
}

export const NOTHING: Measures = { clicks: 0, impressions: 0, sumPosition: 0 };
/** See `isKnown`. They match no condition on a number, and come last in either direction. */
export const UNKNOWN: Measures = { clicks: Number.NaN, impressions: Number.NaN, sumPosition: Number.NaN };

export function toMetrics(measures: ExactMeasures): Metrics {
  const { clicks, impressions, sumPosition, fraction } = measures;
  if (impressions === 0) return { clicks, impressions, ctr: null, position: null };
  const ctr = roundRatio(clicks, impressions, 10_000);
  if (!hasPosition(measures)) return { clicks, impressions, ctr, position: null };
  const position =
    fraction === undefined || fraction.numerator === 0n
      ? roundRatio(sumPosition + impressions, impressions, 10)
      : roundBigRatio(
          (BigInt(sumPosition) + BigInt(impressions)) * fraction.denominator + fraction.numerator,
          BigInt(impressions) * fraction.denominator,
          10,
        );
  return { clicks, impressions, ctr, position };
}

/** Whether the position is known: of some weeks of Bing it is not, and lists have -1 as their sum (`week_rows.sql`). */
export function hasPosition({ sumPosition }: Pick<Measures, 'sumPosition'>): boolean {
  return sumPosition >= 0;
}

/** Whether sums are known: those of days on which a keyword was not tracked yet are NaN. */
export function isKnown({ impressions }: Pick<Measures, 'impressions'>): boolean {
  return !Number.isNaN(impressions);
}

export function add(a: Measures, b: Measures): Measures {
  return {
    clicks: a.clicks + b.clicks,
    impressions: a.impressions + b.impressions,
    sumPosition: a.sumPosition + b.sumPosition,
  };
}

export function sum(all: Iterable<Measures>): Measures {
  let { clicks, impressions, sumPosition } = NOTHING;
  for (const measures of all) {
    clicks += measures.clicks;
    impressions += measures.impressions;
    sumPosition += measures.sumPosition;
  }
  return { clicks, impressions, sumPosition };
}

/**
 * `numerator / denominator` rounded to a multiple of 1 / scale, half away from zero, in integer arithmetic: 1 / 32 is
 * 0.0313, where binary fractions may give 0.0312. Both are integers and not negative.
 */
export function roundRatio(numerator: number, denominator: number, scale: number): number {
  return scaledRatio(numerator, denominator, scale) / scale;
}

/** `roundRatio` times `scale`, an integer. */
export function scaledRatio(numerator: number, denominator: number, scale: number): number {
  const doubled = 2 * numerator * scale + denominator;
  if (!Number.isSafeInteger(doubled) || !Number.isSafeInteger(2 * denominator)) {
    return Number(scaledBigRatio(BigInt(numerator), BigInt(denominator), scale));
  }
  return Math.floor(doubled / (2 * denominator));
}

function roundBigRatio(numerator: bigint, denominator: bigint, scale: number): number {
  return Number(scaledBigRatio(numerator, denominator, scale)) / scale;
}

/** Like `scaledRatio`, for numbers of any size. */
export function scaledBigRatio(numerator: bigint, denominator: bigint, scale: number): bigint {
  return (2n * numerator * BigInt(scale) + denominator) / (2n * denominator);
}

/** Whether totals of segments include imported days without segments. */
export function hasUnknown(segments: readonly { readonly name: string }[]): boolean {
  return segments.some(({ name }) => name === 'unknown');
}

/**
 * The zero-based sum of positions, as stored in facts, of a row of the search engine, whose averages begin at 1.
 */
export function sumPositionOf({
  position,
  impressions,
}: {
  readonly position: number;
  readonly impressions: number;
}): number {
  return Math.max(0, Math.round((position - 1) * impressions));
}
