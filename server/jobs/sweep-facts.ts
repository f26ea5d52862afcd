import { sweepBetweenLoads } from '../load/sweep-between-loads.ts';
import type { Job } from './job.ts';

/** Removes replaced fact files and old trash, and moves orphans to the trash once a day. */
export const sweepFacts: Job = {
  name: 'sweep-facts',
  every: 3_600_000,
  jitter: 0.1,
  async run({ settings, catalog, log, now }, signal) {
    const swept = await sweepBetweenLoads({ settings, catalog }, now(), signal);
    // A load does the same before it starts.
    if (swept === undefined) return { skipped: 'a load is running' };
    if (swept.warning !== undefined) log.warn(swept.warning);
    return { removed: swept.removed };
  },
};
