import type { TrackedKeyword } from '../catalog/tracked.ts';
import { addDays, countDays, type Day } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { maySplit, type ShownPages, type Split, splitOf } from '../findings/finding.ts';
import { inTurns } from '../runtime/turns.ts';
import type { FindingsPlan } from './findings-plan.ts';

/** A tracked query that is split over pages. */
export interface SplitQuery extends Omit<Split, 'pages' | 'firstChange'> {
  readonly query: string;
  /** The first day on which the main page was another one. */
  readonly since: Day;
  readonly impressions: number;
  readonly pages: readonly { readonly url: string; readonly impressions: number }[];
}

/** The tracked queries that are split over pages, how many have pages, and whether any query has. */
export async function readSplits(
  facts: Facts,
  { range, keywords, pages, impressions }: FindingsPlan['split'],
  signal: AbortSignal,
): Promise<{ readonly tested: number; readonly splits: readonly SplitQuery[]; readonly isStored: boolean }> {
  if (range === null) return { tested: 0, splits: [], isStored: false };
  const { shown, isStored } = await readShown(facts, { files: pages, range, signal }, keywords);
  const withPages = keywords.filter((_, index) => shown.has(index));
  const totals = await readImpressions(facts, { files: impressions, range, signal }, withPages);
  const likely = await inTurns(likelySplits(keywords, shown, totals));
  if (likely.length === 0) return { tested: shown.size, splits: [], isStored };
  const ids = likely.map(({ keyword }) => keyword.id);
  // Of equal pages the first by its address counts: numbers of pages say nothing.
  const names = [...(await facts.keywordPageNames({ files: pages, range, signal }, ids))];
  return { tested: shown.size, splits: await inTurns(findSplits(likely, names, range.from)), isStored };
}

async function readShown(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly TrackedKeyword[],
): Promise<{ readonly shown: ReadonlyMap<number, ShownPages>; readonly isStored: boolean }> {
  const indexes = new Map(keywords.map(({ id }, index) => [shortIdNumber(id), index]));
  const shown = new Map<number, ShownPages>();
  let isStored = false;
  await facts.keywordPages(query, 'all', ([keyword, day, page, impressions], rows) => {
    isStored ||= rows > 0;
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
  return { shown, isStored };
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

interface LikelySplit {
  readonly keyword: TrackedKeyword;
  readonly shown: ShownPages;
  readonly total: number;
}

function* likelySplits(
  keywords: readonly TrackedKeyword[],
  shown: ReadonlyMap<number, ShownPages>,
  totals: ReadonlyMap<string, number>,
): Generator<void, LikelySplit[]> {
  const found: LikelySplit[] = [];
  for (const [index, pages] of shown) {
    const keyword = keywords[index]!;
    const total = totals.get(keyword.id) ?? 0;
    if (total > 0 && maySplit(pages, total)) found.push({ keyword, shown: pages, total });
    yield;
  }
  return found;
}

/** @param names of pages by their number, in order @param from the first day that was read */
function* findSplits(
  likely: readonly LikelySplit[],
  names: readonly (readonly [number, string])[],
  from: Day,
): Generator<void, SplitQuery[]> {
  const order = new Map(names.map(([page], at) => [page, at]));
  const found: SplitQuery[] = [];
  for (const { keyword, shown, total } of likely) {
    const split = splitOf({ ...shown, pages: shown.pages.map((page) => order.get(page)!) }, total);
    if (split !== null) {
      const since = addDays(from, split.firstChange);
      const pages = split.pages.map(({ page, impressions }) => ({ url: names[page]![1], impressions }));
      found.push({ ...split, query: keyword.query, impressions: total, pages, since });
    }
    yield;
  }
  return found;
}
