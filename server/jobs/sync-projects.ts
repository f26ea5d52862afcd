import type { Catalog } from '../catalog/catalog.ts';
import { openLeases } from '../catalog/open-leases.ts';
import {
  announceSyncStatus,
  listDueProjects,
  listStaleProjects,
  putSyncState,
  raiseEntityRevisions,
  STALE_AFTER,
} from '../catalog/sync-projects.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Job } from './job.ts';

/** Syncs due projects. Runs often, so that one is synced within seconds of when somebody asks for it. */
export const syncProjects: Job = {
  name: 'sync-projects',
  every: 5000,
  // Each project has a lease of its own.
  processes: 16,
  jitter: 0.1,
  isQuiet: true,
  async run({ settings, catalog, log, now, report }, signal) {
    await warnOfStale(catalog, now());
    if (!settings.sync || (await listDueProjects(catalog, toMicroseconds(now()), 1)).length === 0) return {};
    // DuckDB and Google's packages take 100 MB, so they are loaded only if there is work.
    const { withSync } = await import('../sync/with-sync.ts');
    const { leaseOf, syncDueProjects } = await import('../sync/due.ts');
    const leases = openLeases(settings);
    // One thread, so that requests can use the others.
    const stores = { settings: { ...settings, threads: 1 }, catalog, log, now, signal };
    return withSync(stores, (opened) =>
      syncDueProjects(opened, {
        now,
        random: Math.random,
        signal,
        take: (id) => leases.acquire(leaseOf(id)),
        report: ({ project, windows, allWindows, requests }) =>
          report(`project ${project}: window ${windows} of ${allWindows}, ${requests} requests`),
        onWait: (project, why) => report(`project ${project}: ${why}`),
      }),
    );
  },
};

async function warnOfStale(catalog: Catalog, now: number): Promise<void> {
  const stale = await listStaleProjects(catalog, toMicroseconds(now - STALE_AFTER));
  if (stale.length === 0) return;
  await catalog.transaction(async (tx) => {
    for (const id of stale) {
      await putSyncState(tx, id, { syncStatus: 'warning' });
      await announceSyncStatus(tx, id, { reason: 'other', at: toMicroseconds(now) });
    }
    await raiseEntityRevisions(tx, stale);
  });
}
