import type { RowGrids } from './grids.ts';

export const FINDING_TYPES = [
  'low_ctr',
  'high_ctr',
  'rising',
  'falling',
  'near_top',
  'decaying_page',
  'split',
  'new',
  'lost',
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];
export type RowKind = 'query' | 'page';

/** Clicks that would be gained, with an interval that holds the true gain in 90 % of cases. */
export interface Gain {
  readonly clicks: number;
  readonly low: number;
  readonly high: number;
}

/** A finding about a row; not rounded. */
export interface RowFinding {
  readonly type: FindingType;
  readonly kind: RowKind;
  readonly row: number;
  readonly evidence: Readonly<Record<string, number>>;
  readonly gain: Gain | null;
  /** Null in lists, which test nothing. */
  readonly p: number | null;
  /** Days from the day since which it is so to the last day of the range; null if unknown. */
  readonly sinceAge: number | null;
}

/** Tests whose share of false findings is controlled together, and lists. */
export const FAMILIES = {
  ctr: ['low_ctr', 'high_ctr'],
  moves: ['rising', 'falling'],
  nearTop: ['near_top'],
  decay: ['decaying_page'],
  split: ['split'],
  new: ['new'],
  lost: ['lost'],
} as const satisfies Readonly<Record<string, readonly FindingType[]>>;
export type Family = keyof typeof FAMILIES;

/** The p of all tested rows of a kind, and the finding that one of them makes. Few are listed, so only those are made. */
export interface RowTests {
  readonly p: Float64Array;
  readonly findingOf: (at: number) => RowFinding;
}

/** What was found, and how many rows were looked at. */
export interface Tests {
  readonly tested: number;
  readonly tests: readonly RowTests[];
  /** Of families that test nothing. */
  readonly list: readonly RowFinding[];
}

/** The tests of each family; without a family of which too little is known. */
export type Found = ReadonlyMap<Family, Tests>;

/** Rows of one kind. */
export interface KindRows {
  readonly kind: RowKind;
  readonly grids: RowGrids;
  /** Rows with the same number are compared with each other: 0 for pages and other queries, 1 for queries with a brand. */
  readonly stratum: Uint8Array;
}

/** Standard deviations on each side of a gain. */
export const SURE = 1.645;

/** A gain that is about normal. */
export function gainOf(clicks: number, variance: number): Gain {
  const deviation = SURE * Math.sqrt(variance);
  return { clicks, low: clicks - deviation, high: clicks + deviation };
}
