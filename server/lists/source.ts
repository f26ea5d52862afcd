import type { ConnectionKind } from '../catalog/connections.ts';
import type { ListKind, SourceKind } from '../catalog/stored-lists.ts';
import type { Range } from '../domain/range.ts';
import type { ProviderRun } from '../providers/retries.ts';
import type { RankedRows } from './ranked-rows.ts';

/** A list as a source gives it. */
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

/** A provider as a source of lists. */
export interface ProviderSource {
  /** As the API reports it. */
  readonly kind: SourceKind;
  readonly provider: ConnectionKind;
  /** Fetches the list. Throws `ProviderFailure` where the provider does not give it. */
  fetch(query: ListQuery, run: ProviderRun): Promise<Fetched>;
}

/** The project's own facts as a source of lists: nobody else is asked. */
export interface OwnSource {
  readonly kind: SourceKind;
  readonly provider: null;
  fetch(query: ListQuery): Promise<Fetched>;
}

/** Somewhere that lists come from. */
export type Source = ProviderSource | OwnSource;
