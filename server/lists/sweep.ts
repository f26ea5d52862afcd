import type { OpenCatalog } from '../catalog/catalog.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { dropOutdatedLists } from '../catalog/stored-lists.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';
import { PageSequences } from './page-sequences.ts';
import { ListStore, type StoreOptions } from './store.ts';

type SweepOptions = Pick<StoreOptions, 'usage' | 'log'> & {
  readonly catalog: OpenCatalog;
  readonly settings: StorageSettings;
  readonly now: () => number;
};

/**
 * Removes lists of outdated data, unused files of replaced lists, expired page sequences, and locks of killed processes.
 * Safe while servers run. Needs neither DuckDB nor a provider.
 */
export async function sweepLists({ catalog, usage, settings, log, now }: SweepOptions): Promise<void> {
  await dropOutdatedLists(catalog);
  const sequences = new PageSequences(usage, now);
  // Unused, because nothing is stored here.
  const limits = { lists: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  await using files = await openJoinedStore(settings, catalog);
  await new ListStore({ catalog, usage, sequences, files, limits, log }).sweep();
  await sequences.sweep();
  await catalog.locks.sweep();
}
