import type { OpenCatalog } from '../catalog/catalog.ts';
import { LocalFiles } from '../storage/local-files.ts';
import { openFileStore, type StorageSettings } from '../storage/open-file-store.ts';
import { Journal } from './journal.ts';
import { moveOrphansDaily, sweep } from './sweep.ts';

/**
 * Sweeps while holding the load lock, as a load does before it starts. Undefined while a load is running.
 * @param now milliseconds
 */
export async function sweepBetweenLoads(
  catalog: OpenCatalog,
  settings: StorageSettings,
  now: number,
  signal: AbortSignal,
): Promise<{ removed: number; warning: string | undefined } | undefined> {
  const { dataFolder } = settings;
  await using lock = await catalog.locks.takeLoad('all');
  if (lock === undefined) return undefined;
  await using store = await openFileStore(settings);
  // As in a load: whether a killed load was committed must be known before its files are removed.
  await new Journal(new LocalFiles(dataFolder)).settle(catalog);
  signal.throwIfAborted();
  const removed = await sweep(catalog, { store, dataFolder }, now);
  signal.throwIfAborted();
  return { removed, warning: await moveOrphansDaily(catalog, store, now) };
}
