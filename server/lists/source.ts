import type { ListKind, SourceKind } from '../catalog/stored-lists.ts';
import type { Range } from '../domain/range.ts';
import type { RankedRows } from './ranked-rows.ts';
import type { Attempts } from './retries.ts';

/** A list as it is asked of a source. */
export interface ListQuery {
  readonly kind: ListKind;
  readonly property: string;
  readonly range: Range;
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  /** No other source can answer: a list without the newest days is better than none. */
  readonly allowMissingRecentDays: boolean;
}

/** What a source gave. */
export interface Fetched {
  /** The list, and perhaps a row more. Dispose of it. */
  readonly ranked: RankedRows;
  /** How many of the ranked rows are the list. */
  readonly rows: number;
  /** There were more rows than the list holds. */
  readonly truncated: boolean;
  /** There are as many rows as the source may give. */
  readonly capped: boolean;
  /** False where days of the range are missing that may come later. */
  readonly complete: boolean;
}

/** Somewhere that lists come from. */
export interface Source {
  /** As the API reports it. */
  readonly kind: SourceKind;
  /** For the log. */
  readonly name: 'search-console' | 'bigquery' | 'facts';
  /** Fetches the list. Throws `ProviderFailure` where the provider does not give it. */
  fetch(query: ListQuery, attempts: Attempts): Promise<Fetched>;
}
