import { join } from 'node:path';
import { openServingEngine } from '../facts/duckdb/serving-engine.ts';
import { Lists, type ListsOptions } from '../lists/lists.ts';
import type { Stores } from '../load/stores.ts';
import { ProcessFolder } from '../process-folder.ts';
import { CheckedFiles } from '../storage/checked-files.ts';
import { FactStore } from '../storage/fact-store.ts';

interface Options extends Stores {
  readonly log: ListsOptions['log'];
}

/** Runs `work` with the lists of a data folder, outside a server. */
export async function withLists<T>(
  { settings, catalog, log }: Options,
  work: (lists: Lists) => Promise<T>,
  now: () => number = Date.now,
): Promise<T> {
  const { dataFolder, memoryLimit, threads } = settings;
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(dataFolder, 'temporary')), (taken) => taken.remove());
  const options = { dataFolder, memoryLimit, threads, temporaryFolder: folder.path };
  const engine = opened.adopt(await openServingEngine(options), (opening) => opening.close());
  const factFiles = new CheckedFiles(new FactStore(dataFolder));
  const lists = opened.adopt(new Lists({ engine, catalog, factFiles, settings, log, now }), (all) => all.close());
  return await work(lists);
}
