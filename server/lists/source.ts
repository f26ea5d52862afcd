import type { FetchedCounts, ListQuery } from '../providers/provider.ts';
import type { ProviderRun } from '../providers/retries.ts';
import type { RankedRows } from './ranked-rows.ts';

export interface Fetched extends FetchedCounts {
  /** The list, possibly with one additional row. Must be disposed. */
  readonly ranked: RankedRows;
  /** The number of rows is the maximum. */
  readonly capped: boolean;
}

/** A provider as a source of lists. */
export interface ProviderSource {
  /** The source kind in responses. */
  readonly kind: string;
  /** The kind of its connections. */
  readonly provider: string;
  /** See `ProviderJob`. Throws `ProviderFailure`. */
  limited(): Promise<string | undefined>;
  /** Fetches the list. Throws `ProviderFailure`. */
  fetch(query: ListQuery, run: ProviderRun): Promise<Fetched>;
}

/** The project's stored facts as a source of lists, without a provider. */
export interface OwnSource {
  readonly kind: string;
  readonly provider: null;
  fetch(query: ListQuery): Promise<Fetched>;
}

export type Source = ProviderSource | OwnSource;
