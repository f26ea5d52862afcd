import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../server/catalog/catalog.ts';
import { findAnyProject, type Project } from '../server/catalog/projects.ts';
import { openServingEngine } from '../server/facts/duckdb/serving-engine.ts';
import type { Lists } from '../server/lists/lists.ts';
import { ProcessFolder } from '../server/process-folder.ts';
import type { Settings } from '../server/settings.ts';
import { CheckedFiles } from '../server/storage/checked-files.ts';
import { FactStore } from '../server/storage/fact-store.ts';
import { withStores } from './cli.ts';

/** Runs `work` with the lists that the server has, in the same folder; what it logs goes to `log`. */
export function withLists<T>(
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  work: (stores: { settings: Settings; catalog: Catalog; lists: Lists }) => Promise<T>,
): Promise<T> {
  return withStores(async ({ settings, catalog }) => {
    const { dataFolder, memoryLimit, threads } = settings;
    await using opened = new AsyncDisposableStack();
    const folder = opened.adopt(await ProcessFolder.take(join(dataFolder, 'temporary')), (taken) => taken.remove());
    const options = { dataFolder, memoryLimit, threads, temporaryFolder: folder.path };
    const engine = opened.adopt(await openServingEngine(options), (opening) => opening.close());
    // Google's libraries take longer to read than most commands to run.
    const { Lists: Opened } = await import('../server/lists/lists.ts');
    const factFiles = new CheckedFiles(new FactStore(dataFolder));
    const lists = opened.adopt(new Opened({ engine, catalog, factFiles, settings, log, now: Date.now }), (all) =>
      all.close(),
    );
    return await work({ settings, catalog, lists });
  });
}

/** Throws where there is no project of the id. */
export function requireProject(catalog: Catalog, id: string): Project {
  const project = findAnyProject(catalog, id);
  if (project === undefined) throw new Error(`There is no project '${id}'; projects list shows all.`);
  return project;
}
