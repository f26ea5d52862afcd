import { openUsage } from '../catalog/open-usage.ts';
import { sweepLists } from '../lists/sweep.ts';
import type { Job } from './job.ts';

/** Removes files of replaced lists, expired page sequences and stale locks. */
export const sweepListFiles: Job = {
  name: 'sweep-lists',
  every: 300_000,
  jitter: 0.2,
  async run({ settings, catalog, log, now }) {
    const usage = openUsage(settings, (error) => log.warn({ err: error }, 'the use of lists cannot be read'));
    try {
      await sweepLists({ catalog, usage, settings, log, now });
      return {};
    } finally {
      await usage.close();
    }
  },
};
