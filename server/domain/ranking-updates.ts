import { isOtherEngine, type Surface } from '../model/surfaces.ts';
import { type Day, earlier, later } from './dates.ts';
import type { Range } from './range.ts';

/** An announced change of how the search engine ranks. Counting stays the same; clicks of many sites change at once. */
export interface RankingUpdate {
  readonly title: string;
  /** First and last day of its roll-out, Pacific; `to` is null until it ends. */
  readonly from: Day;
  readonly to: Day | null;
  /** The URL of the search engine's own record. */
  readonly source: string;
}

/** All known ranking updates, oldest first, and the last day on which none is missing. */
export interface RankingRecord {
  readonly updates: readonly RankingUpdate[];
  readonly completeThrough: Day;
}

const SOURCE = 'https://status.search.google.com/products/rGHU1u87FJnkP6W2GwMi/history';

const update = (title: string, from: Day, to: Day): RankingUpdate => ({ title, from, to, source: SOURCE });

/** Ranking updates of Google Search from its status dashboard, for what its feed does not have. */
const LIST: readonly RankingUpdate[] = [
  update('March 2024 core update', '2024-03-05', '2024-04-19'),
  update('March 2024 spam update', '2024-03-05', '2024-03-20'),
  update('June 2024 spam update', '2024-06-20', '2024-06-27'),
  update('August 2024 core update', '2024-08-15', '2024-09-03'),
  update('November 2024 core update', '2024-11-11', '2024-12-05'),
  update('December 2024 core update', '2024-12-12', '2024-12-18'),
  update('December 2024 spam update', '2024-12-19', '2024-12-26'),
  update('March 2025 core update', '2025-03-13', '2025-03-27'),
  update('June 2025 core update', '2025-06-30', '2025-07-17'),
  update('August 2025 spam update', '2025-08-26', '2025-09-22'),
  update('December 2025 core update', '2025-12-11', '2025-12-29'),
  update('March 2026 spam update', '2026-03-24', '2026-03-25'),
  update('March 2026 core update', '2026-03-27', '2026-04-08'),
  update('May 2026 core update', '2026-05-21', '2026-06-02'),
  update('June 2026 spam update', '2026-06-24', '2026-06-26'),
];

/** The last day that the list is complete for. */
const LIST_COMPLETE_THROUGH: Day = '2026-06-30';

/**
 * The list and what was read of the search engine's feed, which is right where both have an update.
 * @param readThrough the last day that the feed was complete for when it was read; null if it never was
 */
export function rankingRecord(read: readonly RankingUpdate[], readThrough: Day | null): RankingRecord {
  const unread = LIST.filter((listed) => !read.some((one) => isSame(one, listed)));
  const updates = [...unread, ...read].sort((a, b) => compare(a.from, b.from) || compare(a.title, b.title));
  return { updates, completeThrough: later(LIST_COMPLETE_THROUGH, readThrough ?? LIST_COMPLETE_THROUGH) };
}

/** Two updates may begin on one day, and the same one may be titled in another way. */
function isSame(a: RankingUpdate, b: RankingUpdate): boolean {
  const isTitledAlike = plainTitle(a).localeCompare(plainTitle(b), 'en', { sensitivity: 'base' }) === 0;
  return isTitledAlike || (a.from === b.from && kindOf(a) !== undefined && kindOf(a) === kindOf(b));
}

function plainTitle({ title }: RankingUpdate): string {
  return title.trim().replaceAll(/\s+/g, ' ');
}

/** The word before "update": core, spam, … */
function kindOf({ title }: RankingUpdate): string | undefined {
  return /(\S+)\s+update\b/i.exec(title)?.[1]?.toLowerCase();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** What an answer says of ranking updates. */
export interface KnownRankingUpdates {
  readonly rankingUpdates: readonly RankingUpdate[];
  /** The last of the days with data on which none is missing; null without such days, and for other engines. */
  readonly rankingUpdatesThrough: Day | null;
}

/**
 * The ranking updates that were rolled out on any day of some ranges. One that is still rolling out concerns all days from its
 * first on.
 * @param syncedThrough the last day that was reported: what is known of later ones changes without a change of the data
 */
export function rankingUpdatesIn(
  { updates, completeThrough }: RankingRecord,
  ranges: readonly Range[],
  { surface, syncedThrough }: { readonly surface: Surface; readonly syncedThrough: Day | null },
): KnownRankingUpdates {
  // The record is Google's.
  if (isOtherEngine(surface)) return { rankingUpdates: [], rankingUpdatesThrough: null };
  const last = ranges.map(({ to }) => to).reduce(later);
  return {
    rankingUpdates: updates.filter(
      (one) => concerns(one, surface) && ranges.some(({ from, to }) => one.from <= to && (one.to ?? to) >= from),
    ),
    rankingUpdatesThrough: syncedThrough && earlier(earlier(last, syncedThrough), completeThrough),
  };
}

/** Updates of Discover change no rankings of search results; others change Discover too. */
function concerns({ title }: RankingUpdate, surface: Surface): boolean {
  return surface === 'discover' || !/\bdiscover\b/i.test(title);
}
