import type { Day } from './dates.ts';
import type { ProviderEvent } from './provider-events.ts';
import type { Range } from './range.ts';
import type { KnownRankingUpdates } from './ranking-updates.ts';

/** The quality of the data of a range. */
export interface Quality extends KnownRankingUpdates {
  /** The last day that cannot change any more, if the provider has reported it. */
  readonly finalThrough: Day | null;
  /** Days of the range up to the last synced one, and how many of them are stored, may still change, or were cut off. */
  readonly daysExpected: number;
  readonly daysStored: number;
  readonly daysProvisional: number;
  readonly daysCutOff: number;
  /** The expected days that are not stored, in order: each range is as long as it can be. */
  readonly missing: readonly Range[];
  /** The share of clicks without a query; null without clicks or without brand data. */
  readonly anonymousClicksShare: number | null;
  /** The sum of queries as a share of the site; null as above. */
  readonly queryCoverage: { readonly clicks: number | null; readonly impressions: number | null };
  /** When final days were last compared with the provider. */
  readonly reconciledAt: string | null;
  /** Changes in how the provider counts that overlap the range, without those that the property does not show. */
  readonly events: readonly ProviderEvent[];
}

/** Why rows do not add up to the property, in the order of answers. */
export const REMAINDER_REASONS = [
  'filtered',
  'anonymised',
  'not_tracked',
  'not_grouped',
  'not_reported',
  'cut_off',
  'counted_by_page',
  'overlapping',
  'unknown',
] as const;
export type RemainderReason = (typeof REMAINDER_REASONS)[number];

/** The property's total minus that of the rows; null where they are not counted alike, or one is not known. */
export interface Remainder {
  readonly clicks: number | null;
  readonly impressions: number | null;
  readonly why: readonly RemainderReason[];
}
