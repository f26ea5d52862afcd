import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileLock } from '../catalog/lock.ts';

const PAUSE = 200;

/** Another load is still running after all the waiting. */
class LoadIsRunning extends Error {}

/**
 * Runs `work` while no other process loads into the same data folder.
 * @param patience milliseconds to wait for another load
 */
export async function withLoadLock<T>(
  dataFolder: string,
  { patience, onWait }: { patience: number; onWait: () => void },
  work: () => Promise<T>,
): Promise<T> {
  using _lock = await takeLock(join(dataFolder, 'load.lock'), dataFolder, { patience, onWait });
  return await work();
}

async function takeLock(
  path: string,
  dataFolder: string,
  { patience, onWait }: { patience: number; onWait: () => void },
): Promise<FileLock> {
  for (const deadline = Date.now() + patience; ; ) {
    const lock = FileLock.take(path);
    if (lock !== undefined) return lock;
    if (Date.now() >= deadline) {
      throw new LoadIsRunning(
        `Another load into '${dataFolder}' has been running for ${Math.round(patience / 1000)} s; nothing was loaded. Load again when it has ended.`,
      );
    }
    onWait();
    await sleep(PAUSE);
  }
}
