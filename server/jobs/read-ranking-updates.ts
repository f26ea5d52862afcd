import { readRankingFeedThrough, storeRankingFeed } from '../catalog/alerts.ts';
import { completeDayOf, FeedFailure, readRankingFeed } from '../providers/google/ranking-feed.ts';
import type { Job } from './job.ts';

/** Reads the ranking updates of the search engine once a day (Pacific); after a failure again in six hours. */
export const readRankingUpdates: Job = {
  name: 'read-ranking-updates',
  every: 6 * 3_600_000,
  jitter: 0.1,
  isQuiet: true,
  async run({ settings: { rankingFeed, providerTimeLimit: timeLimit }, catalog, log, now }, signal) {
    const through = completeDayOf(now());
    if (rankingFeed === null || (await readRankingFeedThrough(catalog)) === through) return {};
    try {
      const { updates, unusable } = await readRankingFeed(rankingFeed, { timeLimit, signal });
      if (unusable > 0) log.warn({ unusable }, 'the feed of ranking updates has incidents that cannot be read');
      return { updates: updates.length, ...(await storeRankingFeed(catalog, updates, through)) };
    } catch (error) {
      if (!(error instanceof FeedFailure)) throw error;
      log.warn(
        { reason: error.message },
        'the feed of ranking updates could not be read; what was read before stays (ORDINATE_RANKING_UPDATES)',
      );
      return {};
    }
  },
};
