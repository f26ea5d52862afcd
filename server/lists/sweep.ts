import { dropOutdatedLists } from '../catalog/stored-lists.ts';
import { LocalFiles } from '../storage/local-files.ts';
import { PageSequences } from './page-sequences.ts';
import { SingleFlight } from './single-flight.ts';
import { ListStore, type StoreOptions } from './store.ts';

type SweepOptions = Pick<StoreOptions, 'catalog' | 'usage' | 'log'> & {
  readonly dataFolder: string;
  readonly now: () => number;
};

/**
 * Drops lists that were made from what is not current any more, and removes what nobody reads now: files of lists that
 * were replaced or dropped a while ago, page sequences that have ended, locks of processes that were killed. Servers may
 * run meanwhile. It needs neither DuckDB nor a provider.
 */
export async function sweepLists({ catalog, usage, dataFolder, log, now }: SweepOptions): Promise<void> {
  await dropOutdatedLists(catalog);
  const sequences = new PageSequences(usage, now);
  // Nothing is stored here.
  const limits = { lists: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  await new ListStore({ catalog, usage, sequences, files: new LocalFiles(dataFolder), limits, log }).sweep();
  await sequences.sweep();
  await new SingleFlight(dataFolder).sweep();
}
