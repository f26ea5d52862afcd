import { join } from 'node:path';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { CatalogCache } from '../catalog/catalog-cache.ts';
import { openJoinedStore } from '../catalog/joined-store.ts';
import { openLoggedUsage } from '../catalog/logged-usage.ts';
import { TrackedKeywordsCache } from '../catalog/tracked.ts';
import { openServingEngine } from '../facts/duckdb/serving-engine.ts';
import { openDistantLists, openFacts } from '../facts/open-facts.ts';
import { Lists, type ListsOptions } from '../lists/lists.ts';
import { ConcurrencyLimit } from '../runtime/limits.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import type { Settings } from '../settings/settings.ts';
import { JudgedFindings } from './findings-answer.ts';
import type { PresetSources } from './preset.ts';

interface Options {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
  readonly log: ListsOptions['log'];
  /** Milliseconds. */
  readonly now: () => number;
}

/** Runs `work` with all that presets read, outside a server. */
export async function withPresets<T>(
  { settings, catalog, log, now }: Options,
  work: (sources: PresetSources) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(settings.dataFolder, 'temporary')), (taken) =>
    taken.remove(),
  );
  const engine = opened.adopt(await openServingEngine({ settings, folder }), (opening) => opening.close());
  const files = opened.use(await openJoinedStore(settings, catalog));
  const distant = await openDistantLists({ settings, files });
  const usage = opened.adopt(openLoggedUsage(settings, log), (it) => it.close());
  const lists = opened.adopt(new Lists({ engine, catalog, usage, files, distant, settings, log, now }), (all) =>
    all.close(),
  );
  const facts = await openFacts({ settings, engine, files, heavy: new ConcurrencyLimit(1) });
  const catalogCache = new CatalogCache(catalog);
  const trackedCache = new TrackedKeywordsCache(catalog);
  const judged = new JudgedFindings();
  const { publicUrl } = settings;
  return await work({ catalog, catalogCache, trackedCache, judged, facts, lists, files, now, publicUrl });
}
