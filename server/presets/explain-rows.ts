import type { UnsafeReason } from '../domain/comparison.ts';
import { mostChanged, RowSums } from '../domain/explained-rows.ts';
import { type ExactMeasures, NOTHING } from '../domain/metrics.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import { inTurns } from '../runtime/turns.ts';
import type { ListSource } from './lists.ts';
import type { ReportSources } from './report.ts';

/** What the rows of an explanation are. */
export const EXPLAIN_BY = ['page', 'query', 'keyword', 'device', 'country', 'brand'] as const;
export type ExplainBy = (typeof EXPLAIN_BY)[number];

/** What a row is about: the property of its kind. */
export type RowKey =
  | { readonly page: string }
  | { readonly query: string }
  | { readonly keyword: { readonly id: string; readonly query: string } }
  | { readonly device: string }
  | { readonly country: string }
  | { readonly segment: 'brand' | 'nonBrand' };

/** A row of two ranges. Without impressions in a range its measures there are zeros. */
export interface RangesRow {
  readonly key: RowKey;
  readonly now: ExactMeasures;
  readonly base: ExactMeasures;
}

/** Why rows of two ranges are unsafe to compare. */
export type RowsReason = Extract<UnsafeReason, 'missing_days' | 'monthly_spread' | 'cut_off' | 'different_source'>;

/** All rows of two ranges. */
export interface RangesRows {
  readonly sums: RowSums;
  /** Those whose clicks changed most in either direction, then by key. */
  readonly most: readonly RangesRow[];
  /** The lists that were read, if rows are read from lists. */
  readonly source: (ListSource & { readonly comparison: ListSource }) | null;
  readonly reasons: ReadonlySet<RowsReason>;
  /** The events of the provider that concern what the rows were read from. */
  readonly events: readonly ProviderEvent[];
}

/** Reads planned rows. @param limit of `most` */
export type ReadRows = (sources: ReportSources, limit: number, signal: AbortSignal) => Promise<RangesRows>;

/** Rows in the order of their keys, of which those without impressions in both ranges are left out. */
export async function orderedRows(
  rows: readonly RangesRow[],
  limit: number,
): Promise<Pick<RangesRows, 'sums' | 'most'>> {
  return inTurns(ordered(rows, limit));
}

function* ordered(rows: readonly RangesRow[], limit: number): Generator<void, Pick<RangesRows, 'sums' | 'most'>> {
  const shown: RangesRow[] = [];
  for (const { key, now, base } of rows) {
    if (now.impressions > 0 || base.impressions > 0) shown.push({ key, now: shownOf(now), base: shownOf(base) });
    yield;
  }
  const sums = RowSums.of(shown);
  return { sums, most: (yield* mostChanged(sums, limit)).map((row) => shown[row]!) };
}

/** A row without impressions is not in a range. */
function shownOf(measures: ExactMeasures): ExactMeasures {
  return measures.impressions === 0 ? NOTHING : measures;
}
