import { join } from 'node:path';
import { DuckDBFacts } from '../facts/duckdb/duckdb-facts.ts';
import { openServingEngine } from '../facts/duckdb/serving-engine.ts';
import type { Facts } from '../facts/facts.ts';
import { ProcessFolder } from '../process-folder.ts';
import { ConcurrencyLimit } from '../runtime/limits.ts';
import type { Settings } from '../settings/settings.ts';
import { CheckedFiles } from '../storage/checked-files.ts';
import { FactStore } from '../storage/fact-store.ts';

/** Runs `work` with the facts of a data folder, outside a server. */
export async function withFacts<T>(settings: Settings, work: (facts: Facts) => Promise<T>): Promise<T> {
  const { dataFolder, memoryLimit, threads } = settings;
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(dataFolder, 'temporary')), (taken) => taken.remove());
  const options = { dataFolder, memoryLimit, threads, temporaryFolder: folder.path };
  const engine = opened.adopt(await openServingEngine(options), (opening) => opening.close());
  return await work(new DuckDBFacts(engine, new CheckedFiles(new FactStore(dataFolder)), new ConcurrencyLimit(1)));
}
