import type { KeywordGaps } from '../catalog/keyword-gaps.ts';
import type { TrackedKeywords, TrackedKeywordsCache } from '../catalog/tracked.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import type { Comparer } from '../domain/comparison.ts';
import { type Bucket, bucketsOf, daysUntil } from '../domain/intervals.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import { readsSums } from '../domain/predicate.ts';
import { eventsOf } from '../domain/provider-events.ts';
import type { Remainder } from '../domain/quality.ts';
import { type Range, spanOf } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import { EVERY_ROW, type ReadRow } from '../facts/sums.ts';
import { intervalOf, isTime, TABLES } from '../model/tables.ts';
import { type QuestionNames, readNames } from '../query/names.ts';
import { type QuestionTest, sentFilter } from '../query/predicate.ts';
import { qualityOf } from '../query/quality.ts';
import { RefusedQuestion } from '../query/refuse.ts';
import { refuseUnknownKeywords } from './keyword-days.ts';
import { refuseUnknown, unknownDays, WITHOUT_COMPARE } from './question-days.ts';
import type { QuestionPlan, QuestionValue } from './question-plan.ts';
import { keyOf, QuestionRows } from './question-rows.ts';
import { readWhole, remainderOf } from './remainder.ts';
import { projectReference } from './report.ts';

/** A row as it was read, with what follows from it. */
export interface QuestionRow extends ReadRow {
  /** See `daysUntil`; of weeks and months. */
  readonly days?: number | undefined;
  /** See `PartSums`. */
  readonly base?: Measures | null;
  readonly comparer?: Comparer | null;
}

interface Sources {
  readonly facts: Facts;
  readonly cache: TrackedKeywordsCache;
  readonly signal: AbortSignal;
}

type Plan = QuestionPlan & {
  readonly query: QuestionValue & { readonly workspace: string };
  readonly tracked: TrackedKeywords;
};

/** Answers a question exactly, or throws `invalid_request` that says what is not known. */
export async function answerQuestion(plan: Plan, { facts, cache, signal }: Sources) {
  const { query, project, ranges, quality } = plan;
  const { from, to, comparison, grain, limit, offset } = query;
  const range = { from, to };
  const totalsOf = totalsReader(plan, facts, signal);
  // Read beside the property, which tells what is known. A failure is thrown where the totals are used.
  if (plan.isOfTotals && ranges.now !== null) totalsOf(ranges.now).catch(() => {});
  const names = await namesOf(plan, { facts, cache, signal }, totalsOf);
  const rows = new QuestionRows(facts, { plan, names, totalsOf, signal });
  const site = await readSite(plan, facts, signal);
  const known = site && (await readKnown(plan, facts, { site, signal }));
  await refuseUnknownKeywords(facts, plan.keywordDays, signal, 'range');
  for (const [at, partial] of plan.partial.entries()) {
    refusePartial(names, partial, { filters: query.filters, isOfComparison: at > 0 });
  }
  const [{ rows: read, count, total }, baseTotal, whole] = await Promise.all([
    rows.of(range, ranges.now),
    comparison && rows.total(ranges.base),
    site === null ? NOTHING : readWhole(facts, plan, { site, signal }),
  ]);
  const cutOff = known !== null && bucketsOf(range, 'day').some(({ from: day }) => known.isCutOff(day));
  const compared = comparison && new ComparedRanges(range, comparison, known ?? NO_REASONS, null);
  const buckets = bucketsFor(query, compared);
  const lastDay = project.syncedThrough ?? to;
  const answersOf = async (batch: readonly ReadRow[]): Promise<readonly QuestionRow[]> => {
    // Rows of remembered lists stay the same objects, whose JSON is remembered too.
    if (comparison === null && !hasDayCounts(query)) return batch;
    const before = comparison && (await rows.compared(comparison, ranges.base, batch));
    return batch.map(rowMaker({ buckets, before, compared, query, lastDay }));
  };
  const answers = await answersOf(read);
  async function* batches(): AsyncGenerator<readonly QuestionRow[]> {
    yield answers;
    for await (const batch of rows.after(read.length, count, range, ranges.now)) yield await answersOf(batch);
  }
  const totals = total && {
    now: total,
    ...(compared && baseTotal && { base: baseTotal, comparer: compared.total }),
  };
  const remainder: Remainder = remainderOf(plan, { total, cutOff, whole });
  const aggregation = TABLES[grain].counts;
  return {
    head: {
      project: projectReference(project),
      range: {
        ...range,
        provisionalAfter: project.provisionalAfter,
        ...(comparison === null ? {} : { comparison }),
      },
      grain,
      aggregation,
    },
    rows: answers,
    /** The rows, and of a question for all those that are read one batch after the other. */
    batches,
    totals: query.totals ? totals : undefined,
    remainder,
    paging: { total: count, limit: limit ?? count, offset },
    quality: await qualityOf(facts, quality, signal),
    dimensions: query.dimensions,
    /** For each dimension the values that names stand for. */
    valuesOf: names.valuesOf,
    metrics: query.metrics,
    isCompared: comparison !== null,
  };
}

type TotalsOf = (range: Range) => Promise<KeywordTotals>;

/** Reads the totals of keywords over one of the ranges of a plan, once. */
function totalsReader({ totals, tracked, ranges, partial }: Plan, facts: Facts, signal: AbortSignal): TotalsOf {
  const known = new Map<Range, Promise<KeywordTotals>>();
  return (range) => {
    const unknown = new Set(partial[range === ranges.now ? 0 : 1]?.keys());
    const found =
      known.get(range) ??
      facts.keywordTotals({ files: totals.get(range)!, range, unknown, signal }, 'all', tracked.indexes);
    known.set(range, found);
    return found;
  };
}

function namesOf(plan: Plan, { facts, cache, signal }: Sources, totalsOf: TotalsOf): Promise<QuestionNames> {
  const { query, files, tracked, pageGroups, ranges } = plan;
  const { from, to, comparison } = query;
  const range = { from, to };
  const all = comparison === null ? range : spanOf([range, comparison]);
  return readNames({
    question: query,
    tracked,
    pageGroups,
    cache,
    totals: async () => {
      if (ranges.now === null) return () => NOTHING;
      const found = await totalsOf(ranges.now);
      return (keyword) => found.of(keyword);
    },
    urls: () => facts.pageUrls({ files, range: all, signal }),
    texts: async (column) => {
      const { rows } = await facts.sums({
        files,
        range: all,
        signal,
        table: query.grain,
        by: [column],
        test: EVERY_ROW,
      });
      return rows.map(({ names }) => names[0]!);
    },
  });
}

/** The property, which tells what is known and what remains; null for questions about nothing else, and before a sync. */
async function readSite({ query, days, project }: Plan, facts: Facts, signal: AbortSignal) {
  const isWhole = query.grain === 'site_daily' && !days.devices && !query.filters.some((filter) => readsSums(filter));
  const isPlain = isWhole && query.comparison === null;
  if (project.syncedThrough === null || isPlain) return null;
  return facts.siteDevices({ files: days.known.siteFiles, range: spanOf(days.known.ranges), signal });
}

/** What is known of the days of the ranges. Throws `invalid_request` if one of them is not known. */
async function readKnown({ query: { from, to }, days }: Plan, facts: Facts, read: Parameters<typeof unknownDays>[2]) {
  const { unknown, known } = await unknownDays(facts, days, read);
  refuseUnknown(days, { from, to }, unknown);
  return known;
}

const NO_REASONS = { reasonsOn: () => ['missing_days'] as const, events: eventsOf('web') };

/** The most keywords that a nearest question names. */
const MAX_NAMED = 100;

/** Keywords that were tracked after others may lack days that these have. */
function refusePartial(
  { keywords }: QuestionNames,
  partial: KeywordGaps,
  { filters, isOfComparison }: { readonly filters: readonly QuestionTest[]; readonly isOfComparison: boolean },
): void {
  if (partial.size === 0) return;
  const lacking = keywords().filter(({ id }) => partial.has(id));
  if (lacking.length === 0) return;
  const named = lacking.slice(0, 3).map(({ query }) => `'${query}'`);
  const others = [
    ...filters.map((filter) => sentFilter(filter)),
    ['not', ['equals', 'keyword', lacking.map(({ query }) => query)]],
  ];
  const without = {
    says: 'the same without them, by ["not", ["equals", "keyword", […]]]',
    question: { filters: others },
  };
  const isLoading = lacking.every(({ id }) => partial.get(id)!.every(({ fetched }) => fetched !== undefined));
  const why = isLoading ? 'which are still being loaded' : 'which were stored before these keywords were tracked';
  throw new RefusedQuestion(
    `${isOfComparison ? 'compare' : 'range'}: ${lacking.length} of the keywords (${named.join(', ')}) lack days of the range, ${why}; a shorter range may have all.`,
    [...(isOfComparison ? [WITHOUT_COMPARE] : []), ...(lacking.length > MAX_NAMED ? [] : [without])],
  );
}

/** A day, week or month of the range. */
interface TimedBucket extends Bucket {
  /** Null without a comparison, and if the other range has no such days. */
  readonly comparer: Comparer | null;
}

/** The days, weeks or months of the range by their first day; undefined for questions without time. */
function bucketsFor(
  { from, to, dimensions }: QuestionValue,
  compared: ComparedRanges | null,
): ReadonlyMap<string, TimedBucket> | undefined {
  const time = dimensions.find(isTime);
  if (time === undefined) return undefined;
  const buckets = bucketsOf({ from, to }, intervalOf(time));
  return new Map(buckets.map((bucket) => [bucket.from, { ...bucket, comparer: compared?.part(bucket) ?? null }]));
}

/** Whether rows say how many days they have. */
function hasDayCounts({ dimensions }: QuestionValue): boolean {
  return dimensions.includes('week') || dimensions.includes('month');
}

interface RowContext {
  readonly buckets: ReadonlyMap<string, TimedBucket> | undefined;
  /** The sums of the range to compare with, by the keys of rows; null without one. */
  readonly before: ReadonlyMap<string, Measures> | null;
  readonly compared: ComparedRanges | null;
  readonly query: QuestionValue;
  readonly lastDay: string;
}

function rowMaker({ buckets, before, compared, query, lastDay }: RowContext): (row: ReadRow) => QuestionRow {
  const { dimensions } = query;
  const timeAt = dimensions.findIndex(isTime);
  const deviceAt = dimensions.indexOf('device');
  const counts = hasDayCounts(query);
  return (row) => {
    const bucket = buckets?.get(row.names[timeAt]!);
    const days = counts && bucket ? daysUntil(bucket, lastDay) : undefined;
    if (compared === null || before === null) return { ...row, days };
    const device = row.names[deviceAt] as 'desktop' | 'mobile' | 'tablet' | undefined;
    const total = device === undefined ? compared.total : compared.ofDevice(device);
    const comparer = bucket === undefined ? total : bucket.comparer;
    return { ...row, days, base: comparer && (before.get(keyOf(row)) ?? NOTHING), comparer };
  };
}
