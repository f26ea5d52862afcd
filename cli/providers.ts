import type { FastifyBaseLogger } from 'fastify';
import { openUsage } from '../server/catalog/open-usage.ts';
import type { Lists } from '../server/lists/lists.ts';
import type { Stores } from '../server/load/stores.ts';
import type { Providers } from '../server/providers/providers.ts';
import { withStores } from './cli.ts';

/** Runs `work` with the lists of the data folder, as the server opens them. */
export function withLists<T>(
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  work: (stores: Stores & { lists: Lists }) => Promise<T>,
): Promise<T> {
  return withStores(async (stores) => {
    // DuckDB takes longer to load than most commands to run.
    const { withPresets } = await import('../server/presets/with-presets.ts');
    return withPresets({ ...stores, log, now: Date.now }, ({ lists }) => work({ ...stores, lists }));
  });
}

/** Runs `work` with the providers, as the server opens them, without a log: the command prints the result. */
export function withProviders<T>(
  work: (stores: Stores & { providers: Providers }) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  return withStores(async ({ settings, catalog }) => {
    await using opened = new AsyncDisposableStack();
    // Without the usage database, rate limits apply only within this process.
    const usage = opened.adopt(
      openUsage(settings, () => {}),
      (it) => it.close(),
    );
    const { Providers: Opened } = await import('../server/providers/providers.ts');
    const providers = new Opened({ catalog, usage, settings, log: QUIET, now: Date.now });
    opened.defer(() => providers.gateway.stop());
    return await work({ settings, catalog, providers });
  }, options);
}

const QUIET = { info: () => {}, warn: () => {} };
