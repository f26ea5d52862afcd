import { median } from './calendar.ts';

/** Days that the check reads: the week that ends on the evaluated day, and the eight weeks before it. */
export const KEYWORD_DROP_DAYS = 63;

const WEEKS = 8;
/** Weeks with fewer impressions are ignored. */
const MIN_WEEK = 10;
const MIN_WEEKS = 4;
/** Minimum impressions of the last week, and median of the four weeks before. */
const MIN_IMPRESSIONS = 20;
/** Drops from lower ranks are not reported. */
const MAX_POSITION = 30;
const MIN_MARGIN = 1.5;
const MARGIN = 0.35;
const DEVIATIONS = 4;

/** Prefix sums by day; the first entry is 0. */
export interface KeywordSums {
  readonly impressions: ArrayLike<number>;
  /** Zero-based positions. */
  readonly positions: ArrayLike<number>;
}

export interface KeywordDrop {
  /** Position of the last week; NaN without impressions. */
  readonly position: number;
  /** Usual position; NaN if the weeks before have too few impressions. */
  readonly usual: number;
  /** Minimum difference for an alert. */
  readonly margin: number;
  readonly opens: boolean;
}

/**
 * A prefilter for `keywordDrop` at a tenth of its cost, without sorting: the last week must be worse than the median of
 * the four before by the margin, so it must be worse than half of them by as much.
 */
export function mayDrop(sums: KeywordSums, day: number): boolean {
  if (weekSum(sums.impressions, day, 0) < MIN_IMPRESSIONS) return false;
  const position = positionOf(sums, day, 0);
  // Rounding must not drop what is exactly at the margin.
  const limit = Math.min(position - MIN_MARGIN, position / (1 + MARGIN)) + 1e-9;
  let known = 0;
  let better = 0;
  for (let week = 1; week <= 4; week++) {
    if (weekSum(sums.impressions, day, week) < MIN_WEEK) continue;
    known++;
    if (positionOf(sums, day, week) <= limit) better++;
  }
  return better > 0 && 2 * better >= known;
}

/**
 * Whether the average position of a keyword in the last week is worse than usual by more than its normal variation.
 * Compares logarithms, so that a drop from 3 to 6 counts as much as from 10 to 20.
 * @param day index of the day, at least `KEYWORD_DROP_DAYS - 1`
 */
export function keywordDrop(sums: KeywordSums, day: number): KeywordDrop {
  const impressions = weekSum(sums.impressions, day, 0);
  const position = positionOf(sums, day, 0);
  const recent: number[] = [];
  const lastWeeks: number[] = [];
  for (let week = 1; week <= 4; week++) {
    const shown = weekSum(sums.impressions, day, week);
    lastWeeks.push(shown);
    if (shown >= MIN_WEEK) recent.push(positionOf(sums, day, week));
  }
  const usual = recent.length === 0 ? Number.NaN : median(recent);
  const margin = Math.max(MIN_MARGIN, MARGIN * usual);
  const opens =
    impressions >= MIN_IMPRESSIONS &&
    usual <= MAX_POSITION &&
    position - usual >= margin &&
    median(lastWeeks) >= MIN_IMPRESSIONS &&
    isFarOff(sums, day, { impressions, position, usual });
  return { position, usual, margin, opens };
}

export function keywordIsBack({ position }: KeywordDrop, atOpening: Pick<KeywordDrop, 'usual' | 'margin'>): boolean {
  return position <= atOpening.usual + atOpening.margin / 2;
}

function isFarOff(
  sums: KeywordSums,
  day: number,
  last: { impressions: number; position: number; usual: number },
): boolean {
  const logarithms: number[] = [];
  for (let week = 1; week <= WEEKS; week++) {
    if (weekSum(sums.impressions, day, week) >= MIN_WEEK) logarithms.push(Math.log(positionOf(sums, day, week)));
  }
  if (logarithms.length < MIN_WEEKS) return false;
  const middle = median(logarithms);
  const scatter = 1.4826 * median(logarithms.map((value) => Math.abs(value - middle)));
  const deviation = Math.sqrt(scatter ** 2 + 0.05 ** 2 + 0.25 / last.impressions);
  return (Math.log(last.position) - Math.log(last.usual)) / deviation >= DEVIATIONS;
}

/** Sum of the week that ends `week` weeks before `day`. */
function weekSum(sums: ArrayLike<number>, day: number, week: number): number {
  const end = day + 1 - 7 * week;
  return sums[end]! - sums[end - 7]!;
}

function positionOf({ impressions, positions }: KeywordSums, day: number, week: number): number {
  return weekSum(positions, day, week) / weekSum(impressions, day, week) + 1;
}
