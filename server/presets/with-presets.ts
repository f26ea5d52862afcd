import type { OpenCatalog } from '../catalog/catalog.ts';
import { CatalogCache } from '../catalog/catalog-cache.ts';
import { TrackedKeywordsCache } from '../catalog/keywords.ts';
import { openLoggedUsage } from '../catalog/logged-usage.ts';
import { openDistantLists } from '../facts/open-facts.ts';
import { Lists, type ListsOptions } from '../lists/lists.ts';
import { withFacts } from '../query/with-facts.ts';
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
export function withPresets<T>(
  { settings, catalog, log, now }: Options,
  work: (sources: PresetSources) => Promise<T>,
): Promise<T> {
  return withFacts({ settings, catalog }, async (facts, { engine, files }) => {
    await using opened = new AsyncDisposableStack();
    const distant = await openDistantLists({ settings, files });
    const usage = opened.adopt(openLoggedUsage(settings, log), (it) => it.close());
    const lists = opened.adopt(new Lists({ engine, catalog, usage, files, distant, settings, log, now }), (all) =>
      all.close(),
    );
    const catalogCache = new CatalogCache(catalog);
    const trackedCache = new TrackedKeywordsCache(catalog);
    const judged = new JudgedFindings();
    const { publicUrl } = settings;
    return await work({ catalog, catalogCache, trackedCache, judged, facts, lists, files, now, publicUrl });
  });
}
