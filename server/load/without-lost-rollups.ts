import { lostRollups } from '../catalog/fact-files.ts';
import type { LockOptions } from './change-facts.ts';
import type { Stores } from './stores.ts';

/** Runs work that reads facts. If it misses rollups, makes them again from the days and runs it once more, from the start. */
export async function withoutLostRollups<T>(
  stores: Stores,
  work: () => Promise<T>,
  waiting: LockOptions = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const projects = lostRollups(error);
    if (projects.size === 0 || waiting.signal?.aborted) throw error;
    const { remakeRollups } = await import('./remake-rollups.ts');
    for (const project of projects) {
      const files = await remakeRollups(stores, project, waiting);
      if (files > 0) stores.onWarning?.(`Lost rollups of the project ${project} were made again: ${files} files.`);
    }
    return work();
  }
}
