/** The words for changes without a percentage, shared by digests and the dashboard, which bundles this file. It imports nothing. */

const REASONS: Readonly<Record<string, string>> = {
  low_base: 'the compared days have fewer than 10 clicks or impressions',
  provisional: 'the newest days may still change',
  missing_days: 'some of the days are not stored',
  different_length: 'one of the two ranges has more days',
  cut_off: 'the search engine left out rows on some days',
  monthly_spread: 'older days are stored as months and count with an even share',
  different_source: 'the two ranges come from different sources',
  provider_event: 'the search engine counted some of the days differently',
};

/** What precedes the reasons. */
export const WHY_DIFFERENCES = 'Differences instead of percentages, which would mislead: ';

/** Why a percentage would mislead, in words. */
export function describeReasons(reasons: readonly string[]): string {
  return reasons.map((reason) => REASONS[reason] ?? reason).join('; ');
}

/** What to add after the days of two ranges if their lengths differ. */
export function describeLengths(days: number, compared: number): string {
  return days === compared ? '' : `: ${days} days against ${compared}, so clicks and impressions have no percentages`;
}

interface Beside {
  readonly comparison?: { readonly impressions: number | null } | null | undefined;
  readonly unsafe?: { readonly impressions?: readonly string[] } | null | undefined;
}

/** Whether none of the compared days is stored: zeros then say nothing. */
export function hasNothingToCompare({ comparison, unsafe }: Beside): boolean {
  return comparison?.impressions === 0 && unsafe?.impressions?.includes('missing_days') === true;
}
