import { filesOf, keywordFilesUntil, readCoverage } from '../catalog/fact-files.ts';
import { type KeywordGaps, listPageGroups, readKeywordGaps, type TrackedRead } from '../catalog/keywords.ts';
import type { Compare } from '../domain/comparison.ts';
import { type Measures, NOTHING, sum } from '../domain/metrics.ts';
import { conjunctsOf, decider, mapLeaves, readsSums, type Test, type TextTest } from '../domain/predicate.ts';
import { REMAINDER_REASONS, type Remainder, type RemainderReason } from '../domain/quality.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeywordFiles } from '../facts/keywords.ts';
import { rowsWith } from '../facts/sums.ts';
import { countsIn, type Dimension, type FactTable, hasDimension, type StoredTable, TABLES } from '../model/tables.ts';
import { planKeywordDays } from './keyword-totals.ts';
import { dimensionsOf, type QuestionTest } from './predicate.ts';
import { planQuality } from './quality.ts';
import { rangesIn } from './query.ts';
import type { Question } from './question.ts';
import { planQuestionDays, type QuestionDaysPlan, unknownDays } from './question-days.ts';

/** A question about certain days. */
export interface QuestionValue extends Range, Omit<Question, 'range' | 'compare'> {
  readonly comparison: Range | null;
  /** The comparison as it was asked for. */
  readonly compare: Compare | null;
}

/** A range of a question, and what to read of it. */
export interface AskedRange extends Range {
  /** The days up to the last synced one; null for none. */
  readonly served: Range | null;
  /** The files of the totals of keywords over the served days; null if they are not needed. */
  readonly totals: KeywordFiles | null;
  /** The keywords that lack days of the range. */
  readonly gaps: KeywordGaps;
}

/** The dimensions of a question and of its filters. */
function usedIn({ dimensions, filters }: Pick<Question, 'dimensions' | 'filters'>): Dimension[] {
  return [...dimensions, ...filters.flatMap(dimensionsOf)];
}

/** Facts of keywords are also stored summed over devices, which are fewer rows. */
function tableOf(table: FactTable, used: readonly Dimension[]): StoredTable {
  return table === 'keyword_daily' && !used.includes('device') ? 'keyword_all' : table;
}

/** Plans what to read for a question. */
export async function planQuestion({ catalog, project, tracked }: TrackedRead, query: QuestionValue) {
  const { table, comparison, from, to, filters } = query;
  const used = usedIn(query);
  const coverage = await readCoverage(catalog, project.id);
  const ranges = rangesIn(query);
  const { syncedThrough } = project;
  const served = (range: Range): Range | null =>
    syncedThrough === null ? null : within(range, range.from, syncedThrough);
  const hull = spanOf(ranges);
  const files = async (table: StoredTable) => (served(hull) === null ? [] : filesOf(catalog, project.id, table, hull));
  const daysOf = (of: FactTable, devices: boolean, asked: readonly Range[]): Promise<QuestionDaysPlan> =>
    planQuestionDays(catalog, project, of, { ranges: asked, coverage, devices, hasEvents: comparison !== null });
  const isOfKeywords = hasDimension(table, 'keyword');
  const isOfTotals = used.length > 0 && used.every((dimension) => dimension === 'keyword' || dimension === 'group');
  const needsTotals = isOfTotals || used.includes('group');
  const asked = async (range: Range): Promise<AskedRange> => {
    const days = served(range);
    return {
      ...range,
      served: days,
      totals: days && needsTotals ? await keywordFilesUntil(catalog, project.id, days.to, true) : null,
      gaps: isOfKeywords ? await readKeywordGaps(catalog, project.id, range) : NO_GAPS,
    };
  };
  const reference = referenceOf(table, filters);
  return {
    project,
    range: await asked({ from, to }),
    /** What to compare with; null for nothing. */
    base: comparison && (await asked(comparison)),
    days: await daysOf(table, used.includes('device'), ranges),
    files: isOfTotals ? [] : await files(tableOf(table, used)),
    /** What the remainder is measured against: the property, or the devices or countries that the filters choose. */
    reference: {
      ...reference,
      days:
        reference.table === 'site_daily' && reference.filters.length === 0
          ? null
          : await daysOf(reference.table, true, [{ from, to }]),
      files: reference.table === 'site_daily' ? [] : await files(reference.table),
    },
    /** What tells whether the days of keywords are known; null if the question is not about any. */
    keywordDays: isOfKeywords ? await planKeywordDays(catalog, project, { from, to }, { tracked, coverage }) : null,
    /** Whether the totals of keywords answer it. */
    isOfTotals,
    pageGroups: used.includes('pageGroup') ? await listPageGroups(catalog, project.id) : [],
    quality: query.quality ? await planQuality(catalog, project, { from, to, table, device: null, coverage }) : null,
  };
}

const NO_GAPS: KeywordGaps = new Map();

export type QuestionPlan = Awaited<ReturnType<typeof planQuestion>>;

/** What the rows are a part of: the property, with those filters that the property is stored by. */
function referenceOf(table: FactTable, filters: Question['filters']) {
  const all = conjunctsOf(filters);
  for (const [dimension, of] of [
    ['device', 'site_daily'],
    ['country', 'country_daily'],
  ] as const) {
    if (!hasDimension(table, dimension)) continue;
    const isOf = (filter: QuestionTest): filter is Test<TextTest<Dimension>> =>
      !readsSums(filter) && dimensionsOf(filter).every((name) => name === dimension);
    const applied = all.filter(isOf);
    if (applied.length > 0) return { table: of, filters: applied, isFiltered: applied.length < all.length };
  }
  return { table: 'site_daily' as const, filters: [], isFiltered: all.length > 0 };
}

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
  const { table, dimensions } = query;
  const isGrouped = dimensions.includes('group') || dimensions.includes('pageGroup');
  const reasons = new Set<RemainderReason>([
    ...(reference.isFiltered ? (['filtered'] as const) : []),
    ...(TABLES[table].leavesOut ?? []),
    ...(isGrouped ? (['not_grouped'] as const) : []),
    ...(cutOff ? (['cut_off'] as const) : []),
  ]);
  const told = (left: { clicks: number; impressions: number } | null): Remainder => ({
    clicks: left?.clicks ?? null,
    impressions: left?.impressions ?? null,
    why: left?.clicks === 0 && left.impressions === 0 ? [] : REMAINDER_REASONS.filter((reason) => reasons.has(reason)),
  });
  // The property has no total of what is counted in place of searches.
  if (countsIn(table) !== null) reasons.add('unknown');
  if (isUncountable(table) || total === null) return told(null);
  if (isComplete(table, reference)) return told({ clicks: 0, impressions: 0 });
  if (whole === null) reasons.add('unknown');
  return told(whole && { clicks: whole.clicks - total.clicks, impressions: whole.impressions - total.impressions });
}

function isUncountable(table: FactTable): boolean {
  return (
    countsIn(table) !== null ||
    TABLES[table].counts === 'page' ||
    TABLES[table].leavesOut?.includes('overlapping') === true
  );
}

/** A part of the property that is stored itself is whole. */
function isComplete(table: FactTable, reference: QuestionPlan['reference']): boolean {
  return table === reference.table && !reference.isFiltered && (table === 'site_daily' || reference.filters.length > 0);
}

/**
 * The total of the property, or of the devices or countries that the filters choose; null if it is not known. Not read
 * where rows cannot be compared with it, or are all of it.
 */
export async function readWhole(
  facts: Facts,
  { query, range: { served: range }, reference }: QuestionPlan & { readonly query: QuestionValue },
  read: Parameters<typeof unknownDays>[2],
): Promise<Measures | null> {
  if (range === null || isUncountable(query.table) || isComplete(query.table, reference)) return NOTHING;
  if (reference.days !== null) {
    const { unknown } = await unknownDays(facts, reference.days, read);
    if (unknown.length > 0) return null;
  }
  const test: Test<TextTest<Dimension>> = { op: 'and', of: reference.filters };
  if (reference.table === 'site_daily') {
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
    table: reference.table,
    by: [],
    test: mapLeaves(test, ({ values }) => rowsWith('country', values)),
    page: { order: [], limit: 1, offset: 0 },
  });
  return total;
}
