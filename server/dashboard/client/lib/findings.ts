import { addDays, countDays } from './dates.ts';
import { signed } from './explain.ts';
import { formatCount } from './format.ts';
import type { Finding, FindingsAnswer, Range } from './types.ts';

export type FindingType = keyof FindingsAnswer['tested'];

/** Types by what they mean, and what each looks for. */
export const FINDING_TYPES: readonly (readonly [FindingType, string, string])[] = [
  ['low_ctr', 'Low CTR', 'fewer clicks than others get at the same position'],
  ['high_ctr', 'High CTR', 'more clicks than others get at the same position'],
  ['rising', 'Rising', 'more clicks, beyond what rows of this site usually move'],
  ['falling', 'Falling', 'fewer clicks, beyond what rows of this site usually move'],
  ['near_top', 'Near the top', 'what would gain most from a few places'],
  ['decaying_page', 'Decaying', 'pages that lose against the others for months'],
  ['split', 'Split', 'tracked queries whose main page changes'],
  ['new', 'New', 'queries that were not shown before'],
  ['lost', 'Lost', 'queries that are no longer shown'],
];

/** Why a type could not be tested, and what would be needed. */
const REASONS: Readonly<Record<string, string>> = {
  needs_stored_days: 'days of queries and pages are missing: they come with the sync, or with a load',
  provider_event: 'the search engine changed how it counts in these days: choose days on one side of it',
  too_little_data: 'no row has enough clicks or impressions: a longer period has more',
};

/** What came of the tests of a type, in words. */
export function testedText({ tested, below05, listed, reason }: FindingsAnswer['tested'][FindingType]): string {
  if (reason !== undefined) return `Not tested: ${REASONS[reason] ?? reason}.`;
  const found = `${formatCount(tested)} looked at, ${formatCount(listed)} listed`;
  if (below05 === 0) return `${found}.`;
  return `${found}. p under 0.05: ${formatCount(below05)}; chance alone gives about ${formatCount(Math.round(tested / 20))}.`;
}

/** Those worth most first; then those without a gain, and those that have more than others. */
export function byGain(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => (b.gain?.clicks ?? 0) - (a.gain?.clicks ?? 0));
}

/** `+120 clicks (80 to 160)`. */
export function gainText({ clicks, low, high }: NonNullable<Finding['gain']>): string {
  return `${signed(clicks)} clicks (${signed(low)} to ${signed(high)})`;
}

/** Days before those of the answer that a finding is about. */
const DAYS_BEFORE: Readonly<Record<string, number>> = { new: 56, lost: 56 };
const DECAY_DAYS = 182;

/** The days in which the finding can be seen. */
export function daysOf({ type }: Finding, { from, to }: Range): Range {
  const before = DAYS_BEFORE[type] ?? 0;
  const days = type === 'decaying_page' ? Math.max(0, DECAY_DAYS - countDays({ from, to })) : before;
  return { from: addDays(from, -days), to };
}

export const keyOf = ({ type, page, query }: Finding): string => JSON.stringify([type, page, query]);
