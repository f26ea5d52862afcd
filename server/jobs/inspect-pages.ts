import { listDueInspections } from '../catalog/inspections.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Job } from './job.ts';

/** Reads the index state of pages of connected projects, as many each day as the provider allows. */
export const inspectPages: Job = {
  name: 'inspect-pages',
  every: 600_000,
  jitter: 0.1,
  isQuiet: true,
  async run({ settings, catalog, log, now }, signal) {
    if (!settings.sync || (await listDueInspections(catalog, toMicroseconds(now()), 1)).length === 0) return {};
    // DuckDB and Google's packages are loaded only if there is work.
    const { withFacts } = await import('../query/with-facts.ts');
    const { withSync } = await import('../sync/with-sync.ts');
    const { syncInspections } = await import('../sync/inspections.ts');
    const stores = { settings: { ...settings, threads: 1 }, catalog, log, now, signal };
    return withFacts(stores, (facts) =>
      withSync(stores, async (opened) => ({ ...(await syncInspections(opened, { facts, now, signal })) })),
    );
  },
};
