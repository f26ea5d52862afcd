import type { Day } from '../../../server/domain/dates.ts';

export type Device = 'DESKTOP' | 'MOBILE' | 'TABLET';

/** One page of the property on a page of results. */
export interface Result {
  readonly page: string;
  /** From 1. */
  readonly position: number;
  readonly clicks: number;
  /** Its search appearances, such as `RECIPE`. */
  readonly appearances?: readonly string[] | undefined;
}

/** Equal searches of one day. */
export interface Search {
  /** Lower case; null for anonymised queries, which count only in totals. */
  readonly query: string | null;
  /** Lower-case alpha-3. */
  readonly country: string;
  readonly device: Device;
  /** How many there were, at least 1. */
  readonly count: number;
  /** Pages of the property in the results; at least one, each once. */
  readonly results: readonly Result[];
}

/** How far a day has been counted: `final`, or the number of a step before. */
export type Stage = 'final' | number;

/** The searches of a property, from which all answers are computed. */
export interface SearchSource {
  /** The queries that are not anonymised. */
  queries(): readonly string[];
  /** Searches of a day; with `queries`, only of these. */
  searches(day: Day, stage: Stage, queries?: readonly string[]): Iterable<Search>;
  /** Changes whenever a final day changes. */
  revision(day: Day): number;
}

/** Clicks, impressions and the sum of one-based positions. */
export interface Measures {
  clicks: number;
  impressions: number;
  positions: number;
}

/** A search counted by property: once, at the best of its positions, and clicked at most once. */
export function countByProperty({ count, results }: Search): Measures {
  let clicks = 0;
  let best = Number.MAX_SAFE_INTEGER;
  for (const result of results) {
    clicks += result.clicks;
    if (result.position < best) best = result.position;
  }
  return { clicks: Math.min(clicks, count), impressions: count, positions: best * count };
}

/** A result counted by page: each page of the property that was shown counts. */
export function countByPage({ count }: Search, { clicks, position }: Result): Measures {
  return { clicks, impressions: count, positions: position * count };
}

export function addTo(sum: Measures, { clicks, impressions, positions }: Measures): void {
  sum.clicks += clicks;
  sum.impressions += impressions;
  sum.positions += positions;
}
