import type { Catalog } from '../catalog/catalog.ts';
import { isUnknownIn, type KeywordGaps, lacksDays, readKeywordGaps, unknownIn } from '../catalog/keyword-gaps.ts';
import { filesOf, keywordFilesUntil, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import type { TrackedKeyword, TrackedKeywords, TrackedKeywordsCache, TrackedRead } from '../catalog/tracked.ts';
import { ComparedRanges } from '../domain/compared-ranges.ts';
import type { Comparer } from '../domain/comparison.ts';
import { addDays, countDays } from '../domain/dates.ts';
import { type Group, selectKeywords, withDescendants } from '../domain/groups.ts';
import { type Bucket, bucketsOf, daysUntil, type Interval } from '../domain/intervals.ts';
import type { Measures } from '../domain/metrics.ts';
import { oneDevice } from '../domain/project-ranges.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import type { Device, Facts, StoredRange } from '../facts/facts.ts';
import type { DayGrid, DayParts, KeywordFiles, KeywordTotals } from '../facts/keywords.ts';
import { TABLES, tableFor } from '../model/tables.ts';
import { readAhead } from '../runtime/promises.ts';
import { inTurns } from '../runtime/turns.ts';
import { KnownDays, planKnownDays } from './known-days.ts';
import { planQuality, qualityOf } from './quality.ts';
import type { RowSet } from './rows.ts';
import { planKeywordDays, refuseUnknownKeywords } from './strict-days.ts';

/** The table of the days of keywords. */
const TABLE = tableFor('web', ['keyword'])!;

/** A query whose rows are tracked keywords, also those that count nothing. */
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

/** Plans what to read for a query. @param group whose keywords are wanted, if not all */
export async function planTracked({ catalog, project, tracked }: TrackedRead, query: TrackedQuery, group?: Group) {
  const { from, to, comparison, device, interval } = query;
  const range = { from, to };
  const coverage = await readCoverage(catalog, project.id);
  const planDays = async (part: Range): Promise<StoredRange> => ({
    range: { from: part.from, to: part.to },
    files:
      interval === null || project.syncedThrough === null
        ? []
        : await filesOf(catalog, project.id, device === 'all' ? TABLES[TABLE].rollups!.all : TABLE, part),
  });
  return {
    query,
    project,
    tracked,
    group,
    unknown: await planKeywordDays(catalog, project, range, tracked),
    totals: await planTotals(catalog, project, spanOf([range, ...(comparison ? [comparison] : [])]), device),
    days: await planDays(range),
    compared: comparison && {
      days: await planDays(comparison),
      asked: comparison.asked,
      known: await planKnownDays(catalog, project, TABLE, {
        ranges: [range, comparison.asked],
        coverage,
        notBefore: comparison.clamped ? comparison.from : undefined,
      }),
    },
    quality: query.quality
      ? await planQuality(catalog, project, { ...range, table: TABLE, device: oneDevice(device), coverage })
      : null,
  };
}

type TrackedPlan = Awaited<ReturnType<typeof planTracked>>;

/**
 * Answers a plan: a page of the keywords, how many match, and their parts of the range on demand. Throws `invalid_request`
 * where sums would be made up (`refuseUnknownKeywords`).
 */
export async function askTracked(
  plan: TrackedPlan,
  { facts, trackedCache }: { readonly facts: Facts; readonly trackedCache: TrackedKeywordsCache },
  signal: AbortSignal,
) {
  const { compared } = plan;
  const { interval } = plan.query;
  await refuseUnknownKeywords(facts, plan.unknown, signal);
  const [page, other] = await Promise.all([
    readPage(plan, { facts, trackedCache }, signal),
    compared && readOther(plan, compared, facts, signal),
  ]);
  return {
    total: page.total,
    rows: new KeywordSet(page.keywords, page.totals, other ?? undefined),
    /** Undefined for totals only. */
    series: interval === null ? undefined : seriesOf(plan, interval, { keywords: page.keywords, other, facts, signal }),
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
  { days: { range: base }, asked, known }: NonNullable<TrackedPlan['compared']>,
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
  /** Of all keywords: unknown for those that are unknown on a stored day of the range. */
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

/** The parts of the range of each keyword of a page. */
export interface TrackedSeries {
  readonly buckets: readonly Bucket[];
  /** The number of days of each part; undefined for single days. */
  readonly dayCounts: readonly number[] | undefined;
  /** Some keywords at a time. Each set may be read until the next one is asked for. */
  readonly sets: AsyncIterable<DaySet>;
}

interface SeriesOf {
  readonly keywords: readonly TrackedKeyword[];
  readonly other: Other | null;
  readonly facts: Facts;
  readonly signal: AbortSignal;
}

function seriesOf(
  { query, project, totals: { gaps }, days, compared }: TrackedPlan,
  interval: Interval,
  { keywords, other, facts, signal }: SeriesOf,
): TrackedSeries {
  const { from, to, device } = query;
  const buckets = bucketsOf({ from, to }, interval);
  const dayCounts =
    interval === 'day' ? undefined : buckets.map((bucket) => daysUntil(bucket, project.syncedThrough ?? to));
  const parts = {
    now: buckets.map((bucket) => [bucket]),
    base: buckets.map((bucket) => other?.ranges.counterpart(bucket) ?? []),
  };
  const comparerOf = other
    ? partComparer(
        buckets.map((bucket) => other.ranges.part(bucket)),
        gaps,
        parts,
      )
    : undefined;
  const read = {
    device,
    now: { ...days, parts: partsOf(days.range, parts.now) },
    base: compared ? { ...compared.days, parts: partsOf(compared.days.range, parts.base) } : undefined,
    signal,
  };
  async function* sets(): AsyncGenerator<DaySet> {
    for await (const grids of readGrids(facts, read, keywords)) {
      if (gaps.size > 0) forgetUnknown(grids, gaps, parts);
      yield new DaySet(grids, { buckets, dayCounts, comparerOf });
      // Whoever asked for a set has written it when the next one is wanted.
      grids.now.release();
      grids.base?.release();
    }
  }
  return { buckets, dayCounts, sets: sets() };
}

/** The stored days, or longer parts, of some keywords. */
export class DaySet implements RowSet {
  readonly known = 'all';
  readonly length: number;
  readonly keywords: readonly TrackedKeyword[];
  /** The first row of each keyword, and the number of rows. */
  readonly starts: Uint32Array;
  readonly #parts: SetParts;
  readonly #grid: DayGrid;
  readonly #baseGrid: DayGrid | undefined;
  /** The cell of each row in both grids. */
  readonly #cells: Uint32Array;
  readonly #now = { clicks: 0, impressions: 0, sumPosition: 0 };
  readonly #base = { clicks: 0, impressions: 0, sumPosition: 0 };

  constructor({ keywords, now, base }: Grids, parts: SetParts) {
    const { stored, width } = now;
    const cells = new Uint32Array(stored.length);
    const starts = new Uint32Array(keywords.length + 1);
    let length = 0;
    for (let cell = 0, keyword = 0; keyword < keywords.length; keyword++) {
      for (let part = 0; part < width; part++, cell++) if (stored[cell] === 1) cells[length++] = cell;
      starts[keyword + 1] = length;
    }
    this.length = length;
    this.keywords = keywords;
    this.starts = starts;
    this.#parts = parts;
    this.#grid = now;
    this.#baseGrid = base;
    this.#cells = cells;
  }

  keyword(row: number): TrackedKeyword {
    return this.keywords[Math.floor(this.#cells[row]! / this.#grid.width)]!;
  }

  /** The index of the day, or longer part, among the buckets. */
  part(row: number): number {
    return this.#cells[row]! % this.#grid.width;
  }

  name(row: number, at: number): string {
    return at === 0 ? this.keyword(row).query : this.#parts.buckets[this.part(row)]!.from;
  }

  days(row: number): number {
    return this.#parts.dayCounts![this.part(row)]!;
  }

  now(row: number): Measures {
    return this.#grid.read(this.#cells[row]!, this.#now);
  }

  comparer(row: number): Comparer | null | undefined {
    return this.#parts.comparerOf?.(this.keyword(row), this.part(row));
  }

  base(row: number): Measures {
    return this.#baseGrid!.read(this.#cells[row]!, this.#base);
  }
}

interface SetParts extends Pick<TrackedSeries, 'buckets' | 'dayCounts'> {
  /** Null for parts that the other range does not have; undefined without a comparison. */
  readonly comparerOf: ((keyword: TrackedKeyword, part: number) => Comparer | null) | undefined;
}

/** The days of each part of the range, and those of the other range that it is compared with. */
type PartDays = Readonly<Record<'now' | 'base', readonly (readonly Range[])[]>>;

/**
 * Compares the parts of a keyword, which may lack days that the property has.
 * @param whole what compares the parts of keywords that lack none
 */
function partComparer(
  whole: readonly (Comparer | null)[],
  gaps: KeywordGaps,
  parts: PartDays,
): (keyword: TrackedKeyword, part: number) => Comparer | null {
  const partial = gaps.size === 0 ? whole : whole.map((comparer) => comparer?.with(['missing_days']) ?? null);
  return ({ id }, part) => {
    const lacks = (days: readonly Range[]): boolean => days.some((range) => lacksDays(gaps, id, range));
    const isPartial = gaps.has(id) && (lacks(parts.now[part]!) || lacks(parts.base[part]!));
    return (isPartial ? partial : whole)[part]!;
  };
}

/** Makes each part unknown that has an unknown day of its keyword. */
function forgetUnknown({ keywords, now, base }: Grids, gaps: KeywordGaps, parts: PartDays): void {
  for (const [index, { id }] of keywords.entries()) {
    if (!gaps.has(id)) continue;
    const isUnknown = (days: readonly Range[]): boolean => days.some((range) => isUnknownIn(gaps, id, range));
    for (let part = 0, cell = index * now.width; part < now.width; part++, cell++) {
      if (isUnknown(parts.now[part]!)) now.forget(cell);
      if (isUnknown(parts.base[part]!)) base?.forget(cell);
    }
  }
}

/** The part that each day of a range belongs to; undefined if each day is the part at its place. */
function partsOf({ from, to }: Range, parts: readonly (readonly Range[])[]): DayParts | undefined {
  const of = Array<number>(countDays(from, to)).fill(-1);
  for (const [at, ranges] of parts.entries()) {
    for (const days of ranges) {
      const read = within(days, from, to);
      if (read !== null) of.fill(at, countDays(from, read.from) - 1, countDays(from, read.to));
    }
  }
  const areInPlace = parts.length === of.length && of.every((part, day) => part === day);
  return areInPlace ? undefined : { count: parts.length, of };
}

/** Days to read, and what they are summed to. */
interface GridQuery extends StoredRange {
  /** Undefined for single days. */
  readonly parts: DayParts | undefined;
}

/** Some of the keywords of a page with their parts, and at the same cells those of the other range. */
interface Grids {
  readonly keywords: readonly TrackedKeyword[];
  readonly now: DayGrid;
  /** Undefined without a comparison. */
  readonly base: DayGrid | undefined;
}

interface GridsQuery {
  readonly device: Device;
  readonly now: GridQuery;
  readonly base: GridQuery | undefined;
  readonly signal: AbortSignal;
}

/**
 * Reads the days of a page of keywords, some keywords at a time. The next ones are read while some are written, so that a
 * long response takes the longer of both times, not their sum. Grids that are released are used again.
 */
function readGrids(
  facts: Facts,
  { device, now, base, signal }: GridsQuery,
  page: readonly TrackedKeyword[],
): AsyncGenerator<Grids, void> {
  return readAhead([...batchesOf(page, daysIn(now))], async (keywords, index): Promise<Grids> => {
    // The first batch has priority: responses start early, and short ones (one batch) do not wait for long ones.
    const priority = index === 0 ? 1 : 0;
    const ids = keywords.map(({ id }) => id);
    const read = ({ files, range }: StoredRange): Promise<DayGrid> =>
      facts.keywordDays({ files, range, signal }, device, ids, priority);
    if (base === undefined) return { keywords, now: folded(await read(now), now), base };
    const both = inOneRange(base, now);
    if (both !== undefined && keywords.length * daysIn(both) <= MAX_CELLS) {
      const grid = await read(both);
      const first = daysIn(base);
      const [earlier, later] = [grid.slice(0, first), grid.slice(first, grid.width)];
      grid.release();
      return { keywords, now: folded(later, now), base: folded(earlier, base) };
    }
    const [inRange, inBase] = await Promise.all([read(now), read(base)]);
    return { keywords, now: folded(inRange, now), base: folded(inBase, base) };
  });
}

function daysIn({ range: { from, to } }: StoredRange): number {
  return countDays(from, to);
}

function folded(grid: DayGrid, { parts }: GridQuery): DayGrid {
  if (parts === undefined) return grid;
  const sums = grid.fold(parts);
  grid.release();
  return sums;
}

/** Joins two consecutive ranges, because one statement is faster than two; undefined for others. */
function inOneRange(first: StoredRange, second: StoredRange): StoredRange | undefined {
  if (addDays(first.range.to, 1) !== second.range.from) return undefined;
  const files = new Map([...first.files, ...second.files].map((file) => [file.file, file]));
  return { files: [...files.values()], range: { from: first.range.from, to: second.range.to } };
}

/** Max cells in memory at once. */
const MAX_CELLS = 250_000;
/** The first batch is small, so that a response starts early; the next ones double, to be read while one is written. */
const FIRST_CELLS = 40_000;

/** Splits a page of keywords into batches whose days fit in a grid. */
function* batchesOf(page: readonly TrackedKeyword[], days: number): Generator<readonly TrackedKeyword[]> {
  for (let at = 0, cells = FIRST_CELLS; at < page.length; cells = Math.min(2 * cells, MAX_CELLS)) {
    const count = Math.max(1, Math.floor(cells / days));
    yield page.slice(at, at + count);
    at += count;
  }
}

/** What to read of the totals of keywords over any range up to a day. */
export interface TotalsPlan {
  readonly device: Device;
  /** Null if nothing is stored. */
  readonly files: KeywordFiles | null;
  /** The stored days on which keywords are unknown. */
  readonly gaps: KeywordGaps;
}

/** Plans what to read of the totals of keywords over some ranges. @param span of all of them */
export async function planTotals(
  catalog: Catalog,
  { id, syncedThrough }: Project,
  span: Range,
  device: Device = 'all',
): Promise<TotalsPlan> {
  return {
    device,
    files: syncedThrough === null ? null : await keywordFilesUntil(catalog, id, span.to, device === 'all'),
    gaps: await readKeywordGaps(catalog, id, span),
  };
}

/** The totals of all keywords over a range of a plan; zeros over one that ends before it begins. */
export function readTotals(
  facts: Facts,
  { device, files, gaps }: TotalsPlan,
  { from, to }: Range,
  { indexes }: Pick<TrackedKeywords, 'indexes'>,
  signal: AbortSignal,
): Promise<KeywordTotals> {
  const range = { from, to };
  const asked = { files: from > to ? null : files, range, unknown: unknownIn(gaps, range), signal };
  return facts.keywordTotals(asked, device, indexes);
}

/** The keywords of a group or folder, in their order; those of rules by their totals. */
export async function groupMembers(
  cache: TrackedKeywordsCache,
  tracked: TrackedKeywords,
  group: Group,
  totals: KeywordTotals,
): Promise<TrackedKeyword[]> {
  const matches = await cache.matches(tracked, withDescendants(group, tracked.groups));
  return inTurns(selectKeywords(tracked.keywords, matches, (keyword) => totals.of(keyword)));
}
