import type { Catalog } from '../catalog/catalog.ts';
import { openUsage } from '../catalog/open-usage.ts';
import { findAnyProject } from '../catalog/projects.ts';
import { listProviderLists, type ProviderList, readListUses } from '../catalog/stored-lists.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Lists } from '../lists/lists.ts';
import type { Settings } from '../settings/settings.ts';
import type { Job } from './job.ts';

/** Lists fetched per run; the rest of the provider's quota is for clients. */
const MAX_LISTS = 20;
/** Minimum reads of a list since its fetch. */
const MIN_HITS = 3;
/** Maximum time since its last read, in milliseconds. */
const USED_WITHIN = 86_400_000;
/** Lists that expired longer ago are not refreshed, in milliseconds. */
const EXPIRED_WITHIN = 3_600_000;

/** Refreshes expired provider lists that are read often, so that clients need not wait for them. */
export const refreshLists: Job = {
  name: 'refresh-lists',
  every: 300_000,
  jitter: 0.2,
  async run({ settings, catalog, log, now, report }, signal) {
    const due = await findDueLists(catalog, settings, now());
    // DuckDB and Google's packages take 100 MB, so they are loaded only if there is work.
    if (due.length === 0) return { refreshed: 0, failed: 0 };
    const { withPresets } = await import('../presets/with-presets.ts');
    const failedProjects = new Set<string>();
    let refreshed = 0;
    let failed = 0;
    const refreshAll = async (lists: Lists): Promise<void> => {
      signal.addEventListener('abort', () => lists.stop(), { once: true });
      for (const [index, { project: id, kind, from, to, country, sourceKey }] of due.entries()) {
        signal.throwIfAborted();
        report(`list ${index + 1} of ${due.length}`);
        const project = await findAnyProject(catalog, id);
        if (project === undefined || failedProjects.has(id)) continue;
        try {
          const request = await lists.plan(project, { kind, range: { from, to }, country });
          // The source of the project has changed.
          if (request.key.sourceKey !== sourceKey) continue;
          await lists.fetchAhead(request);
          refreshed++;
        } catch (error) {
          signal.throwIfAborted();
          // Other lists of the property would probably fail, too.
          failedProjects.add(id);
          failed++;
          log.warn({ err: error, project: id, list: kind, from, to }, 'could not refresh a list');
        }
      }
    };
    // One thread, so that requests can use the others.
    const stores = { settings: { ...settings, threads: 1 }, catalog, log, now };
    await withPresets(stores, ({ lists }) => refreshAll(lists));
    return { refreshed, failed };
  },
};

/** Recently expired provider lists in use, most used first. @param now milliseconds */
async function findDueLists(catalog: Catalog, settings: Settings, now: number): Promise<ProviderList[]> {
  const expired = now - settings.listLifetime * 1000;
  const fetched = { after: toMicroseconds(expired - EXPIRED_WITHIN), until: toMicroseconds(expired) };
  const lists = await listProviderLists(catalog, fetched);
  if (lists.length === 0) return [];
  const usage = openUsage(settings, (error) => {
    throw error;
  });
  try {
    const uses = await readListUses(usage);
    return lists
      .map((list) => ({ hits: 0, usedAt: 0, ...uses.get(list.file), ...list }))
      .filter(({ hits, usedAt }) => hits >= MIN_HITS && usedAt >= toMicroseconds(now - USED_WITHIN))
      .sort((a, b) => b.hits - a.hits)
      .slice(0, MAX_LISTS);
  } finally {
    await usage.close();
  }
}
