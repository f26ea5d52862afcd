import { filesOf } from '../catalog/manifest.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import type { Stores } from '../load/stores.ts';
import { ProcessFolder } from '../process-folder.ts';
import { sqlText } from '../runtime/sql.ts';
import { CheckedFiles, DamagedFile } from '../storage/checked-files.ts';
import { FactStore } from '../storage/fact-store.ts';

/** The number of queries among the project's stored ones; null if there are none, or they cannot be read. */
export async function countKnownQueries(
  { settings, catalog }: Stores,
  project: string,
  queries: readonly string[],
): Promise<number | null> {
  const store = new FactStore(settings.dataFolder);
  const stored = await filesOf(catalog, project, 'query_daily', EVERY_DAY);
  if (stored.length === 0) return null;
  if (queries.length === 0) return 0;
  let files: string[];
  try {
    files = await new CheckedFiles(store).open(stored);
  } catch (error) {
    if (error instanceof DamagedFile) return null;
    throw error;
  }
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(store.path('temporary')), (taken) => taken.remove());
  const { memoryLimit, threads } = settings;
  const options = { memoryLimit, threads, temporaryFolder: folder.path, folders: [store.path('facts')] };
  const engine = opened.adopt(await Engine.open(options), (opening) => opening.close());
  using session = await engine.session();
  const parameters = { files, queries: queries.map((query) => query.toLowerCase()) };
  const [found] = await session.rows<{ queries: number }>(sqlText('manage/known_queries'), parameters);
  return found?.queries ?? 0;
}
