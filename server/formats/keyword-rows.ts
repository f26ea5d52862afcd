import type { TrackedKeyword } from '../catalog/tracked.ts';
import { isoInstant } from '../domain/instants.ts';
import { roundRatio, toMetrics } from '../domain/metrics.ts';
import type { KeywordDays, KeywordsResult } from '../reports/keywords.ts';
import { type Batch, type Column, METRICS, type RowsAnswer, sumPositionColumn } from './rows.ts';

/** Keywords of one batch of totals. */
const KEYWORDS = 10_000;

const TOTALS: readonly Column[] = [
  { name: 'id', type: 'text' },
  { name: 'query', type: 'text' },
  { name: 'source', type: 'text' },
  { name: 'trackedSince', type: 'instant' },
  { name: 'intent', type: 'text' },
  { name: 'groupIds', type: 'ids' },
  ...METRICS,
  sumPositionColumn(),
];

const DAYS: readonly Column[] = [
  { name: 'id', type: 'text' },
  { name: 'query', type: 'text' },
  { name: 'date', type: 'day' },
  ...METRICS,
  sumPositionColumn(),
];

/** Keywords as flat rows: one per keyword and stored day if the result has days, else one per keyword. */
export function keywordRows(result: KeywordsResult): RowsAnswer {
  const { days, head } = result;
  const { project, range, paging } = head;
  const about = { name: `${project.domain}-keywords`, total: paging.total, range };
  return days === undefined
    ? { head: about, columns: TOTALS, batches: totalsBatches(result) }
    : { head: about, columns: DAYS, batches: dayBatches(days) };
}

function* totalsBatches(result: KeywordsResult): Generator<Batch> {
  for (let start = 0; start < result.keywords.length; start += KEYWORDS) {
    yield totalsBatch({ ...result, keywords: result.keywords.slice(start, start + KEYWORDS) });
  }
}

function totalsBatch({ keywords, totals, tracked: { membership } }: KeywordsResult): Batch {
  const of =
    <T>(read: (keyword: TrackedKeyword) => T) =>
    (row: number) =>
      read(keywords[row]!);
  const metrics = keywords.map((keyword) => toMetrics(totals.of(keyword)));
  return {
    length: keywords.length,
    cells: [
      of(({ id }) => id),
      of(({ query }) => query),
      of(({ source }) => source),
      of(({ trackedSince }) => isoInstant(trackedSince)),
      of(({ intent }) => intent),
      of(({ id }) => membership.groupsOf.get(id) ?? []),
      (row) => metrics[row]!.clicks,
      (row) => metrics[row]!.impressions,
      (row) => metrics[row]!.ctr,
      (row) => metrics[row]!.position,
      of((keyword) => totals.of(keyword).sumPosition),
    ],
  };
}

async function* dayBatches(parts: AsyncIterable<KeywordDays>): AsyncGenerator<Batch> {
  for await (const part of parts) yield dayBatch(part);
}

function dayBatch({ keywords, days: { days, stored, clicks, impressions, sumPosition } }: KeywordDays): Batch {
  // The grid's cell of each row.
  const cells = new Uint32Array(stored.reduce((count, flag) => count + flag, 0));
  let length = 0;
  for (const [cell, flag] of stored.entries()) if (flag === 1) cells[length++] = cell;
  const keyword = (row: number): TrackedKeyword => keywords[Math.floor(cells[row]! / days.length)]!;
  const sum = (of: Float64Array, row: number): number => of[cells[row]!]!;
  const ratio = (numerator: number, denominator: number, scale: number): number | null =>
    denominator === 0 ? null : roundRatio(numerator, denominator, scale);
  return {
    length,
    cells: [
      (row) => keyword(row).id,
      (row) => keyword(row).query,
      (row) => days[cells[row]! % days.length]!,
      (row) => sum(clicks, row),
      (row) => sum(impressions, row),
      (row) => ratio(sum(clicks, row), sum(impressions, row), 10_000),
      (row) => ratio(sum(sumPosition, row) + sum(impressions, row), sum(impressions, row), 10),
      (row) => sum(sumPosition, row),
    ],
  };
}
