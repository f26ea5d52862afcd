import pLimit from 'p-limit';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, filesOf, manifestOf } from '../catalog/manifest.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { changeFacts } from './change-facts.ts';
import { publishFiles } from './publish.ts';
import { cumulativeBatches, writeCumulative } from './rollups.ts';
import type { EngineStores } from './stores.ts';
import { FACTS } from './tables.ts';

const KEYWORDS = FACTS.find(({ cumulative }) => cumulative !== undefined)!;
const AT_ONCE = 2;

/** The months of a project without cumulative totals. */
async function missingMonths(catalog: Catalog, project: string): Promise<FactFile[]> {
  const months = await manifestOf(catalog, project, KEYWORDS.rollups[0]!, EVERY_DAY);
  const stored = new Set((await manifestOf(catalog, project, KEYWORDS.cumulative!, EVERY_DAY)).map(({ part }) => part));
  return months.filter(({ part }) => !stored.has(part));
}

/** Writes and publishes the cumulative totals that loads have deferred, if a project lacks any. */
export async function completeCumulative(stores: EngineStores, project: string): Promise<void> {
  const { catalog, engine } = stores;
  if ((await missingMonths(catalog, project)).length === 0) return;
  await changeFacts(stores, { projects: [project] }, async ({ lock, files, journal }) => {
    const [running] = await filesOf(catalog, project, KEYWORDS.running!, EVERY_DAY);
    const missing = await missingMonths(catalog, project);
    if (running === undefined || missing.length === 0) return;
    const limit = pLimit(AT_ONCE);
    const opened = await engine();
    const all = missing.map((days) => ({ part: days.part, days }));
    const writing = cumulativeBatches(all, running).map((months) => {
      const target = { files, schema: KEYWORDS, project };
      return limit(() => writeCumulative(opened, target, { table: KEYWORDS.cumulative!, months, running }));
    });
    // All must end before the sweep.
    await Promise.allSettled(writing);
    const changes = (await Promise.all(writing)).flat();
    await files.store.syncFolders();
    await publishFiles({ catalog, journal, lock }, changes);
  });
}
