import { listDueSitemaps } from '../catalog/inspections.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Job } from './job.ts';

/** Reads the sitemaps of connected projects, each once a day. */
export const readSitemaps: Job = {
  name: 'read-sitemaps',
  every: 3_600_000,
  jitter: 0.1,
  isQuiet: true,
  async run({ settings, catalog, log, now }, signal) {
    if (!settings.sync || (await listDueSitemaps(catalog, toMicroseconds(now()), 1)).length === 0) return {};
    // Google's packages are loaded only if there is work.
    const { withSync } = await import('../sync/with-sync.ts');
    const { syncSitemaps } = await import('../sync/sitemaps.ts');
    const stores = { settings, catalog, log, now, signal };
    return withSync(stores, async (opened) => ({ ...(await syncSitemaps(opened, { now, signal })) }));
  },
};
