import type { TrackedKeyword } from '../catalog/tracked.ts';
import { CHANGES, type Comparer } from '../domain/comparison.ts';
import { isoInstant } from '../domain/instants.ts';
import { isKnown } from '../domain/metrics.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import { MetricsBytes, metricsJson, openRows } from '../formats/json.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { Piece } from '../runtime/text-bytes.ts';
import type { KeywordComparison, KeywordsResult } from './keywords.ts';

/** Bytes per chunk. */
const CHUNK = 64 * 1024;
/** Most keywords with a comparison are shorter, in bytes. */
const COMPARED_KEYWORD = 1024;

/** As from `metricsJson`, where the totals are unknown. */
const UNKNOWN = '"clicks":null,"impressions":null,"ctr":null,"position":null}';

type Tracked = KeywordsResult['tracked'];

/** Keywords with their totals. */
export function keywordsJson(result: KeywordsResult): Buffer {
  const bytes = result.comparison === undefined ? totalsJson(result) : comparedJson(result, result.comparison);
  reportExternalBytes(bytes.length);
  return bytes;
}

function totalsJson(result: KeywordsResult): Buffer {
  const keywordJson = keywordWriter(result);
  let text = openRows(result.head, 'keywords');
  let separator = '';
  for (const keyword of result.keywords) {
    text += `${separator}${keywordJson(keyword)}}`;
    separator = ',';
  }
  return Buffer.from(`${text}]}`);
}

function comparedJson(result: KeywordsResult, comparison: KeywordComparison): Buffer {
  const bytes = new MetricsBytes(COMPARED_KEYWORD * (result.keywords.length + 1));
  const write = comparedWriter(bytes, result, comparison);
  bytes.text(openRows(result.head, 'keywords'));
  for (const [index, keyword] of result.keywords.entries()) {
    write(keyword, index === 0);
    bytes.char('}');
  }
  bytes.text(']}');
  return bytes.all();
}

/** Keywords with their totals and days, in chunks. */
export async function* dailyKeywordsJson(result: KeywordsResult): AsyncGenerator<Buffer, void> {
  const { head, daily, comparison } = result;
  const { buckets, dayCounts, batches } = daily!;
  const bytes = new MetricsBytes();
  const keywordJson = keywordWriter(result);
  const write = comparison
    ? comparedWriter(bytes, result, comparison)
    : (keyword: TrackedKeyword, isFirst: boolean) => bytes.text((isFirst ? '' : ',') + keywordJson(keyword));
  const countOf = (at: number): string => (dayCounts === undefined ? '' : `"days":${dayCounts[at]},`);
  const starts = buckets.map(({ from }, at) => new Piece(`{"date":"${from}",${countOf(at)}`));
  const comparers = comparison && buckets.map((bucket) => comparison.ranges.part(bucket));
  bytes.text(openRows(head, 'keywords'));
  let isFirst = true;
  for await (const { keywords, days: grid, base } of batches) {
    for (const [index, keyword] of keywords.entries()) {
      write(keyword, isFirst);
      bytes.text(',"daily":[');
      if (base && comparers) writeComparedDays(bytes, { days: grid, base, comparers }, index, starts);
      else writeDays(bytes, grid, index, starts);
      bytes.text(']}');
      isFirst = false;
      if (bytes.length >= CHUNK) yield bytes.take();
    }
  }
  bytes.text(']}');
  yield bytes.take();
}

/** Returns a function that writes a keyword with its totals, without the closing brace. */
function keywordWriter({ tracked, totals }: KeywordsResult): (keyword: TrackedKeyword) => string {
  const prefixes = KeywordPrefixCache.of(tracked);
  return (keyword) => {
    const measures = totals.of(keyword);
    const { clicks, impressions, sumPosition } = measures;
    return prefixes.get(keyword) + (isKnown(measures) ? metricsJson(clicks, impressions, sumPosition) : UNKNOWN);
  };
}

/** Like `keywordWriter`, with the totals of the other range. */
function comparedWriter(
  bytes: MetricsBytes,
  { tracked, totals }: KeywordsResult,
  { comparerOf, totals: others }: KeywordComparison,
): (keyword: TrackedKeyword, isFirst: boolean) => void {
  const prefixes = KeywordPrefixCache.of(tracked);
  const changes = new Float64Array(CHANGES);
  return (keyword, isFirst) => {
    const now = totals.of(keyword);
    const base = others.of(keyword);
    if (!isFirst) bytes.char(',');
    bytes.text(prefixes.get(keyword));
    if (isKnown(now)) bytes.metrics(now);
    else bytes.text(UNKNOWN);
    const isCompared = isKnown(now) && isKnown(base);
    bytes.compared(isCompared ? { base, changes, unsafe: comparerOf(keyword).changes(now, base, changes) } : null);
  };
}

function writeDays(bytes: MetricsBytes, days: DayGrid, keyword: number, starts: readonly Piece[]): void {
  const { clicks, impressions, sumPosition, stored } = days;
  let isFirst = true;
  for (let day = 0, cell = keyword * starts.length; day < starts.length; day++, cell++) {
    if (stored[cell] === 0) continue;
    bytes.day(starts[day]!, isFirst, clicks[cell]!, impressions[cell]!, sumPosition[cell]!);
    isFirst = false;
  }
}

interface ComparedDays {
  readonly days: DayGrid;
  readonly base: DayGrid;
  /** Null for days that the other range does not have. */
  readonly comparers: readonly (Comparer | null)[];
}

function writeComparedDays(
  bytes: MetricsBytes,
  { days, base, comparers }: ComparedDays,
  keyword: number,
  starts: readonly Piece[],
): void {
  const changes = new Float64Array(CHANGES);
  let isFirst = true;
  for (let day = 0, cell = keyword * starts.length; day < starts.length; day++, cell++) {
    if (days.stored[cell] === 0) continue;
    const now = days.measures(cell);
    const comparer = comparers[day]!;
    const other = base.measures(cell);
    const isCompared = comparer !== null && isKnown(other);
    const compared = isCompared ? { base: other, changes, unsafe: comparer.changes(now, other, changes) } : null;
    bytes.comparedDay(starts[day]!, isFirst, now, compared);
    isFirst = false;
  }
}

/** The JSON of each keyword before its metrics, cached for as long as the tracked keywords are. */
class KeywordPrefixCache {
  static readonly #ofTracked = new WeakMap<Tracked['keywords'], KeywordPrefixCache>();
  readonly #membership: Tracked['membership'];
  readonly #prefixes: (string | undefined)[] = [];

  private constructor({ membership }: Tracked) {
    this.#membership = membership;
  }

  static of(tracked: Tracked): KeywordPrefixCache {
    let cache = KeywordPrefixCache.#ofTracked.get(tracked.keywords);
    if (cache === undefined) {
      cache = new KeywordPrefixCache(tracked);
      KeywordPrefixCache.#ofTracked.set(tracked.keywords, cache);
    }
    return cache;
  }

  get(keyword: TrackedKeyword): string {
    const prefix = this.#prefixes[keyword.index] ?? this.#make(keyword);
    this.#prefixes[keyword.index] = prefix;
    return prefix;
  }

  #make({ id, query, source, trackedSince, intent }: TrackedKeyword): string {
    const groupIds = this.#membership.groupsOf.get(id) ?? [];
    const start = { id, query, source, trackedSince: isoInstant(trackedSince), intent, groupIds };
    return `${JSON.stringify(start).slice(0, -1)},"metrics":{`;
  }
}
