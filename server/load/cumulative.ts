import pLimit from 'p-limit';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, filesOf, manifestOf } from '../catalog/manifest.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { CheckedFiles } from '../storage/checked-files.ts';
import { FactStore } from '../storage/fact-store.ts';
import { Journal } from './journal.ts';
import { LOAD_LOCK_TIMEOUT, withLoadLock } from './lock.ts';
import { PlannedFiles } from './planned-files.ts';
import { publishFiles } from './publish.ts';
import { writeCumulative } from './rollups.ts';
import type { Stores } from './stores.ts';
import { sweep } from './sweep.ts';
import { FACTS } from './tables.ts';

interface EngineStores extends Stores {
  /** Over `loadFolders`; opened if there is something to write. */
  readonly engine: () => Promise<Engine>;
}

const KEYWORDS = FACTS.find(({ cumulative }) => cumulative !== undefined)!;
const AT_ONCE = 2;

/** The months of a project without cumulative totals. */
async function missingMonths(catalog: Catalog, project: string): Promise<FactFile[]> {
  const months = await manifestOf(catalog, project, KEYWORDS.rollups[0]!, EVERY_DAY);
  const stored = new Set((await manifestOf(catalog, project, KEYWORDS.cumulative!, EVERY_DAY)).map(({ part }) => part));
  return months.filter(({ part }) => !stored.has(part));
}

/** Writes and publishes the cumulative totals that loads have deferred, if a project lacks any. */
export async function completeCumulative({ settings, catalog, engine }: EngineStores, project: string): Promise<void> {
  if ((await missingMonths(catalog, project)).length === 0) return;
  const { dataFolder } = settings;
  await withLoadLock(dataFolder, { lockTimeout: LOAD_LOCK_TIMEOUT, onWait: () => {} }, async () => {
    const store = new FactStore(dataFolder);
    const journal = new Journal(store);
    await journal.settle(catalog);
    await sweep(catalog, store);
    try {
      const [running] = await filesOf(catalog, project, KEYWORDS.running!, EVERY_DAY);
      const missing = await missingMonths(catalog, project);
      if (running === undefined || missing.length === 0) return;
      const planned = new PlannedFiles(store.path('staging'));
      const files = { store, planned, checked: new CheckedFiles(store) };
      const limit = pLimit(AT_ONCE);
      const opened = await engine();
      const writing = missing.map((days) => {
        const place = { files, schema: KEYWORDS, project, part: days.part };
        return limit(() => writeCumulative(opened, place, { table: KEYWORDS.cumulative!, days, running }));
      });
      // All must end before the sweep.
      await Promise.allSettled(writing);
      const changes = await Promise.all(writing);
      await store.syncFolders();
      await publishFiles({ catalog, journal }, changes);
      await journal.compact(catalog);
    } finally {
      await sweep(catalog, store).catch(() => {});
    }
  });
}
