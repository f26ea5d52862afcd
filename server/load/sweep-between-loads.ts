import type { OpenCatalog } from '../catalog/catalog.ts';
import { FactStore } from '../storage/fact-store.ts';
import { Journal } from './journal.ts';
import { moveOrphansDaily, sweep } from './sweep.ts';

/**
 * Sweeps while holding the load lock, as a load does before it starts. Undefined while a load is running.
 * @param now milliseconds
 */
export async function sweepBetweenLoads(
  catalog: OpenCatalog,
  dataFolder: string,
  now: number,
  signal: AbortSignal,
): Promise<{ removed: number; warning: string | undefined } | undefined> {
  await using lock = await catalog.locks.takeLoad('all');
  if (lock === undefined) return undefined;
  const store = new FactStore(dataFolder);
  // As in a load: whether a killed load was committed must be known before its files are removed.
  await new Journal(store).settle(catalog);
  signal.throwIfAborted();
  const removed = await sweep(catalog, store, now);
  signal.throwIfAborted();
  return { removed, warning: await moveOrphansDaily(catalog, store, now) };
}
