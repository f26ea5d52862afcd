import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadLock, Locks } from '../catalog/catalog.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { openJournal, type Publications } from './journal.ts';
import type { FactFiles } from './new-files.ts';
import type { Stores } from './stores.ts';
import { moveOrphansDaily, sweep } from './sweep.ts';

const PAUSE = 200;

/** How long operations that exclude a load wait for one, in milliseconds. */
const LOAD_LOCK_TIMEOUT = 600_000;

/** Another load is still running after the timeout. */
class LoadIsRunning extends Error {}

export interface LockOptions {
  /** Milliseconds to wait for another load. */
  readonly lockTimeout?: number;
  /** Called while waiting, with the milliseconds so far. */
  readonly onWait?: (waited: number) => void;
  /** Ends the wait, not what follows it. */
  readonly signal?: AbortSignal;
}

/** The context of a change of stored facts. */
export interface FactChange {
  readonly lock: LoadLock;
  readonly files: FactFiles;
  readonly journal: Publications;
  /** A folder for temporary files. Removed afterwards. */
  readonly staging: string;
}

interface ChangeOptions extends LockOptions {
  readonly projects?: readonly string[];
}

/**
 * Runs a change of stored facts: one at a time, after removing what killed ones have left. Removes what was written but
 * not published.
 */
export function changeFacts<T>(
  { settings, catalog, onWarning }: Stores,
  options: ChangeOptions,
  change: (change: FactChange) => Promise<T>,
): Promise<T> {
  return withLoadLock(catalog.locks, options, async (lock) => {
    await using store = await openJoinedStore(settings, catalog);
    const journal = openJournal(settings);
    // Whether a killed load was committed must be known before its files are removed.
    await journal.settle(catalog);
    await sweep(catalog, { lock, store, dataFolder: settings.dataFolder });
    const orphans = await moveOrphansDaily(catalog, lock, store);
    if (orphans !== undefined) onWarning?.(orphans);
    const folder = await ProcessFolder.take(join(settings.dataFolder, 'staging'));
    const files = { store, lock };
    try {
      const result = await change({ lock, files, journal, staging: folder.path });
      // The change is committed whether this succeeds or not.
      await journal.compact().catch((error: Error) => onWarning?.(uncompacted(error)));
      return result;
    } finally {
      // A failed sweep does not change the result; the next change sweeps again.
      await folder.remove().catch(() => {});
      // A complete record names the files of a failed change: they stay for as long as it does.
      await journal
        .settle(catalog)
        .then(() => sweep(catalog, { lock, store, dataFolder: settings.dataFolder }))
        .catch(() => {});
    }
  });
}

function uncompacted({ message }: Error): string {
  return `The catalog could not be copied beside the facts (${message}); the next change tries again.`;
}

/**
 * Runs `work` while holding the load lock. Throws if the lock is not free in time, or the signal's reason.
 * @param options `projects`: locks only these, and those that `work` takes, where the catalog supports it; by default no
 * other load runs
 */
export async function withLoadLock<T>(
  locks: Locks,
  { projects, ...options }: LockOptions & { readonly projects?: readonly string[] },
  work: (lock: LoadLock) => Promise<T>,
): Promise<T> {
  const scope = projects === undefined ? 'all' : 'projects';
  await using lock = await waitFor(() => locks.takeLoad(scope), options);
  if (projects !== undefined) await takeProjects(lock, projects, options);
  return await work(lock);
}

/** Takes further projects of a load. Throws if they are not free in time. */
export async function takeProjects(lock: LoadLock, projects: readonly string[], options: LockOptions): Promise<void> {
  await waitFor(async () => ((await lock.takeProjects(projects)) ? lock : undefined), options);
}

async function waitFor<T>(
  take: () => Promise<T | undefined>,
  { lockTimeout = LOAD_LOCK_TIMEOUT, onWait = () => {}, signal }: LockOptions,
): Promise<T> {
  for (const started = Date.now(); ; ) {
    signal?.throwIfAborted();
    const taken = await take();
    if (taken !== undefined) return taken;
    const waited = Date.now() - started;
    if (waited >= lockTimeout) {
      throw new LoadIsRunning(
        `Another load has been running for ${Math.round(lockTimeout / 1000)} s; nothing was changed. Try again when it has ended.`,
      );
    }
    onWait(waited);
    await sleep(PAUSE, undefined, { signal }).catch(() => {});
  }
}
