import { listWorkspaces } from '../catalog/workspaces.ts';
import type { Job } from './job.ts';

/** Drops facts that are older than their workspace keeps. */
export const pruneFacts: Job = {
  name: 'prune-facts',
  isQuiet: true,
  every: 86_400_000,
  jitter: 0.1,
  async run({ settings, catalog, log, now, report }, signal) {
    const limited = (await listWorkspaces(catalog)).filter(({ keepDays }) => (keepDays ?? settings.keepDays) > 0);
    if (limited.length === 0) return {};
    // DuckDB takes 100 MB, so it is loaded only if there is work.
    const { applyRetention } = await import('../maintenance/retention.ts');
    // One thread, so that requests can use the others.
    const onWarning = (warning: string): void => log.warn(warning);
    const stores = { settings: { ...settings, threads: 1 }, catalog, onWarning };
    const pruned = await applyRetention(stores, { now, report, signal });
    for (const { workspace, project, keptFrom } of pruned) {
      log.info({ workspace, project }, `facts before ${keptFrom} were dropped`);
    }
    return { projects: pruned.length };
  },
};
