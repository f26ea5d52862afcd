import { type Measures, NOTHING, sum } from '../domain/metrics.ts';
import { decider, mapLeaves, type Test, type TextTest } from '../domain/predicate.ts';
import { REMAINDER_REASONS, type Remainder, type RemainderReason } from '../domain/quality.ts';
import type { Facts } from '../facts/facts.ts';
import { rowsWith } from '../facts/sums.ts';
import { type Dimension, type FactTable, TABLES } from '../model/tables.ts';
import { unknownDays } from './question-days.ts';
import type { QuestionPlan, QuestionValue } from './question-plan.ts';

interface Rows {
  /** What the rows add up to; null if they cannot be added up. */
  readonly total: Measures | null;
  /** Whether the search engine returned only a part of the rows of a day. */
  readonly cutOff: boolean;
  /** See `readWhole`. */
  readonly whole: Measures | null;
}

/** Tells what the rows of an answer leave out. */
export function remainderOf(
  { query, reference }: QuestionPlan & { readonly query: QuestionValue },
  { total, cutOff, whole }: Rows,
): Remainder {
  const { grain, dimensions } = query;
  const isGrouped = dimensions.includes('group') || dimensions.includes('pageGroup');
  const reasons = new Set<RemainderReason>([
    ...(reference.isFiltered ? (['filtered'] as const) : []),
    ...(TABLES[grain].leavesOut ?? []),
    ...(isGrouped ? (['not_grouped'] as const) : []),
    ...(cutOff ? (['cut_off'] as const) : []),
  ]);
  const told = (left: { clicks: number; impressions: number } | null): Remainder => ({
    clicks: left?.clicks ?? null,
    impressions: left?.impressions ?? null,
    why: left?.clicks === 0 && left.impressions === 0 ? [] : REMAINDER_REASONS.filter((reason) => reasons.has(reason)),
  });
  if (isUncountable(grain) || total === null) return told(null);
  if (isComplete(grain, reference)) return told({ clicks: 0, impressions: 0 });
  if (whole === null) reasons.add('unknown');
  return told(whole && { clicks: whole.clicks - total.clicks, impressions: whole.impressions - total.impressions });
}

function isUncountable(grain: FactTable): boolean {
  return TABLES[grain].counts === 'page' || TABLES[grain].leavesOut?.includes('overlapping') === true;
}

/** A part of the property that is stored itself is whole. */
function isComplete(grain: FactTable, reference: QuestionPlan['reference']): boolean {
  return grain === reference.grain && !reference.isFiltered && (grain === 'site_daily' || reference.filters.length > 0);
}

/**
 * The total of the property, or of the devices or countries that the filters choose; null if it is not known. Not read
 * where rows cannot be compared with it, or are all of it.
 */
export async function readWhole(
  facts: Facts,
  { query, ranges, reference }: QuestionPlan & { readonly query: QuestionValue },
  read: Parameters<typeof unknownDays>[2],
): Promise<Measures | null> {
  const { now: range } = ranges;
  if (range === null || isUncountable(query.grain) || isComplete(query.grain, reference)) return NOTHING;
  if (reference.days !== null) {
    const { unknown } = await unknownDays(facts, reference.days, read);
    if (unknown.length > 0) return null;
  }
  const test: Test<TextTest<Dimension>> = { op: 'and', of: reference.filters };
  if (reference.grain === 'site_daily') {
    const { from, to } = range;
    const isOfDevice = decider(
      test,
      ({ values }) =>
        (device: string) =>
          values.includes(device),
    );
    return sum(read.site.filter(({ date, device }) => from <= date && date <= to && isOfDevice(device)));
  }
  const { total } = await facts.sums({
    files: reference.files,
    range,
    signal: read.signal,
    table: reference.grain,
    by: [],
    test: mapLeaves(test, ({ values }) => rowsWith('country', values)),
    page: { order: [], limit: 1, offset: 0 },
  });
  return total;
}
