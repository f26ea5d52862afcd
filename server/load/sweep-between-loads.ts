import { openJoinedStore, thinCopies } from '../catalog/store.ts';
import { openJournal } from './journal.ts';
import type { Stores } from './stores.ts';
import { moveOrphansDaily, sweep } from './sweep.ts';

/**
 * Sweeps while holding the load lock, as a load does before it starts. Undefined while a load has the lock.
 * @param now milliseconds
 */
export async function sweepBetweenLoads(
  { settings, catalog }: Stores,
  now: number,
  signal: AbortSignal,
): Promise<{ removed: number; warning: string | undefined } | undefined> {
  await using lock = await catalog.locks.takeLoad('projects');
  if (lock === undefined) return undefined;
  await using store = await openJoinedStore(settings, catalog);
  // As in a load: whether a killed load was committed must be known before its files are removed.
  await openJournal(settings).settle(catalog);
  signal.throwIfAborted();
  if (settings.catalogUrl === '') await thinCopies(settings.dataFolder, now);
  const removed = await sweep(catalog, { lock, store, dataFolder: settings.dataFolder }, now);
  signal.throwIfAborted();
  return { removed, warning: await moveOrphansDaily(catalog, lock, store, now) };
}
