import type { Grain } from '../domain/grains.ts';
import { GRAINS, isTime } from '../domain/grains.ts';
import type { Measures } from '../domain/metrics.ts';
import { NOTHING } from '../domain/metrics.ts';
import type { Filter } from '../domain/question-filter.ts';
import type { Facts } from '../facts/facts.ts';
import type { RowTest } from '../facts/question.ts';
import { unknownDays } from './question-days.ts';
import type { QuestionPlan, QuestionValue } from './question-plan.ts';

/** Why rows do not add up to the property, in the order of answers. */
export const REMAINDER_REASONS = [
  'filtered',
  'anonymised',
  'not_tracked',
  'not_grouped',
  'not_reported',
  'cut_off',
  'counted_by_page',
  'overlapping',
  'unknown',
] as const;
export type RemainderReason = (typeof REMAINDER_REASONS)[number];

/** The property's total minus that of the rows; null where they are not counted alike, or one is not known. */
export interface Remainder {
  readonly clicks: number | null;
  readonly impressions: number | null;
  readonly why: readonly RemainderReason[];
}

/** What a grain itself leaves out. */
const OWN_REASONS: Readonly<Record<Grain, readonly RemainderReason[]>> = {
  site_daily: [],
  brand_daily: ['anonymised'],
  appearance_daily: ['overlapping'],
  country_daily: ['not_reported'],
  keyword_daily: ['not_tracked'],
  query_daily: ['anonymised'],
  page_daily: ['counted_by_page'],
  keyword_page_daily: ['not_tracked', 'counted_by_page'],
};

interface Rows {
  /** What the rows add up to; null if they cannot be added up. */
  readonly total: Measures | null;
  /** Whether the search engine returned only a part of the rows of a day. */
  readonly cutOff: boolean;
  readonly signal: AbortSignal;
}

/** Tells what the rows of an answer leave out. */
export async function readRemainder(
  facts: Facts,
  plan: QuestionPlan & { readonly query: QuestionValue },
  { total, cutOff, signal }: Rows,
): Promise<Remainder> {
  const { query, reference } = plan;
  const { grain, dimensions } = query;
  const isGrouped = dimensions.includes('group') || dimensions.includes('pageGroup');
  const reasons = new Set<RemainderReason>([
    ...(reference.isFiltered ? (['filtered'] as const) : []),
    ...OWN_REASONS[grain],
    ...(isGrouped ? (['not_grouped'] as const) : []),
    ...(cutOff ? (['cut_off'] as const) : []),
  ]);
  const told = (left: { clicks: number; impressions: number } | null): Remainder => ({
    clicks: left?.clicks ?? null,
    impressions: left?.impressions ?? null,
    why: left?.clicks === 0 && left.impressions === 0 ? [] : REMAINDER_REASONS.filter((reason) => reasons.has(reason)),
  });
  if (GRAINS[grain].aggregation === 'page' || grain === 'appearance_daily' || total === null) return told(null);
  // A part of the property that is stored itself is whole.
  const isComplete =
    grain === reference.grain && !reference.isFiltered && (grain === 'site_daily' || reference.filters.length > 0);
  if (isComplete) return told({ clicks: 0, impressions: 0 });
  const whole = await readReference(facts, plan, signal);
  if (whole === null) reasons.add('unknown');
  return told(whole && { clicks: whole.clicks - total.clicks, impressions: whole.impressions - total.impressions });
}

/** The total of the property, or of the devices or countries that the filters choose; null if it is not known. */
async function readReference(
  facts: Facts,
  { ranges, reference }: QuestionPlan,
  signal: AbortSignal,
): Promise<Measures | null> {
  if (ranges.now === null) return NOTHING;
  if (reference.days !== null) {
    const { unknown } = await unknownDays(facts, reference.days, signal);
    if (unknown.length > 0) return null;
  }
  const [row] = await facts.question({
    files: reference.files,
    range: ranges.now,
    signal,
    table: reference.grain,
    by: [],
    test: { op: 'and', of: reference.filters.map(testOf) },
    isTotal: false,
    order: [],
    limit: 1,
    offset: 0,
  });
  return row ?? NOTHING;
}

/** Filters on devices or countries, whose columns have their names. */
function testOf(filter: Filter): RowTest {
  if (filter.op === 'not') return { op: 'not', of: [testOf(filter.of[0])] };
  if ('of' in filter) return { op: filter.op, of: filter.of.map(testOf) };
  const { op, dimension, values } = filter;
  if (isTime(dimension) || (dimension !== 'device' && dimension !== 'country'))
    throw new Error(`no column ${dimension}`);
  return { op, column: dimension, values };
}
