import { setTimeout as sleep } from 'node:timers/promises';
import { type Lease, whileHeld } from '../catalog/leases.ts';
import { isDueProject, listDueProjects, listRequestedProjects } from '../catalog/sync-projects.ts';
import { HOUR } from '../domain/hours.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { AT_ONCE, pollAndRun, runWorkers } from './at-once.ts';
import { syncProject } from './run.ts';
import type { SyncOptions, SyncStores } from './run-options.ts';

/** Windows per turn of a project, so that a new project does not wait for the history of others. */
const WINDOWS_PER_TURN = 3;
/** Provisional days are fetched again after this share of the interval. */
const REFRESH_AFTER = 0.75;
/** Milliseconds before a project is looked at again that another process runs, or whose run failed. */
const SET_ASIDE = 60_000;
/** Milliseconds after which idle workers look for due projects, and all for requested ones. */
const LOOK_AGAIN = 5000;
/** Turns beside all others for projects whose sync is requested: others may take minutes. */
const REQUESTED_AT_ONCE = 4;

/** Takes the lease of a project; undefined while another process holds it. */
type TakeLease = (project: string) => Promise<Lease | undefined>;

/** The lease name of a project. */
export function leaseOf(project: string): string {
  return `sync-${project}`;
}

function sleepOrEnd(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal }).catch(() => {});
}

interface DueOptions extends Pick<SyncOptions, 'now' | 'random' | 'signal' | 'report'> {
  /** Called while a project waits, with the reason. */
  readonly onWait?: (project: string, why: string) => void;
  readonly take: TakeLease;
  /** Milliseconds; 5,000 without it. */
  readonly lookAgain?: number;
  /** Milliseconds between two checks of a lease; see `whileHeld`. */
  readonly checkLease?: number;
}

/**
 * Syncs due projects in turns until none is due. A project whose sync is requested waits for no turn of another. Returns the
 * numbers of successful and failed runs.
 */
export async function syncDueProjects(
  stores: SyncStores,
  options: DueOptions,
): Promise<{ synced: number; failed: number }> {
  const { catalog, settings, log } = stores;
  const { now, signal, take, lookAgain = LOOK_AGAIN, checkLease: every } = options;
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
  const runOne = async (id: string, onWait: (why: string) => void): Promise<boolean> => {
    const lease = await take(id);
    if (lease === undefined) return false;
    try {
      // Another process may have run it since it was listed.
      if (!(await isDueProject(catalog, id, toMicroseconds(now())))) return true;
      const message = 'The lease of the project was lost; another process may be syncing it.';
      const { outcome } = await whileHeld(lease, { message, sleep: sleepOrEnd, every }, (lost) => {
        const either = AbortSignal.any([signal, lost]);
        const run = { ...options, signal: either, maxWindows: WINDOWS_PER_TURN, endsWhenRequested: true, staleAfter };
        return syncProject(stores, id, { ...run, onWait });
      });
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
  const turn = async (id: string, replace: () => void): Promise<void> => {
    running.add(id);
    const onWait = (why: string): void => {
      options.onWait?.(id, why);
      replace();
    };
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
  };
  const allEnded = new AbortController();
  const pause = (...early: AbortSignal[]): Promise<void> => sleepOrEnd(lookAgain, AbortSignal.any([signal, ...early]));
  const requested = pollAndRun({
    list: async () => {
      const ids = await listRequestedProjects(catalog, running.size + asideUntil.size + REQUESTED_AT_ONCE);
      return ids.filter((id) => !running.has(id) && !asideUntil.has(id));
    },
    // Nothing replaces it while it waits.
    run: (id) => turn(id, () => {}),
    pause: () => pause(allEnded.signal),
    atOnce: REQUESTED_AT_ONCE,
    ended: AbortSignal.any([signal, allEnded.signal]),
  });
  // Thrown below, when all turns have ended.
  requested.catch(() => {});
  try {
    await runWorkers(async (onWait) => {
      signal.throwIfAborted();
      const id = await next();
      if (id !== undefined) await turn(id, onWait);
      else if (running.size === 0) return false;
      else await pause(turnEnded.signal);
      return true;
    });
  } finally {
    allEnded.abort();
    await requested;
  }
  return counts;
}
