import { listDueProjects } from '../catalog/sync-projects.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { type SyncOptions, type SyncStores, syncProject } from './run.ts';

/** Projects at a time: requests are limited over all of them, and so are memory and processor. */
const AT_ONCE = 3;
/** Windows of a project before others have their turn: a new project does not wait for the history of older ones. */
const WINDOWS_A_TURN = 3;
/** Days that still change are read again after this part of the interval. */
const STALE_AFTER = 0.75;
const HOUR = 3_600_000;

/** The right to run a project, alone over all processes; undefined while somebody else has it. */
export type TakeLease = (project: string) => Promise<{ release(): Promise<void> } | undefined>;

/** The name of the lease of a project's runs. */
export function leaseOf(project: string): string {
  return `sync-${project}`;
}

/** Runs the projects that are due, turn by turn, until none is. Returns how many runs succeeded, and how many did not. */
export async function syncDueProjects(
  stores: SyncStores,
  options: Pick<SyncOptions, 'now' | 'random' | 'signal' | 'report'> & { readonly take: TakeLease },
): Promise<{ synced: number; failed: number }> {
  const { catalog, settings, log } = stores;
  const { now, signal, take } = options;
  const staleAfter = settings.syncHours * HOUR * STALE_AFTER;
  /** Those that are run, and those that are not to be run again before the next time. */
  const left = new Set<string>();
  const counts = { synced: 0, failed: 0 };
  const next = async (): Promise<string | undefined> => {
    const due = await listDueProjects(catalog, toMicroseconds(now()), left.size + 1);
    const id = due.find((one) => !left.has(one));
    // At once: others look for theirs meanwhile.
    if (id !== undefined) left.add(id);
    return id;
  };
  const runOne = async (id: string): Promise<void> => {
    const lease = await take(id);
    if (lease === undefined) return;
    try {
      const result = await syncProject(stores, id, { ...options, maxWindows: WINDOWS_A_TURN, staleAfter });
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
