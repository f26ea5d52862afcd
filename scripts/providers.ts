import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../server/catalog/catalog.ts';
import { findAnyProject, type Project } from '../server/catalog/projects.ts';
import { UsageDatabase } from '../server/catalog/usage.ts';
import type { Lists } from '../server/lists/lists.ts';
import type { Providers } from '../server/providers/providers.ts';
import type { Settings } from '../server/settings.ts';
import { withStores } from './cli.ts';

/** Runs `work` with the lists that the server has, in the same folder; what it logs goes to `log`. */
export function withLists<T>(
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  work: (stores: { settings: Settings; catalog: Catalog; lists: Lists }) => Promise<T>,
): Promise<T> {
  return withStores(async (stores) => {
    // DuckDB takes longer to load than most commands to run.
    const opened = await import('../server/jobs/with-lists.ts');
    return opened.withLists({ ...stores, log }, (lists) => work({ ...stores, lists }));
  });
}

/** Runs `work` with the providers that the server has. What they do is not logged: the command tells what came of it. */
export function withProviders<T>(
  work: (stores: { settings: Settings; catalog: Catalog; providers: Providers }) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  return withStores(async ({ settings, catalog }) => {
    await using opened = new AsyncDisposableStack();
    // Where the limits that it keeps cannot be read, this process keeps to them alone.
    const usage = opened.adopt(new UsageDatabase(settings.dataFolder, () => {}), (it) => it.close());
    const { Providers: Opened } = await import('../server/providers/providers.ts');
    const providers = new Opened({ catalog, usage, settings, log: QUIET, now: Date.now });
    opened.defer(() => providers.gateway.stop());
    return await work({ settings, catalog, providers });
  }, options);
}

const QUIET = { info: () => {}, warn: () => {} };

/** Throws where there is no project of the id. */
export async function requireProject(catalog: Catalog, id: string): Promise<Project> {
  const project = await findAnyProject(catalog, id);
  if (project === undefined) throw new Error(`There is no project '${id}'; projects list shows all.`);
  return project;
}
