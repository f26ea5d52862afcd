import { setTimeout as sleep } from 'node:timers/promises';
import { listDueProjects } from '../catalog/sync-projects.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { AT_ONCE, repeatAtOnce } from './at-once.ts';
import { syncProject } from './run.ts';
import type { SyncOptions, SyncStores } from './run-options.ts';

/** Windows per turn of a project, so that a new project does not wait for the history of others. */
const WINDOWS_PER_TURN = 3;
/** Provisional days are fetched again after this share of the interval. */
const REFRESH_AFTER = 0.75;
const HOUR = 3_600_000;
/** Milliseconds before a project is looked at again that another process runs, or whose run failed. */
const SET_ASIDE = 60_000;
/** Milliseconds after which idle workers look for due projects while others are running. */
const LOOK_AGAIN = 5000;

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
  const staleAfter = settings.syncHours * HOUR * REFRESH_AFTER;
  const running = new Set<string>();
  /** When projects that were set aside may be taken, in milliseconds. */
  const asideUntil = new Map<string, number>();
  let turnEnded = new AbortController();
  const counts = { synced: 0, failed: 0 };
  const next = async (): Promise<string | undefined> => {
    for (const [id, until] of asideUntil) if (until <= now()) asideUntil.delete(id);
    const due = await listDueProjects(catalog, toMicroseconds(now()), running.size + asideUntil.size + AT_ONCE);
    const id = due.find((one) => !running.has(one) && !asideUntil.has(one));
    // Before any await, so that no other worker takes the same project.
    if (id !== undefined) running.add(id);
    return id;
  };
  /** Returns whether the project may be taken again as soon as it is due. */
  const runOne = async (id: string, onWait: () => void): Promise<boolean> => {
    const lease = await take(id);
    if (lease === undefined) return false;
    try {
      const run = { ...options, maxWindows: WINDOWS_PER_TURN, staleAfter, onWait };
      const { outcome } = await syncProject(stores, id, run);
      if (outcome === 'part') return true;
      counts[outcome === 'done' ? 'synced' : 'failed']++;
      return outcome === 'done';
    } finally {
      // The results of the run stay; a lease that could not be released ends with its process at the latest.
      await lease.release().catch((error: unknown) => {
        log.error({ err: error, project: id }, 'the lease of a project could not be released');
      });
    }
  };
  await repeatAtOnce(async (onWait) => {
    signal.throwIfAborted();
    const id = await next();
    if (id === undefined) {
      if (running.size === 0) return false;
      await sleep(LOOK_AGAIN, undefined, { signal: AbortSignal.any([signal, turnEnded.signal]) }).catch(() => {});
      return true;
    }
    try {
      if (!(await runOne(id, onWait))) asideUntil.set(id, now() + SET_ASIDE);
    } catch (error) {
      signal.throwIfAborted();
      counts.failed++;
      asideUntil.set(id, now() + SET_ASIDE);
      log.error({ err: error, project: id }, 'a project could not be synced');
    } finally {
      running.delete(id);
      turnEnded.abort();
      turnEnded = new AbortController();
    }
    return true;
  });
  return counts;
}
