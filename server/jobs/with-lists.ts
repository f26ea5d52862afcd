import { join } from 'node:path';
import { openServingEngine } from '../facts/duckdb/serving-engine.ts';
import { openDistantLists } from '../facts/open-facts.ts';
import { Lists, type ListsOptions } from '../lists/lists.ts';
import type { Stores } from '../load/stores.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { openFileStore } from '../storage/open-file-store.ts';

interface Options extends Stores {
  readonly log: ListsOptions['log'];
}

/** Runs `work` with stored lists, outside a server. */
export async function withLists<T>(
  { settings, catalog, log }: Options,
  work: (lists: Lists) => Promise<T>,
  now: () => number = Date.now,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(settings.dataFolder, 'temporary')), (taken) =>
    taken.remove(),
  );
  const engine = opened.adopt(await openServingEngine({ settings, folder }), (opening) => opening.close());
  const files = opened.use(await openFileStore(settings));
  const distant = await openDistantLists({ settings, files });
  const lists = opened.adopt(new Lists({ engine, catalog, files, distant, settings, log, now }), (all) => all.close());
  return await work(lists);
}
