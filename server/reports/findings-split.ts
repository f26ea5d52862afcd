import type { TrackedKeyword } from '../catalog/tracked.ts';
import { countDays } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { type ShownPages, type Split, splitOf } from '../findings/split.ts';
import { inTurns } from '../runtime/turns.ts';
import type { FindingsPlan } from './findings-plan.ts';

/** A tracked query that is split over pages. */
export interface SplitQuery extends Omit<Split, 'pages'> {
  readonly query: string;
  readonly impressions: number;
  readonly pages: readonly { readonly url: string; readonly impressions: number }[];
}

/** The tracked queries that are split over pages, and how many have pages. */
export async function readSplits(
  facts: Facts,
  { range, keywords, pages, impressions }: FindingsPlan['split'],
  signal: AbortSignal,
): Promise<{ readonly tested: number; readonly splits: readonly SplitQuery[] }> {
  if (range === null) return { tested: 0, splits: [] };
  const shown = await readShown(facts, { files: pages, range, signal }, keywords);
  const withPages = keywords.filter((_, index) => shown.has(index));
  const totals = await readImpressions(facts, { files: impressions, range, signal }, withPages);
  const found = await inTurns(findSplits(keywords, shown, totals));
  const ids = found.map(({ keyword }) => keyword.id);
  const names =
    ids.length === 0 ? new Map<number, string>() : await facts.keywordPageNames({ files: pages, range, signal }, ids);
  return {
    tested: shown.size,
    splits: found.map(({ keyword, split, total }) => ({
      ...split,
      query: keyword.query,
      impressions: total,
      pages: split.pages
        .map(({ page, impressions: count }) => ({ url: names.get(page)!, impressions: count }))
        .sort((a, b) => b.impressions - a.impressions || (a.url < b.url ? -1 : 1)),
    })),
  };
}

async function readShown(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly TrackedKeyword[],
): Promise<Map<number, ShownPages>> {
  const indexes = new Map(keywords.map(({ id }, index) => [shortIdNumber(id), index]));
  const shown = new Map<number, ShownPages>();
  await facts.keywordPages(query, 'all', ([keyword, day, page, impressions], rows) => {
    for (let row = 0; row < rows; row++) {
      const index = indexes.get(keyword![row]!);
      if (index === undefined) continue;
      const shownPages = shown.get(index) ?? { days: [], pages: [], impressions: [] };
      shownPages.days.push(day![row]!);
      shownPages.pages.push(page![row]!);
      shownPages.impressions.push(impressions![row]!);
      shown.set(index, shownPages);
    }
  });
  return shown;
}

/** Impressions of keywords over all devices, by id. */
async function readImpressions(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly TrackedKeyword[],
): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  if (keywords.length === 0) return totals;
  const cells = countDays(query.range.from, query.range.to) + 1;
  const ids = keywords.map(({ id }) => id);
  await facts.keywordImpressions(query, ids, ([cell, impressions], rows) => {
    for (let row = 0; row < rows; row++) {
      const id = ids[Math.floor(cell![row]! / cells)]!;
      totals.set(id, (totals.get(id) ?? 0) + impressions![row]!);
    }
  });
  return totals;
}

function* findSplits(
  keywords: readonly TrackedKeyword[],
  shown: ReadonlyMap<number, ShownPages>,
  totals: ReadonlyMap<string, number>,
) {
  const found: { keyword: TrackedKeyword; split: Split; total: number }[] = [];
  for (const [index, pages] of shown) {
    const keyword = keywords[index]!;
    const total = totals.get(keyword.id) ?? 0;
    const split = total === 0 ? null : splitOf(pages, total);
    if (split !== null) found.push({ keyword, split, total });
    yield;
  }
  return found;
}
