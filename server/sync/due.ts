import { listDueProjects } from '../catalog/sync-projects.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { type SyncOptions, type SyncStores, syncProject } from './run.ts';

/** Projects synced concurrently; requests, memory and processor are limited across all of them. */
const AT_ONCE = 3;
/** Windows per turn of a project, so that a new project does not wait for the history of others. */
const WINDOWS_PER_TURN = 3;
/** Provisional days are fetched again after this share of the interval. */
const STALE_AFTER = 0.75;
const HOUR = 3_600_000;

/** Takes the lease of a project; undefined while another process holds it. */
export type TakeLease = (project: string) => Promise<{ release(): Promise<void> } | undefined>;

/** The lease name of a project. */
export function leaseOf(project: string): string {
  return `sync-${project}`;
}

/** Syncs due projects in turns until none is due. Returns the numbers of successful and failed runs. */
export async function syncDueProjects(
  stores: SyncStores,
  options: Pick<SyncOptions, 'now' | 'random' | 'signal' | 'report'> & { readonly take: TakeLease },
): Promise<{ synced: number; failed: number }> {
  const { catalog, settings, log } = stores;
  const { now, signal, take } = options;
  const staleAfter = settings.syncHours * HOUR * STALE_AFTER;
  /** Projects that are running or finished in this pass. */
  const left = new Set<string>();
  const counts = { synced: 0, failed: 0 };
  const next = async (): Promise<string | undefined> => {
    const due = await listDueProjects(catalog, toMicroseconds(now()), left.size + 1);
    const id = due.find((one) => !left.has(one));
    // Before any await, so that no other worker takes the same project.
    if (id !== undefined) left.add(id);
    return id;
  };
  const runOne = async (id: string): Promise<void> => {
    const lease = await take(id);
    if (lease === undefined) return;
    try {
      const result = await syncProject(stores, id, { ...options, maxWindows: WINDOWS_PER_TURN, staleAfter });
      if (result.outcome === 'part') left.delete(id);
      else if (result.outcome === 'done') counts.synced++;
      else counts.failed++;
    } catch (error) {
      signal.throwIfAborted();
      counts.failed++;
      log.error({ err: error, project: id }, 'a project could not be synced');
    } finally {
      await lease.release();
    }
  };
  const worker = async (): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const id = await next();
      if (id === undefined) return;
      await runOne(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return counts;
}
