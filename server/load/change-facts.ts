import { join } from 'node:path';
import type { LoadLock } from '../catalog/locks.ts';
import { LocalFiles } from '../storage/local-files.ts';
import { openFileStore } from '../storage/open-file-store.ts';
import { Journal } from './journal.ts';
import { type LockOptions, withLoadLock } from './lock.ts';
import type { FactFiles } from './new-files.ts';
import { PlannedFiles } from './planned-files.ts';
import type { Stores } from './stores.ts';
import { sweep } from './sweep.ts';

/** What a change of stored facts works with. */
export interface FactChange {
  readonly lock: LoadLock;
  readonly files: FactFiles;
  readonly journal: Journal;
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
    const journal = new Journal(new LocalFiles(dataFolder));
    // Whether a killed load was committed must be known before its files are removed.
    await journal.settle(catalog);
    await sweep(catalog, { store, dataFolder });
    const staging = join(dataFolder, 'staging');
    const files = { store, planned: new PlannedFiles(staging) };
    try {
      const result = await change({ lock, files, journal, staging });
      await journal.compact(catalog);
      return result;
    } finally {
      // A failed sweep does not change the result; the next change sweeps again.
      await sweep(catalog, { store, dataFolder }).catch(() => {});
    }
  });
}
