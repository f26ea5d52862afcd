import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactFile, filesOf, manifestOf } from '../catalog/fact-files.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { allEnded } from '../runtime/promises.ts';
import { changeFacts, type FactChange, type LockOptions } from './change-facts.ts';
import { FACTS } from './fact-tables.ts';
import type { PartChange } from './new-files.ts';
import { publishFiles } from './publish.ts';
import { cumulativeBatches, remakeLost, undamaged, writeCumulative, writeRunning } from './rollups.ts';
import { type EngineStores, loadFolders, type Stores } from './stores.ts';

const KEYWORDS = FACTS.find(({ cumulative }) => cumulative !== undefined)!;
const AT_ONCE = 2;

/** Makes the rollups of a project again whose files are damaged, from its days. Returns how many. Waits for loads. */
export function remakeRollups(stores: Stores, project: string, waiting: LockOptions = {}): Promise<number> {
  const { catalog, settings } = stores;
  return changeFacts(stores, { ...waiting, projects: [project] }, async (change) => {
    const months = await manifestOf(catalog, project, KEYWORDS.rollups[0]!, EVERY_DAY);
    const lost = new Set<string>();
    for (const file of await manifestOf(catalog, project, KEYWORDS.cumulative!, EVERY_DAY)) {
      if ((await undamaged(change.files.store, [file])).length === 0) lost.add(file.part);
    }
    // One thread, so that requests can use the others.
    await using engines = new AsyncDisposableStack();
    const memory = { memoryLimit: settings.memoryLimit, temporaryFolder: join(change.staging, 'memory') };
    const opened = await Engine.open({ ...memory, threads: 1, folders: loadFolders(settings) });
    const engine = engines.adopt(opened, (it) => it.close());
    return await publishRollups({ catalog, engine }, change, {
      project,
      months,
      isOutdated: ({ part }) => lost.has(part),
    });
  });
}

/** Writes and publishes the cumulative totals that loads have deferred, if a project lacks any. */
export async function completeCumulative(stores: EngineStores, project: string, waiting: LockOptions): Promise<void> {
  const { catalog } = stores;
  if ((await missingMonths(catalog, project)).length === 0) return;
  await changeFacts(stores, { ...waiting, projects: [project] }, async (change) => {
    const months = await missingMonths(catalog, project);
    if (months.length === 0) return;
    const engine = await stores.engine();
    await engine.useThreads(engine.threads - 1);
    await publishRollups({ catalog, engine }, change, { project, months, isOutdated: () => true });
  });
}

/** The months of a project without cumulative totals. */
async function missingMonths(catalog: Catalog, project: string): Promise<FactFile[]> {
  const months = await manifestOf(catalog, project, KEYWORDS.rollups[0]!, EVERY_DAY);
  const stored = new Set((await manifestOf(catalog, project, KEYWORDS.cumulative!, EVERY_DAY)).map(({ part }) => part));
  return months.filter(({ part }) => !stored.has(part));
}

interface Outdated {
  readonly project: string;
  /** The months whose days over all devices are needed: those of damaged files are written again. */
  readonly months: readonly FactFile[];
  /** Whether the cumulative totals of a month are to be written. */
  readonly isOutdated: (month: { readonly part: string }) => boolean;
}

/** Writes and publishes what is damaged of months and of the running totals, and outdated cumulative totals. */
async function publishRollups(
  { catalog, engine }: { readonly catalog: Catalog; readonly engine: Engine },
  { lock, files, journal }: FactChange,
  { project, months, isOutdated }: Outdated,
): Promise<number> {
  const target = { files, schema: KEYWORDS, project };
  const days = months.map((file) => ({ part: file.part, days: file }));
  const all = await remakeLost(engine, catalog, target, days);
  const stored = await filesOf(catalog, project, KEYWORDS.running!, EVERY_DAY);
  const isWhole = stored.length === 0 || (await undamaged(files.store, stored)).length > 0;
  const input = { table: KEYWORDS.running!, changes: [], fromDays: true };
  const totals = isWhole ? [] : await writeRunning(engine, catalog, { ...target, part: 'all' }, input);
  const running = totals[0]?.written ?? stored[0];
  const outdated = running === undefined ? [] : all.months.filter(isOutdated);
  const limit = pLimit(AT_ONCE);
  const writing = cumulativeBatches(outdated, running ?? null).map((batch) =>
    limit(() => writeCumulative(engine, target, { table: KEYWORDS.cumulative!, months: batch, running: running! })),
  );
  // All must end before the sweep.
  const changes: PartChange[] = [...all.changes, ...totals, ...(await allEnded(writing)).flat()];
  if (changes.length === 0) return 0;
  await files.store.syncFolders();
  await publishFiles({ catalog, journal, lock, files }, { changes });
  return changes.length;
}
