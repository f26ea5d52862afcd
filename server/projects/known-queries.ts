import { join } from 'node:path';
import { filesOf } from '../catalog/fact-files.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import type { Stores } from '../load/stores.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { sqlText } from '../runtime/sql.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { FileStore, OpenFiles, StoredFile } from '../storage/file-store.ts';
import { storageFolders } from '../storage/open-file-store.ts';

/** The number of queries among the project's stored ones; null if there are none, or they cannot be read. */
export async function countKnownQueries(
  { settings, catalog }: Stores,
  project: string,
  queries: readonly string[],
): Promise<number | null> {
  const stored = await filesOf(catalog, project, 'query_daily', EVERY_DAY);
  if (stored.length === 0) return null;
  if (queries.length === 0) return 0;
  await using opened = new AsyncDisposableStack();
  const store = opened.use(await openJoinedStore(settings, catalog));
  const files = opened.use(await openUndamaged(store, stored));
  if (files === null) return null;
  const temporary = join(settings.dataFolder, 'temporary');
  const folder = opened.adopt(await ProcessFolder.take(temporary), (taken) => taken.remove());
  const { memoryLimit, threads } = settings;
  const options = { memoryLimit, threads, temporaryFolder: folder.path, folders: storageFolders(settings) };
  const engine = opened.adopt(await Engine.open(options), (opening) => opening.close());
  using session = await engine.session();
  const parameters = { files: files.paths, queries: queries.map((query) => query.toLowerCase()) };
  const [found] = await session.rows<{ queries: number }>(sqlText('projects/known_queries'), parameters);
  return found?.queries ?? 0;
}

async function openUndamaged(store: FileStore, files: readonly StoredFile[]): Promise<OpenFiles | null> {
  try {
    return await store.open(files);
  } catch (error) {
    if (error instanceof DamagedFile) return null;
    throw error;
  }
}
