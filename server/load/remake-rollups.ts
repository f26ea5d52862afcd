import { join } from 'node:path';
import pLimit from 'p-limit';
import { filesOf, manifestOf } from '../catalog/manifest.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { allEnded } from '../runtime/all-ended.ts';
import { changeFacts, type LockOptions } from './change-facts.ts';
import { FACTS } from './fact-tables.ts';
import type { PartChange } from './new-files.ts';
import { publishFiles } from './publish.ts';
import { cumulativeBatches, remakeLost, undamaged, writeCumulative, writeRunning } from './rollups.ts';
import { loadFolders, type Stores } from './stores.ts';

const KEYWORDS = FACTS.find(({ cumulative }) => cumulative !== undefined)!;
const AT_ONCE = 2;

/** Makes the rollups of a project again whose files are damaged, from its days. Returns how many. Waits for loads. */
export function remakeRollups(stores: Stores, project: string, waiting: LockOptions = {}): Promise<number> {
  const { catalog, settings } = stores;
  return changeFacts(stores, { ...waiting, projects: [project] }, async ({ lock, files, journal, staging }) => {
    const target = { files, schema: KEYWORDS, project };
    const months = await manifestOf(catalog, project, KEYWORDS.rollups[0]!, EVERY_DAY);
    const cumulative = await manifestOf(catalog, project, KEYWORDS.cumulative!, EVERY_DAY);
    const stored = await filesOf(catalog, project, KEYWORDS.running!, EVERY_DAY);
    // One thread, so that requests can use the others.
    using engines = new DisposableStack();
    const memory = { memoryLimit: settings.memoryLimit, temporaryFolder: join(staging, 'memory') };
    const engine = await Engine.open({ ...memory, threads: 1, folders: loadFolders(settings) });
    const opened = engines.adopt(engine, (it) => it.close());
    const all = await remakeLost(
      opened,
      catalog,
      target,
      months.map((days) => ({ part: days.part, days })),
    );
    const isWhole = stored.length === 0 || (await undamaged(files.store, stored)).length > 0;
    const input = { table: KEYWORDS.running!, changes: [], fromDays: true };
    const totals = isWhole ? [] : await writeRunning(opened, catalog, { ...target, part: 'all' }, input);
    const running = totals[0]?.written ?? stored[0];
    const limit = pLimit(AT_ONCE);
    const lost = new Set<string>();
    for (const file of cumulative) {
      if ((await undamaged(files.store, [file])).length === 0) lost.add(file.part);
    }
    const outdated = running === undefined ? [] : all.months.filter(({ part }) => lost.has(part));
    const writing = cumulativeBatches(outdated, running!).map((batch) =>
      limit(() => writeCumulative(opened, target, { table: KEYWORDS.cumulative!, months: batch, running: running! })),
    );
    // All must end before the sweep.
    const changes: PartChange[] = [...all.changes, ...totals, ...(await allEnded(writing)).flat()];
    if (changes.length === 0) return 0;
    await files.store.syncFolders();
    await publishFiles({ catalog, journal, lock, files }, { changes });
    return changes.length;
  });
}
