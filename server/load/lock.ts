import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE = 200;

/** Another load is still running after all the waiting. */
class LoadIsRunning extends Error {}

/**
 * Runs `work` while no other process loads into the same data folder. The lock is one of the operating system's, held
 * through an SQLite file of its own, so that it ends with the process, however that ends.
 * @param patience milliseconds to wait for another load
 */
export async function withLoadLock<T>(
  dataFolder: string,
  { patience, onWait }: { patience: number; onWait: () => void },
  work: () => Promise<T>,
): Promise<T> {
  const lock = new DatabaseSync(join(dataFolder, 'load.lock'), { timeout: 0 });
  try {
    for (const deadline = Date.now() + patience; !tryLock(lock); ) {
      if (Date.now() >= deadline) {
        throw new LoadIsRunning(
          `Another load into '${dataFolder}' has been running for ${Math.round(patience / 1000)} s; nothing was loaded. Load again when it has ended.`,
        );
      }
      onWait();
      await sleep(PAUSE);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5) return false;
    throw error;
  }
}
