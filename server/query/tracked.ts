import { filesOf, readCoverage } from '../catalog/fact-files.ts';
import {
  lacksDays,
  type TrackedKeyword,
  type TrackedKeywords,
  type TrackedKeywordsCache,
  type TrackedRead,
} from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import type { Comparer } from '../domain/comparison.ts';
import type { Group } from '../domain/groups.ts';
import type { Interval } from '../domain/intervals.ts';
import type { Measures } from '../domain/metrics.ts';
import { oneDevice } from '../domain/project-ranges.ts';
import { type Range, spanOf } from '../domain/range.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import type { Device, Facts, StoredRange } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keywords.ts';
import { TABLES } from '../model/tables.ts';
import { inTurns } from '../runtime/turns.ts';
import { seriesOf } from './keyword-days.ts';
import {
  groupMembers,
  KEYWORD_TABLE,
  type KeywordDaysPlan,
  planKeywordDays,
  planTotals,
  readTotals,
  refuseUnknownKeywords,
  type TotalsPlan,
} from './keyword-totals.ts';
import { KnownDays, type KnownDaysPlan, planKnownDays } from './known-days.ts';
import { planQuality, type QualityPlan, qualityOf } from './quality.ts';
import { rangesIn } from './query.ts';
import type { RowSet } from './rows.ts';

/** A query whose rows are tracked keywords, those without clicks and impressions among them. */
export interface TrackedQuery extends Range, Selection {
  readonly device: Device;
  /** The length of the parts of the range that each keyword has; null for totals only. */
  readonly interval: Interval | null;
  /** The other range, as far as the workspace may read it; `asked` is all of it, by which parts are paired. */
  readonly comparison: (Range & { readonly clamped: boolean; readonly asked: Range }) | null;
  readonly quality: boolean;
  /** Null for all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** What to read for a query. */
export interface TrackedPlan {
  readonly query: TrackedQuery;
  readonly project: Project;
  readonly tracked: TrackedKeywords;
  /** Whose keywords are wanted, if not all. */
  readonly group: Group | undefined;
  /** What tells whether keywords are known in the range; null if they are. */
  readonly keywordDays: KeywordDaysPlan | null;
  /** Of both ranges. */
  readonly totals: TotalsPlan;
  /** The days of the range; without files for totals only. */
  readonly days: StoredRange;
  readonly compared: ComparedPlan | null;
  /** Null unless it was asked for. */
  readonly quality: QualityPlan | null;
}

interface ComparedPlan {
  readonly days: StoredRange;
  /** See `TrackedQuery.comparison`. */
  readonly asked: Range;
  readonly known: KnownDaysPlan;
}

/** Plans what to read for a query. @param group whose keywords are wanted, if not all */
export async function planTracked(
  { catalog, project, tracked }: TrackedRead,
  query: TrackedQuery,
  group?: Group,
): Promise<TrackedPlan> {
  const { from, to, comparison, device, interval } = query;
  const range = { from, to };
  const coverage = await readCoverage(catalog, project.id);
  const planDays = async (part: Range): Promise<StoredRange> => ({
    range: { from: part.from, to: part.to },
    files:
      interval === null || project.syncedThrough === null
        ? []
        : await filesOf(
            catalog,
            project.id,
            device === 'all' ? TABLES[KEYWORD_TABLE].rollups!.all : KEYWORD_TABLE,
            part,
          ),
  });
  const planCompared = async (base: NonNullable<TrackedQuery['comparison']>): Promise<ComparedPlan> => ({
    days: await planDays(base),
    asked: base.asked,
    known: await planKnownDays(catalog, project, KEYWORD_TABLE, {
      ranges: [range, base.asked],
      coverage,
      notBefore: base.clamped ? base.from : undefined,
    }),
  });
  // In parallel, to wait only once for a remote database.
  const [keywordDays, totals, days, compared, quality] = await Promise.all([
    planKeywordDays(catalog, project, range, { tracked, coverage }),
    planTotals(catalog, project, spanOf(rangesIn(query)), device),
    planDays(range),
    comparison && planCompared(comparison),
    query.quality
      ? planQuality(catalog, project, { ...range, table: KEYWORD_TABLE, device: oneDevice(device), coverage })
      : null,
  ]);
  return { query, project, tracked, group, keywordDays, totals, days, compared, quality };
}

/**
 * Answers a plan: a page of the keywords, how many match, and their days, weeks or months, which are read when they are
 * asked for. Throws `invalid_request` where sums would be made up (`refuseUnknownKeywords`).
 */
export async function askTracked(
  plan: TrackedPlan,
  { facts, trackedCache }: { readonly facts: Facts; readonly trackedCache: TrackedKeywordsCache },
  signal: AbortSignal,
) {
  const { query, project, totals, days, compared } = plan;
  await refuseUnknownKeywords(facts, plan.keywordDays, signal);
  const [page, other] = await Promise.all([
    readPage(plan, { facts, trackedCache }, signal),
    compared && readOther(plan, compared, facts, signal),
  ]);
  const parts = {
    device: query.device,
    days,
    lastDay: project.syncedThrough,
    compared: compared && { days: compared.days, ranges: other!.ranges },
    gaps: totals.gaps,
  };
  const { interval } = query;
  return {
    total: page.total,
    rows: new KeywordSet(page.keywords, page.totals, other ?? undefined),
    /** Undefined for totals only. */
    series: interval === null ? undefined : seriesOf(facts, { ...parts, interval }, page.keywords, signal),
    ...(await qualityOf(facts, plan.quality, signal)),
  };
}

/** The keywords of a page in the order that was asked for, how many there are, and the totals of all keywords. */
async function readPage(
  { query, tracked, group, totals: planned }: TrackedPlan,
  { facts, trackedCache }: Parameters<typeof askTracked>[1],
  signal: AbortSignal,
) {
  const { from, to, filter, sort, limit, offset } = query;
  const totals = await readTotals(facts, planned, { from, to }, tracked, signal);
  const members = group ? await groupMembers(trackedCache, tracked, group, totals) : tracked.keywords;
  const of = { measuresOf: (keyword: TrackedKeyword) => totals.of(keyword), textsOf };
  const isSelected = filter !== null || sort !== null;
  const chosen = isSelected ? await inTurns(selectRows(members, { filter, sort }, of), signal) : members;
  const keywords = chosen.slice(offset, limit === null ? undefined : offset + limit);
  return { total: chosen.length, keywords, totals };
}

function textsOf({ query, intent, source }: TrackedKeyword): { query: string; intent: string; source: string } {
  return { query, intent, source };
}

/** The totals over the other range, and what compares them. */
interface Other {
  readonly ranges: ComparedRanges;
  readonly totals: KeywordTotals;
  /** Compares the totals of a keyword, which may lack days that others have. */
  readonly comparerOf: (keyword: TrackedKeyword) => Comparer;
}

async function readOther(
  { query, tracked, totals: planned }: TrackedPlan,
  { days: { range: base }, asked, known }: ComparedPlan,
  facts: Facts,
  signal: AbortSignal,
): Promise<Other> {
  const range = { from: query.from, to: query.to };
  const [days, totals] = await Promise.all([
    KnownDays.read(facts, known, signal),
    readTotals(facts, planned, base, tracked, signal),
  ]);
  const ranges = new ComparedRanges(range, asked, days, oneDevice(query.device));
  const partial = ranges.total.with(['missing_days']);
  const { gaps } = planned;
  const isPartial = (id: string): boolean => lacksDays(gaps, id, range) || lacksDays(gaps, id, base);
  return { ranges, totals, comparerOf: ({ id }) => (isPartial(id) ? partial : ranges.total) };
}

/** Keywords with their totals. */
export class KeywordSet implements RowSet {
  readonly known = 'all';
  readonly keywords: readonly TrackedKeyword[];
  /** Of all keywords of the project; NaN where the total over the range is unknown. */
  readonly totals: KeywordTotals;
  /** Undefined without a comparison. */
  readonly other: Pick<Other, 'totals' | 'comparerOf'> | undefined;

  constructor(keywords: readonly TrackedKeyword[], totals: KeywordTotals, other?: KeywordSet['other']) {
    this.keywords = keywords;
    this.totals = totals;
    this.other = other;
  }

  get length(): number {
    return this.keywords.length;
  }

  /** The same about some of the keywords. */
  of(keywords: readonly TrackedKeyword[]): KeywordSet {
    return new KeywordSet(keywords, this.totals, this.other);
  }

  name(row: number): string {
    return this.keywords[row]!.query;
  }

  now(row: number): Measures {
    return this.totals.of(this.keywords[row]!);
  }

  comparer(row: number): Comparer | undefined {
    return this.other?.comparerOf(this.keywords[row]!);
  }

  base(row: number): Measures {
    return this.other!.totals.of(this.keywords[row]!);
  }
}
