import { isDeepStrictEqual } from 'node:util';
import { type Day, earlier } from '../domain/dates.ts';
import { type RankingRecord, type RankingUpdate, rankingRecord } from '../domain/ranking-updates.ts';
import type { Catalog } from './catalog.ts';
import { raiseRevisionsOfReported } from './revisions.ts';

/** A ranking update with its id in the feed. */
export interface ReadRankingUpdate extends RankingUpdate {
  readonly id: string;
}

/** All known ranking updates. */
export async function readRankingRecord(catalog: Catalog): Promise<RankingRecord> {
  const stored = await listStored(catalog);
  return rankingRecord(
    stored.map(({ title, from, to, source }) => ({ title, from, to, source })),
    await readRankingFeedThrough(catalog),
  );
}

/** The last day that the feed was complete for when it was read last; null if it never was. */
export async function readRankingFeedThrough(catalog: Catalog): Promise<Day | null> {
  return (await catalog.statements.get<{ through: Day }>('ranking-updates.feed'))?.through ?? null;
}

function listStored(catalog: Catalog): Promise<ReadRankingUpdate[]> {
  return catalog.statements.all<ReadRankingUpdate>('ranking-updates.all');
}

/**
 * Stores what the feed says now, and invalidates the answers that it changes. Updates before the oldest one in the feed stay:
 * it may have dropped them for their age.
 * @param through the last day that the feed is complete for
 */
export async function storeRankingFeed(
  catalog: Catalog,
  updates: readonly ReadRankingUpdate[],
  through: Day,
): Promise<{ readonly changed: number }> {
  return catalog.transaction(async (tx) => {
    const stored = new Map((await listStored(tx)).map((update) => [update.id, update]));
    const read = new Set(updates.map(({ id }) => id));
    const oldest = updates.map(({ from }) => from).reduce(earlier, '9999-12-31');
    const changed = updates.filter((update) => !isDeepStrictEqual({ ...stored.get(update.id) }, { ...update }));
    const removed = [...stored.values()].filter(({ id, from }) => !read.has(id) && from >= oldest);
    for (const update of changed) await tx.statements.run('ranking-updates.put', { ...update });
    for (const { id } of removed) await tx.statements.run('ranking-updates.remove', { id });
    const { completeThrough: before } = await readRankingRecord(tx);
    await tx.statements.run('ranking-updates.put_feed', { through });
    const { completeThrough } = await readRankingRecord(tx);
    const count = changed.length + removed.length;
    // Answers name the day that the record is complete for, up to the last one that was reported.
    if (count > 0) await raiseRevisionsOfReported(tx, { after: null });
    else if (completeThrough !== before)
      await raiseRevisionsOfReported(tx, { after: earlier(before, completeThrough) });
    return { changed: count };
  });
}
