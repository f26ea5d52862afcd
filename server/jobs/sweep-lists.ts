import { UsageDatabase } from '../catalog/usage.ts';
import { sweepLists } from '../lists/sweep.ts';
import type { Job } from './job.ts';

/** Removes the files of lists that were replaced or dropped, and what page sequences and locks leave behind. */
export const sweepListFiles: Job = {
  name: 'sweep-lists',
  every: 300_000,
  jitter: 0.2,
  async run({ settings: { dataFolder }, catalog, log, now }) {
    const usage = new UsageDatabase(dataFolder, (error) => log.warn({ err: error }, 'the use of lists is unknown'));
    try {
      await sweepLists({ catalog, usage, dataFolder, log, now });
      return {};
    } finally {
      usage.close();
    }
  },
};
