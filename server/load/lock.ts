import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileLock } from '../catalog/lock.ts';

const PAUSE = 200;

/** How long operations that exclude a load wait for one, in milliseconds. */
export const LOAD_LOCK_TIMEOUT = 600_000;

const lockOf = (dataFolder: string): string => join(dataFolder, 'load.lock');

/** Another load is still running after the timeout. */
class LoadIsRunning extends Error {}

/**
 * Runs `work` while holding the load lock of the data folder. Throws if the lock is not free in time.
 * @param lockTimeout milliseconds to wait for another load
 */
export async function withLoadLock<T>(
  dataFolder: string,
  { lockTimeout, onWait }: { lockTimeout: number; onWait: () => void },
  work: () => Promise<T>,
): Promise<T> {
  using _lock = await takeLock(lockOf(dataFolder), dataFolder, { lockTimeout, onWait });
  return await work();
}

/** Takes the load lock; undefined while another operation holds it. */
export function tryLoadLock(dataFolder: string): FileLock | undefined {
  return FileLock.take(lockOf(dataFolder));
}

async function takeLock(
  path: string,
  dataFolder: string,
  { lockTimeout, onWait }: { lockTimeout: number; onWait: () => void },
): Promise<FileLock> {
  for (const deadline = Date.now() + lockTimeout; ; ) {
    const lock = FileLock.take(path);
    if (lock !== undefined) return lock;
    if (Date.now() >= deadline) {
      throw new LoadIsRunning(
        `Another load into '${dataFolder}' has been running for ${Math.round(lockTimeout / 1000)} s; nothing was loaded. Load again when it has ended.`,
      );
    }
    onWait();
    await sleep(PAUSE);
  }
}
