import { join } from 'node:path';
import { openServingEngine } from '../facts/duckdb/serving-engine.ts';
import type { Facts } from '../facts/facts.ts';
import { openFacts } from '../facts/open-facts.ts';
import { ConcurrencyLimit } from '../runtime/limits.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import type { Settings } from '../settings/settings.ts';
import { openFileStore } from '../storage/open-file-store.ts';

/** Runs `work` with stored facts, outside a server. */
export async function withFacts<T>(settings: Settings, work: (facts: Facts) => Promise<T>): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(settings.dataFolder, 'temporary')), (taken) =>
    taken.remove(),
  );
  const engine = opened.adopt(await openServingEngine({ settings, folder }), (opening) => opening.close());
  const files = opened.use(await openFileStore(settings));
  return await work(await openFacts({ settings, engine, files, heavy: new ConcurrencyLimit(1) }));
}
