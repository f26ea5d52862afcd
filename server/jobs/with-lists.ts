import type { Lists, ListsOptions } from '../lists/lists.ts';
import type { Stores } from '../load/stores.ts';
import { withPresets } from '../presets/with-presets.ts';

interface Options extends Stores {
  readonly log: ListsOptions['log'];
}

/** Runs `work` with stored lists, outside a server. */
export function withLists<T>(
  { settings, catalog, log }: Options,
  work: (lists: Lists) => Promise<T>,
  now: () => number = Date.now,
): Promise<T> {
  return withPresets({ settings, catalog, log, now }, ({ lists }) => work(lists));
}
