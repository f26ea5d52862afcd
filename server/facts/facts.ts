import type { Day, Month } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { DayGrid } from './day-grid.ts';
import type { KeywordTotalsPlan } from './keyword-plan.ts';
import type { KeywordTotals } from './keyword-totals.ts';

export type NamedMeasures = Measures & { readonly name: string };
export type DayMeasures = Measures & { readonly date: Day };
export type CountryMonth = Measures & { readonly month: Month; readonly country: string };

export type Device = 'all' | 'desktop' | 'mobile' | 'tablet';

/** What totals can be grouped by. */
export type Breakdown = 'country' | 'device' | 'appearance' | 'brand';

/** The range of a query, and the files that the manifest names for it. */
export interface FactsQuery {
  readonly files: readonly StoredFile[];
  readonly range: Range;
  readonly signal: AbortSignal;
}

/** A query for totals of keywords: its range, and the plan of which files to add up. */
export interface KeywordTotalsQuery extends Omit<FactsQuery, 'files'> {
  readonly plan: KeywordTotalsPlan;
}

/**
 * The queries over facts that reports need. A query without files has no rows. Throws `DamagedFile` for a file whose
 * content is not what was written.
 */
export interface Facts {
  /** The days of the property that have rows, in order. */
  siteDays(query: FactsQuery, device: Device): Promise<DayMeasures[]>;

  /** The days of a country that have rows, in order. */
  countryDays(query: FactsQuery, country: string): Promise<DayMeasures[]>;

  /** Whole months of one country, or of all (null), that the range touches. */
  countryMonths(query: FactsQuery, country: string | null): Promise<CountryMonth[]>;

  /** Totals by name, in no order. */
  totalsBy(breakdown: Breakdown, query: FactsQuery): Promise<NamedMeasures[]>;

  /** Totals of all keywords of `positions` (see `KeywordTotals`). */
  keywordTotals(
    query: KeywordTotalsQuery,
    device: Device,
    positions: ReadonlyMap<number, number>,
  ): Promise<KeywordTotals>;

  /**
   * The stored days of keywords; the grid has the keywords in the given order.
   * @param priority queries with a higher one leave the queue first
   */
  keywordDays(query: FactsQuery, device: Device, keywords: readonly string[], priority: number): Promise<DayGrid>;
}
