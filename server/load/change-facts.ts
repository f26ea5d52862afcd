import { join } from 'node:path';
import type { LoadLock } from '../catalog/locks.ts';
import { ProcessFolder } from '../process-folder.ts';
import { openFileStore } from '../storage/open-file-store.ts';
import { openJournal, type Publications } from './journal.ts';
import { type LockOptions, withLoadLock } from './lock.ts';
import type { FactFiles } from './new-files.ts';
import type { Stores } from './stores.ts';
import { sweep } from './sweep.ts';

/** What a change of stored facts works with. */
export interface FactChange {
  readonly lock: LoadLock;
  readonly files: FactFiles;
  readonly journal: Publications;
  /** A folder for temporary files. Removed afterwards. */
  readonly staging: string;
}

/**
 * Runs a change of stored facts: one at a time, after what killed ones have left was removed. What it writes and does not
 * publish is removed afterwards.
 */
export function changeFacts<T>(
  { settings, catalog }: Stores,
  options: LockOptions & { readonly projects?: readonly string[] },
  change: (own: FactChange) => Promise<T>,
): Promise<T> {
  return withLoadLock(catalog.locks, options, async (lock) => {
    const { dataFolder } = settings;
    await using store = await openFileStore(settings);
    const journal = openJournal(settings);
    // Whether a killed load was committed must be known before its files are removed.
    await journal.settle(catalog);
    await sweep(catalog, { lock, store, dataFolder });
    const folder = await ProcessFolder.take(join(dataFolder, 'staging'));
    const files = { store, lock };
    try {
      const result = await change({ lock, files, journal, staging: folder.path });
      await journal.compact(catalog);
      return result;
    } finally {
      // A failed sweep does not change the result; the next change sweeps again.
      await folder.remove().catch(() => {});
      await sweep(catalog, { lock, store, dataFolder }).catch(() => {});
    }
  });
}
