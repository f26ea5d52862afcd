import { join } from 'node:path';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { type JoinedStore, openJoinedStore } from '../catalog/store.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { openServingEngine } from '../facts/duckdb/serving-engine.ts';
import type { Facts } from '../facts/facts.ts';
import { openFacts } from '../facts/open-facts.ts';
import { ConcurrencyLimit } from '../runtime/limits.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import type { Settings } from '../settings/settings.ts';

/** What facts are read with. */
interface OpenedFacts {
  readonly engine: Engine;
  readonly files: JoinedStore;
}

/** Runs `work` with stored facts, outside a server. */
export async function withFacts<T>(
  { settings, catalog }: { readonly settings: Settings; readonly catalog: OpenCatalog },
  work: (facts: Facts, opened: OpenedFacts) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(settings.dataFolder, 'temporary')), (taken) =>
    taken.remove(),
  );
  const engine = opened.adopt(await openServingEngine({ settings, folder }), (opening) => opening.close());
  const files = opened.use(await openJoinedStore(settings, catalog));
  return await work(await openFacts({ settings, engine, files, heavy: new ConcurrencyLimit(1) }), { engine, files });
}
