import type { ConnectionKind } from '../catalog/connections.ts';
import type { ListKind, SourceKind } from '../catalog/stored-lists.ts';
import type { Range } from '../domain/range.ts';
import type { ProviderRun } from '../providers/retries.ts';
import type { RankedRows } from './ranked-rows.ts';

/** The query of a list to a source. */
export interface ListQuery {
  readonly kind: ListKind;
  readonly property: string;
  readonly range: Range;
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  /** Accepts a list without the newest days, because no other source is available. */
  readonly allowMissingRecentDays: boolean;
}

/** A fetched list. */
export interface Fetched {
  /** The list, possibly with one additional row. Must be disposed. */
  readonly ranked: RankedRows;
  /** Number of rows of the list. */
  readonly rows: number;
  /** There were more rows than the maximum. */
  readonly truncated: boolean;
  /** The number of rows is the maximum. */
  readonly capped: boolean;
  /** False if days of the range are missing and may be available later. */
  readonly complete: boolean;
}

/** A provider as a source of lists. */
export interface ProviderSource {
  /** The source kind in responses. */
  readonly kind: SourceKind;
  readonly provider: ConnectionKind;
  /** Fetches the list. Throws `ProviderFailure`. */
  fetch(query: ListQuery, run: ProviderRun): Promise<Fetched>;
}

/** The project's stored facts as a source of lists, without a provider. */
export interface OwnSource {
  readonly kind: SourceKind;
  readonly provider: null;
  fetch(query: ListQuery): Promise<Fetched>;
}

/** A source of lists. */
export type Source = ProviderSource | OwnSource;
