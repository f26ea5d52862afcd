import type { KeywordGaps, TrackedKeywords, TrackedKeywordsCache } from '../catalog/keywords.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import type { Day } from '../domain/dates.ts';
import { bucketsOf, daysUntil } from '../domain/intervals.ts';
import { NOTHING } from '../domain/metrics.ts';
import { readsSums } from '../domain/predicate.ts';
import { eventsOf } from '../domain/provider-events.ts';
import { spanOf } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keywords.ts';
import { EVERY_ROW } from '../facts/sums.ts';
import { intervalOf, isTime } from '../model/tables.ts';
import { refuseUnknownKeywords } from './keyword-totals.ts';
import { type QuestionNames, readNames } from './names.ts';
import { type QuestionTest, sentFilter } from './predicate.ts';
import { qualityOf } from './quality.ts';
import { rangesIn } from './query.ts';
import { refuseUnknown, unknownDays, WITHOUT_COMPARE } from './question-days.ts';
import { type AskedRange, type QuestionPlan, type QuestionValue, readWhole, remainderOf } from './question-plan.ts';
import { nothingIn, QuestionRows } from './question-rows.ts';
import { RefusedQuestion } from './refuse.ts';
import { keyOf, type Row, type Sums } from './rows.ts';

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
  const { query, project, range, base, quality } = plan;
  const { dimensions, limit, offset } = query;
  const nothing = nothingIn(query.table);
  const totalsOf = totalsReader(plan, facts, signal);
  // Read beside the property, which tells what is known. A failure is thrown where the totals are used.
  if (plan.isOfTotals && range.served !== null) totalsOf(range).catch(() => {});
  const names = await namesOf(plan, { facts, cache, signal }, totalsOf);
  const rows = new QuestionRows(facts, { plan, names, totalsOf, signal });
  const site = await readSite(plan, facts, signal);
  const known = site && (await readKnown(plan, facts, { site, signal }));
  await refuseUnknownKeywords(facts, plan.keywordDays, signal, 'range');
  for (const asked of [range, ...(base ? [base] : [])]) {
    refusePartial(names, asked.gaps, { filters: query.filters, isOfComparison: asked === base });
  }
  const [{ rows: read, count, total }, baseTotal, whole] = await Promise.all([
    rows.of(range),
    base && rows.total(base),
    site === null ? NOTHING : readWhole(facts, plan, { site, signal }),
  ]);
  const cutOff = known !== null && bucketsOf(range, 'day').some(({ from: day }) => known.isCutOff(day));
  const compared = base && new ComparedRanges(range, base, known ?? NO_REASONS, null);
  const daysOf = dayCounter(query, project.syncedThrough ?? range.to);
  const comparerOf = compared?.ofRows(dimensions);
  const answersOf = async (batch: readonly Row[]): Promise<readonly Row[]> => {
    // Rows of remembered lists stay the same objects, whose JSON is remembered too.
    if (base === null && daysOf === undefined) return batch;
    const before = base && (await rows.compared(base, batch));
    return batch.map((row) => {
      const days = daysOf?.(row.names);
      if (comparerOf === undefined || before === null) return { ...row, days };
      const comparer = comparerOf(row.names);
      return { ...row, days, base: comparer && (before.get(keyOf(row.names)) ?? nothing), comparer };
    });
  };
  const answers = await answersOf(read);
  async function* batches(): AsyncGenerator<readonly Row[]> {
    yield answers;
    for await (const batch of rows.after(read.length, count, range)) yield await answersOf(batch);
  }
  const totals: Sums | null = total && {
    now: total,
    ...(compared && baseTotal && { base: baseTotal, comparer: compared.total }),
  };
  return {
    query,
    project,
    rows: answers,
    /** The rows, and of a question for all those that are read one batch after the other. */
    batches,
    totals: query.totals ? totals : undefined,
    remainder: remainderOf(plan, { total, cutOff, whole }),
    paging: { total: count, limit: limit ?? count, offset },
    quality: await qualityOf(facts, quality, signal),
    /** For each dimension the values that names stand for. */
    valuesOf: names.valuesOf,
  };
}

/** Counts the days of weeks and months by the names of rows; undefined for questions about neither. */
function dayCounter(
  { from, to, dimensions }: QuestionValue,
  lastDay: Day,
): ((names: readonly string[]) => number) | undefined {
  const time = dimensions.find(isTime);
  if (time === undefined || time === 'date') return undefined;
  const at = dimensions.indexOf(time);
  const buckets = bucketsOf({ from, to }, intervalOf(time));
  const counts = new Map(buckets.map((bucket) => [bucket.from, daysUntil(bucket, lastDay)]));
  return (names) => counts.get(names[at]!)!;
}

type TotalsOf = (range: AskedRange) => Promise<KeywordTotals>;

/** Reads the totals of keywords over the served days of a range of a plan, once. */
function totalsReader({ tracked }: Plan, facts: Facts, signal: AbortSignal): TotalsOf {
  const known = new Map<AskedRange, Promise<KeywordTotals>>();
  return (asked) => {
    const { served, totals: files, gaps } = asked;
    const unknown = new Set(gaps.keys());
    const found =
      known.get(asked) ?? facts.keywordTotals({ files, range: served!, unknown, signal }, 'all', tracked.indexes);
    known.set(asked, found);
    return found;
  };
}

function namesOf(plan: Plan, { facts, cache, signal }: Sources, totalsOf: TotalsOf): Promise<QuestionNames> {
  const { query, files, tracked, pageGroups, range } = plan;
  const all = spanOf(rangesIn(query));
  return readNames({
    question: query,
    tracked,
    pageGroups,
    cache,
    totals: async () => {
      if (range.served === null) return () => NOTHING;
      const found = await totalsOf(range);
      return (keyword) => found.of(keyword);
    },
    urls: () => facts.pageUrls({ files, range: all, signal }),
    texts: async (column) => {
      const { rows } = await facts.sums({
        files,
        range: all,
        signal,
        table: query.table,
        by: [column],
        test: EVERY_ROW,
      });
      return rows.map(({ names }) => names[0]!);
    },
  });
}

/**
 * The rows of the property, which tell what is known and what remains; null before a sync, and for a question about the
 * property alone without comparison and without conditions on sums.
 */
async function readSite({ query, days, project }: Plan, facts: Facts, signal: AbortSignal) {
  const isWhole = query.table === 'site_daily' && !days.devices && !query.filters.some((filter) => readsSums(filter));
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
  const why = isLoading ? 'which are still being loaded' : 'which were stored while these keywords were not tracked';
  throw new RefusedQuestion(
    `${isOfComparison ? 'compare' : 'range'}: ${lacking.length} of the keywords (${named.join(', ')}) lack days of the range, ${why}; a shorter range may have all.`,
    [...(isOfComparison ? [WITHOUT_COMPARE] : []), ...(lacking.length > MAX_NAMED ? [] : [without])],
  );
}
