import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadLock, Locks } from '../catalog/locks.ts';

const PAUSE = 200;

/** How long operations that exclude a load wait for one, in milliseconds. */
const LOAD_LOCK_TIMEOUT = 600_000;

/** Another load is still running after the timeout. */
class LoadIsRunning extends Error {}

export interface LockOptions {
  /** Milliseconds to wait for another load. */
  readonly lockTimeout?: number;
  /** Called while waiting. */
  readonly onWait?: () => void;
}

/**
 * Runs `work` while holding the load lock. Throws if the lock is not free in time.
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
  { lockTimeout = LOAD_LOCK_TIMEOUT, onWait = () => {} }: LockOptions,
): Promise<T> {
  for (const deadline = Date.now() + lockTimeout; ; ) {
    const taken = await take();
    if (taken !== undefined) return taken;
    if (Date.now() >= deadline) {
      throw new LoadIsRunning(
        `Another load has been running for ${Math.round(lockTimeout / 1000)} s; nothing was changed. Try again when it has ended.`,
      );
    }
    onWait();
    await sleep(PAUSE);
  }
}
