import type { TrackedKeyword } from '../catalog/tracked.ts';
import type { Comparer } from '../domain/comparison.ts';
import { isoInstant } from '../domain/instants.ts';
import type { DayGrid } from '../facts/day-grid.ts';
import type { KeywordsResult } from '../reports/keywords.ts';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { comparedJson } from './compared-json.ts';
import { DayBytes } from './day-bytes.ts';
import { metricsJson, openRows } from './json.ts';

/** Bytes per chunk. */
const CHUNK = 64 * 1024;

type Tracked = KeywordsResult['tracked'];

/** Keywords with their totals. */
export function keywordsJson(result: KeywordsResult): Buffer {
  const keywordJson = keywordWriter(result);
  let text = openRows(result.head, 'keywords');
  let separator = '';
  for (const keyword of result.keywords) {
    text += `${separator}${keywordJson(keyword)}}`;
    separator = ',';
  }
  const bytes = Buffer.from(`${text}]}`);
  reportExternalBytes(bytes.length);
  return bytes;
}

/** Keywords with their totals and days, in chunks. */
export async function* dailyKeywordsJson(result: KeywordsResult): AsyncGenerator<Buffer, void> {
  const keywordJson = keywordWriter(result);
  const bytes = new DayBytes();
  bytes.text(openRows(result.head, 'keywords'));
  let separator = '';
  const { buckets, parts } = result.daily!;
  const starts = buckets.map(({ from }) => Buffer.from(`{"date":"${from}",`));
  const comparers = buckets.map((bucket) => result.comparison?.ranges.part(bucket));
  for await (const { keywords, days, base } of parts) {
    for (const [index, keyword] of keywords.entries()) {
      bytes.text(`${separator}${keywordJson(keyword)},"daily":[`);
      if (base === undefined) writeDays(bytes, days, index, starts);
      else writeComparedDays(bytes, { days, base, comparers }, index, starts);
      bytes.text(']}');
      separator = ',';
      if (bytes.length >= CHUNK) yield bytes.take();
    }
  }
  bytes.text(']}');
  yield bytes.take();
}

/** Returns a function that writes a keyword with its totals, without the closing brace. */
function keywordWriter({ tracked, totals, comparison }: KeywordsResult): (keyword: TrackedKeyword) => string {
  const prefixes = KeywordPrefixCache.of(tracked);
  const totalsJson = (keyword: TrackedKeyword): string => {
    const { clicks, impressions, sumPosition } = totals.of(keyword);
    return prefixes.get(keyword) + metricsJson(clicks, impressions, sumPosition);
  };
  if (comparison === undefined) return totalsJson;
  const { ranges, totals: other } = comparison;
  return (keyword) =>
    `${totalsJson(keyword)},${comparedJson(ranges.total.compare(totals.of(keyword), other.of(keyword)))}`;
}

function writeDays(bytes: DayBytes, days: DayGrid, keyword: number, starts: readonly Uint8Array[]): void {
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
  readonly comparers: readonly (Comparer | undefined)[];
}

function writeComparedDays(
  bytes: DayBytes,
  { days, base, comparers }: ComparedDays,
  keyword: number,
  starts: readonly Uint8Array[],
): void {
  let isFirst = true;
  for (let day = 0, cell = keyword * starts.length; day < starts.length; day++, cell++) {
    if (days.stored[cell] === 0) continue;
    const now = days.measures(cell);
    const compared = comparers[day]!.compare(now, base.measures(cell));
    bytes.comparedDay(starts[day]!, isFirst, now, comparedJson(compared));
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
    const prefix = this.#prefixes[keyword.position] ?? this.#make(keyword);
    this.#prefixes[keyword.position] = prefix;
    return prefix;
  }

  #make({ id, query, source, trackedSince, intent }: TrackedKeyword): string {
    const groupIds = this.#membership.groupsOf.get(id) ?? [];
    const start = { id, query, source, trackedSince: isoInstant(trackedSince), intent, groupIds };
    return `${JSON.stringify(start).slice(0, -1)},"metrics":{`;
  }
}
