import { putCrawlDays, readCrawlDays } from '../catalog/crawl-days.ts';
import type { Project } from '../catalog/projects.ts';
import { mergeCrawlDays } from '../domain/crawl.ts';
import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { ProviderJob } from '../providers/gateway.ts';
import type { ConnectedProvider } from '../providers/provider.ts';
import type { SyncStores } from './run-options.ts';

/**
 * Fetches what the crawler of a provider found on the days that it tells, and stores those that changed. Days that it no longer
 * tells stay. A failure waits for the next run: the provider tells the same days then.
 * @param keptFrom earlier days are not kept; null for all
 */
export async function syncCrawl(
  { catalog, gateway }: SyncStores,
  client: ConnectedProvider,
  job: ProviderJob,
  { project: { id, property }, keptFrom, now }: { project: Project; keptFrom: Day | null; now: Microseconds },
): Promise<void> {
  if (client.fetchCrawl === undefined) return;
  try {
    const { days } = await gateway.run(
      { ...job, what: 'crawl' },
      (run) => client.fetchCrawl!(property, null, run),
      (crawl) => ({ days: crawl.days.length }),
    );
    const of = { project: id, property };
    const stored = await readCrawlDays(catalog, of);
    const before = new Map(stored.map((day) => [day.date, JSON.stringify(day)]));
    const merged = mergeCrawlDays(stored, days, now / 1000).filter(({ date }) => keptFrom === null || date >= keptFrom);
    const changed = merged.filter((day) => before.get(day.date) !== JSON.stringify(day));
    if (changed.length > 0) await catalog.transaction((tx) => putCrawlDays(tx, of, changed));
  } catch (error) {
    if (!(error instanceof ProviderFailure) || gateway.stopped.aborted) throw error;
  }
}
