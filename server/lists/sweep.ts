import type { OpenCatalog } from '../catalog/catalog.ts';
import { dropOutdatedLists } from '../catalog/stored-lists.ts';
import { LocalFiles } from '../storage/local-files.ts';
import { PageSequences } from './page-sequences.ts';
import { ListStore, type StoreOptions } from './store.ts';

type SweepOptions = Pick<StoreOptions, 'usage' | 'log'> & {
  readonly catalog: OpenCatalog;
  readonly dataFolder: string;
  readonly now: () => number;
};

/**
 * Removes lists of outdated data, unused files of replaced lists, expired page sequences, and locks of killed processes.
 * Safe while servers run. Needs neither DuckDB nor a provider.
 */
export async function sweepLists({ catalog, usage, dataFolder, log, now }: SweepOptions): Promise<void> {
  await dropOutdatedLists(catalog);
  const sequences = new PageSequences(usage, now);
  // Unused, because nothing is stored here.
  const limits = { lists: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  await new ListStore({ catalog, usage, sequences, files: new LocalFiles(dataFolder), limits, log }).sweep();
  await sequences.sweep();
  await catalog.locks.sweep();
}
