import { isUnknownIn, type KeywordGaps, lacksDays, type TrackedKeyword } from '../catalog/keywords.ts';
import type { ComparedRanges } from '../domain/compared-ranges.ts';
import type { Comparer } from '../domain/comparison.ts';
import { addDays, countDays, type Day } from '../domain/dates.ts';
import { type Bucket, bucketsOf, daysUntil, type Interval } from '../domain/intervals.ts';
import type { Measures } from '../domain/metrics.ts';
import { type Range, within } from '../domain/range.ts';
import type { Device, Facts, StoredRange } from '../facts/facts.ts';
import type { DayGrid, DayParts } from '../facts/keywords.ts';
import { readAhead } from '../runtime/promises.ts';
import type { RowSet } from './rows.ts';

/** The parts of the range of each keyword of a page. */
export interface TrackedSeries {
  readonly buckets: readonly Bucket[];
  /** The number of days of each part; undefined for single days. */
  readonly dayCounts: readonly number[] | undefined;
  /** Some keywords at a time. Each set may be read until the next one is asked for. */
  readonly sets: AsyncIterable<DaySet>;
}

/** What to read of the parts of keywords. */
interface SeriesQuery {
  readonly device: Device;
  readonly interval: Interval;
  /** The range, and the files of its days. */
  readonly days: StoredRange;
  /** The last synced day; null before a sync. */
  readonly lastDay: Day | null;
  /** The days to compare with, and how; null without a comparison. */
  readonly compared: { readonly days: StoredRange; readonly ranges: ComparedRanges } | null;
  readonly gaps: KeywordGaps;
}

/** The parts of the range of some keywords, which are read as they are asked for. */
export function seriesOf(
  facts: Facts,
  { device, interval, days, lastDay, compared, gaps }: SeriesQuery,
  keywords: readonly TrackedKeyword[],
  signal: AbortSignal,
): TrackedSeries {
  const { from, to } = days.range;
  const buckets = bucketsOf({ from, to }, interval);
  const dayCounts = interval === 'day' ? undefined : buckets.map((bucket) => daysUntil(bucket, lastDay ?? to));
  const parts = {
    now: buckets.map((bucket) => [bucket]),
    base: buckets.map((bucket) => compared?.ranges.counterpart(bucket) ?? []),
  };
  const comparerOf = compared ? partComparer(compared.ranges, buckets, { gaps, parts }) : undefined;
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
      // The next set is asked for when this one has been written.
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

/** Compares the parts of a keyword, which may lack days that the property has. */
function partComparer(
  ranges: ComparedRanges,
  buckets: readonly Bucket[],
  { gaps, parts }: { readonly gaps: KeywordGaps; readonly parts: PartDays },
): (keyword: TrackedKeyword, part: number) => Comparer | null {
  const whole = buckets.map((bucket) => ranges.part(bucket));
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

/** The most cells of a grid. */
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
