import type { Catalog } from '../catalog/catalog.ts';
import { isUnknownIn, type KeywordGaps, lacksDays, readKeywordGaps, unknownIn } from '../catalog/keyword-gaps.ts';
import { groupExists } from '../catalog/keywords.ts';
import { filesOf, keywordFilesUntil, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { TrackedKeyword, TrackedKeywords } from '../catalog/tracked.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import type { Comparer } from '../domain/comparison.ts';
import { countDays } from '../domain/dates.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { withDescendants } from '../domain/groups.ts';
import { type Bucket, bucketsOf, daysUntil, type Interval } from '../domain/intervals.ts';
import { comparedKeywordRange, keywordRange, oneDevice } from '../domain/project-ranges.ts';
import type { Quality } from '../domain/quality.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { DaySums } from '../facts/day-grid.ts';
import type { DaysQuery, Device, Facts, FactsQuery, KeywordDays } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from '../query/known-days.ts';
import { planQuality, qualityOf } from '../query/quality.ts';
import { planKeywordDays, refuseUnknownKeywords } from '../query/strict-days.ts';
import * as parameter from './parameters.ts';
import { projectReference, trackedReport } from './report.ts';

const parameters = {
  ...parameter.rangeParameters,
  device: parameter.device,
  daily: parameter.flag('Adds the days of each keyword.'),
  interval: parameter.interval,
  compare: parameter.compare,
  quality: parameter.quality,
  group: parameter.group,
  ...parameter.paging(1000, 5000),
  ...parameter.selectionParameters('keywords'),
  ...parameter.formatParameters,
};

interface KeywordsParameters extends Range, Selection {
  /** Whether the range was limited to the keyword history of the plan. */
  readonly clamped: boolean;
  readonly device: Device;
  readonly daily: boolean;
  readonly interval: Interval;
  readonly comparison: ComparedRange | null;
  readonly quality: boolean;
  readonly group: string | null;
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** The other range of a comparison, as far as the plan can read it. */
interface ComparedRange extends Range {
  readonly clamped: boolean;
  /** The range as requested, whose days are those that are compared. */
  readonly asked: Range;
}

/** The data to compare keywords with. */
export interface KeywordComparison {
  readonly ranges: ComparedRanges;
  /** For the known totals of a keyword, which may lack days that others have. */
  readonly comparerOf: (keyword: TrackedKeyword) => Comparer;
  /** Totals over the other range. */
  readonly totals: KeywordTotals;
}

export interface KeywordsResult {
  /** Metadata before the keywords. */
  readonly head: {
    readonly project: { readonly id: string; readonly domain: string };
    readonly range: Range & {
      readonly device: Device;
      readonly clamped: boolean;
      readonly provisionalAfter: string | null;
      readonly comparison?: Range & { readonly clamped: boolean };
    };
    readonly quality?: Quality;
    readonly paging: { readonly total: number; readonly limit: number; readonly offset: number };
  };
  readonly tracked: Pick<TrackedKeywords, 'keywords' | 'membership'>;
  /** The keywords of the page. */
  readonly keywords: readonly TrackedKeyword[];
  /** Unknown for keywords that are unknown on a stored day of the range. */
  readonly totals: KeywordTotals;
  /** Undefined without a comparison. */
  readonly comparison: KeywordComparison | undefined;
  /** The days, or longer intervals, of the page; undefined without `daily`. */
  readonly daily: KeywordSeries | undefined;
}

export interface KeywordSeries {
  readonly buckets: readonly Bucket[];
  /** The number of days of each interval; undefined for single days. */
  readonly dayCounts: readonly number[] | undefined;
  /** Some keywords at a time, each part read on demand. */
  readonly batches: AsyncIterable<KeywordDays<TrackedKeyword>>;
}

/** Tracked keywords with totals over a range, and their days. */
export const keywordsReport = trackedReport({
  operation: 'listKeywords',
  parameters,
  parse: (sent, project, now): KeywordsParameters => {
    const { from, to, period, compare, limit, ...values } = parameter.readParameters(parameters, sent);
    const { device, daily, interval, quality, group = null, filter, sort, offset } = values;
    if (interval !== 'day' && !daily) throw invalidRequest(`interval=${interval} adds up days; send daily=1 with it.`);
    const days = keywordRange({ from, to, period }, project, now);
    const comparison = comparedKeywordRange(days, compare, project, now);
    const page = { filter, sort, limit: parameter.rowLimit(sent, limit), offset };
    return { ...days, device, daily, interval, comparison, quality, group, ...page };
  },
  checkIds: async (sent, project, catalog) => {
    const { group } = sent as { group?: unknown };
    if (typeof group === 'string' && group !== '' && !(await groupExists(catalog, project.id, group))) {
      throw unknownGroup();
    }
  },
  plan: async (query, { catalog, project, tracked }) => {
    const group = tracked.groups.find(({ id }) => id === query.group);
    if (query.group !== null && group === undefined) throw unknownGroup();
    const groups = group && withDescendants(group, tracked.groups);
    const { from, to, comparison } = query;
    return {
      query,
      project,
      tracked,
      groups,
      days: await planKeywordDays(catalog, project, { from, to }, tracked),
      gaps: await readKeywordGaps(catalog, project.id, spanOf([{ from, to }, ...(comparison ? [comparison] : [])])),
      files: await planFiles(catalog, project, { from, to }, query),
      compared: comparison && {
        files: await planFiles(catalog, project, comparison, query),
        known: await planKnown(catalog, project, query, comparison),
        ...comparison,
      },
      quality: query.quality ? await planKeywordQuality(catalog, project, query) : null,
    };
  },
  run: async (
    { query, project, tracked, groups, days: knownDays, gaps, files, compared, quality },
    { facts, trackedCache },
    { signal },
  ): Promise<KeywordsResult> => {
    const { from, to, device, clamped, daily, interval, filter, sort, limit, offset } = query;
    const range = { from, to };
    await refuseUnknownKeywords(facts, knownDays, signal);
    const matches = groups && (await trackedCache.matches(tracked, groups));
    const page = { tracked, matches, selection: { filter, sort }, limit, offset, unknown: unknownIn(gaps, range) };
    const [{ total, keywords, totals }, comparison] = await Promise.all([
      facts.keywordPage({ ...page, files: files.totals, range, device, signal }),
      compared && readComparison(facts, compared, { range, gaps, device, indexes: tracked.indexes, signal }),
    ]);
    const buckets = bucketsOf(range, interval);
    const read = facts.keywordDayBatches(
      {
        device,
        signal,
        days: {
          files: files.days,
          range,
          sums: interval === 'day' ? undefined : sumsOf(range, buckets, (bucket) => [bucket]),
        },
        base: compared && comparison ? comparedDays(compared, comparison.ranges, buckets) : undefined,
      },
      keywords,
    );
    const batches = gaps.size === 0 ? read : withoutGaps(read, gaps, buckets, comparison?.ranges);
    return {
      head: {
        project: projectReference(project),
        range: {
          ...range,
          device,
          clamped,
          provisionalAfter: project.provisionalAfter,
          ...(compared && { comparison: { from: compared.from, to: compared.to, clamped: compared.clamped } }),
        },
        ...(await qualityOf(facts, quality, signal)),
        paging: { total, limit: limit ?? total, offset },
      },
      tracked,
      keywords,
      totals,
      comparison: comparison ?? undefined,
      daily: daily ? { buckets, dayCounts: countsOf(buckets, query, project), batches } : undefined,
    };
  },
});

/** What to read of the other range. */
interface ComparedPlan extends ComparedRange {
  readonly files: Awaited<ReturnType<typeof planFiles>>;
  readonly known: KnownDaysPlan;
}

async function readComparison(
  facts: Facts,
  { from, to, asked, files, known }: ComparedPlan,
  {
    range,
    gaps,
    device,
    indexes,
    signal,
  }: Pick<FactsQuery, 'range' | 'signal'> & {
    readonly gaps: KeywordGaps;
    readonly device: Device;
    readonly indexes: TrackedKeywords['indexes'];
  },
): Promise<KeywordComparison> {
  const [days, totals] = await Promise.all([
    KnownDays.read(facts, known, signal),
    facts.keywordTotals(
      { files: files.totals, range: { from, to }, unknown: unknownIn(gaps, { from, to }), signal },
      device,
      indexes,
    ),
  ]);
  const ranges = new ComparedRanges(range, asked, days, oneDevice(device));
  const partialComparer = ranges.total.with(['missing_days']);
  const comparerOf = ({ id }: TrackedKeyword): Comparer =>
    gaps.size > 0 && (lacksDays(gaps, id, range) || lacksDays(gaps, id, { from, to })) ? partialComparer : ranges.total;
  return { ranges, totals, comparerOf };
}

/** Makes each day, week and month unknown that has an unknown day of its keyword. */
async function* withoutGaps(
  batches: KeywordSeries['batches'],
  gaps: KeywordGaps,
  buckets: readonly Bucket[],
  ranges: ComparedRanges | undefined,
): KeywordSeries['batches'] {
  const bases = buckets.map((bucket) => ranges?.counterpart(bucket) ?? []);
  for await (const batch of batches) {
    for (const [index, { id }] of batch.keywords.entries()) {
      if (!gaps.has(id)) continue;
      for (const [at, bucket] of buckets.entries()) {
        const cell = index * buckets.length + at;
        if (isUnknownIn(gaps, id, bucket)) batch.days.forget(cell);
        if (bases[at]!.some((base) => isUnknownIn(gaps, id, base))) batch.base?.forget(cell);
      }
    }
    yield batch;
  }
}

function countsOf(
  buckets: readonly Bucket[],
  { interval, to }: KeywordsParameters,
  { syncedThrough }: Project,
): readonly number[] | undefined {
  return interval === 'day' ? undefined : buckets.map((bucket) => daysUntil(bucket, syncedThrough ?? to));
}

/** Up to this many days a result takes about 3 MB. */
const MAX_DAYS_OF_SHORT_RESULT = 30_000;

/** Whether a result may be so long that concurrency must be limited. */
export function isLongResult({ daily, limit, from, to }: KeywordsParameters): boolean {
  return daily && (limit === null || limit * countDays(from, to) > MAX_DAYS_OF_SHORT_RESULT);
}

async function planFiles(
  catalog: Catalog,
  { id, syncedThrough }: Project,
  { from, to }: Range,
  { device, daily }: Pick<KeywordsParameters, 'device' | 'daily'>,
) {
  if (syncedThrough === null) return { totals: null, days: [] };
  const allDevices = device === 'all';
  return {
    totals: await keywordFilesUntil(catalog, id, to, allDevices),
    days: daily ? await filesOf(catalog, id, allDevices ? 'keyword_all' : 'keyword_daily', { from, to }) : [],
  };
}

async function planKnown(catalog: Catalog, project: Project, { from, to }: Range, comparison: ComparedRange) {
  const ranges = [{ from, to }, comparison.asked];
  const notBefore = comparison.clamped ? comparison.from : undefined;
  return planKnownDays(catalog, project, 'keyword_daily', {
    ranges,
    coverage: await readCoverage(catalog, project.id),
    notBefore,
  });
}

async function planKeywordQuality(catalog: Catalog, project: Project, { from, to, device }: KeywordsParameters) {
  const coverage = await readCoverage(catalog, project.id);
  return planQuality(catalog, project, { from, to, table: 'keyword_daily', device: oneDevice(device), coverage });
}

/** The days of the other range, each at the index of the day to compare. */
function comparedDays(
  { from, to, files }: ComparedPlan,
  ranges: ComparedRanges,
  buckets: readonly Bucket[],
): DaysQuery {
  const range = { from, to };
  const sums = sumsOf(range, buckets, ranges.counterpart);
  const isInPlace = buckets.length === sums.of.length && sums.of.every((sum, day) => sum === day);
  return { files: files.days, range, sums: isInPlace ? undefined : sums };
}

/** Sums for each bucket the days that belong to it. */
function sumsOf(
  { from, to }: Range,
  buckets: readonly Bucket[],
  daysOf: (bucket: Bucket) => readonly Range[],
): DaySums {
  const of = Array<number>(countDays(from, to)).fill(-1);
  for (const [at, bucket] of buckets.entries()) {
    for (const days of daysOf(bucket)) {
      const read = within(days, from, to);
      if (read !== null) of.fill(at, countDays(from, read.from) - 1, countDays(from, read.to));
    }
  }
  return { dates: buckets.map((bucket) => bucket.from), of };
}

function unknownGroup(): Error {
  return notFound('group: the project has no such group or folder.');
}
