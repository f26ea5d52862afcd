import type { KeywordSums } from './keyword-drop.ts';

/** The longest period without impressions, in days, for which an alert opens. */
export const MAX_SILENCE = 60;
/** Days up to the last impression that determine how regularly a keyword was shown. */
export const LOOK_BACK = 56;

const MIN_SILENCE = 7;
const RECENT = 28;
const MIN_SHOWN = 28;
const MIN_SHOWN_RECENTLY = 14;
const MIN_IMPRESSIONS = 28;
const MAX_POSITION = 30;
/** Days with impressions, of the last seven, that resolve an alert. */
const SHOWN_AGAIN = 3;

export interface KeywordLost {
  /** Days without impressions up to the evaluated one. */
  readonly silent: number;
  /** Impressions and average position of the 28 days up to the last impression. */
  readonly impressions: number;
  readonly position: number;
  readonly opens: boolean;
  readonly isBack: boolean;
}

/** A prefilter for `keywordLost`: no impressions in the last week, but some before. */
export function mayBeLost({ impressions }: KeywordSums, day: number): boolean {
  const before = day - MIN_SILENCE + 1;
  if (before < LOOK_BACK || impressions[day + 1] !== impressions[before]) return false;
  return impressions[before]! > impressions[Math.max(0, day - MAX_SILENCE)]!;
}

/** The last day with impressions, or -1. */
export function lastShown({ impressions }: KeywordSums, day: number): number {
  for (let at = day; at >= 0; at--) if (impressions[at + 1]! > impressions[at]!) return at;
  return -1;
}

/**
 * Whether a keyword that was shown regularly has had no impressions for longer than twice its longest gap.
 * @param last the last day with impressions up to `day`, at least `LOOK_BACK - 1`
 */
export function keywordLost(sums: KeywordSums, day: number, last: number): KeywordLost {
  const { impressions } = sums;
  const silent = day - last;
  const isShown = (at: number): boolean => impressions[at + 1]! > impressions[at]!;
  let shownLately = 0;
  for (let at = Math.max(0, day - 6); at <= day; at++) if (isShown(at)) shownLately++;
  const recent = impressions[last + 1]! - impressions[last + 1 - RECENT]!;
  const position = (sums.positions[last + 1]! - sums.positions[last + 1 - RECENT]!) / recent + 1;
  const outcome = { silent, impressions: recent, position, isBack: shownLately >= SHOWN_AGAIN };
  if (silent < MIN_SILENCE || silent > MAX_SILENCE) return { ...outcome, opens: false };

  let shown = 0;
  let shownRecently = 0;
  let gap = 0;
  let longestGap = 0;
  for (let at = last - LOOK_BACK + 1; at <= last; at++) {
    if (isShown(at)) {
      shown++;
      if (at > last - RECENT) shownRecently++;
      gap = 0;
    } else {
      gap++;
      longestGap = Math.max(longestGap, gap);
    }
  }
  const opens =
    silent >= 2 * longestGap + 3 &&
    shown >= MIN_SHOWN &&
    shownRecently >= MIN_SHOWN_RECENTLY &&
    recent >= MIN_IMPRESSIONS &&
    position <= MAX_POSITION;
  return { ...outcome, opens };
}
