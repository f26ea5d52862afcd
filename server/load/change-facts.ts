import type { LoadLock } from '../catalog/locks.ts';
import { CheckedFiles } from '../storage/checked-files.ts';
import { FactStore } from '../storage/fact-store.ts';
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
    const store = new FactStore(settings.dataFolder);
    const journal = new Journal(store);
    // Whether a killed load was committed must be known before its files are removed.
    await journal.settle(catalog);
    await sweep(catalog, store);
    const staging = store.path('staging');
    const files = { store, planned: new PlannedFiles(staging), checked: new CheckedFiles(store) };
    try {
      const result = await change({ lock, files, journal, staging });
      await journal.compact(catalog);
      return result;
    } finally {
      // A failed sweep does not change the result; the next change sweeps again.
      await sweep(catalog, store).catch(() => {});
    }
  });
}
