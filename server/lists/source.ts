import type { ListKind, SourceKind } from '../catalog/kept-lists.ts';
import type { Range } from '../domain/range.ts';
import type { Attempts } from './retries.ts';

/** A list as it is asked of a source. */
export interface Question {
  readonly kind: ListKind;
  readonly property: string;
  readonly range: Range;
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  /** No other source can answer: a list without the newest days is better than none. */
  readonly newestMayLack: boolean;
}

/** What a source wrote: ranked rows (`rank`, `text`, `clicks`, `impressions`, `sum_position`) in a Parquet file. */
export interface Written {
  readonly rows: number;
  /** There were more rows than were written. */
  readonly truncated: boolean;
  /** There are as many rows as the source may give. */
  readonly capped: boolean;
  /** False where days of the range are missing that may come later. */
  readonly complete: boolean;
}

/** Somewhere that lists come from. */
export interface Source {
  /** As the API tells it. */
  readonly kind: SourceKind;
  /** For the log. */
  readonly name: 'search-console' | 'bigquery' | 'facts';
  /**
   * Writes the list to the Parquet file `target`. Throws `ProviderFailure` where the provider does not give it; then a
   * part of the file may be there.
   */
  write(question: Question, target: string, attempts: Attempts): Promise<Written>;
}
