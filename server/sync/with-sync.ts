import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import { UsageDatabase } from '../catalog/usage.ts';
import { ProcessFolder } from '../process-folder.ts';
import { Providers } from '../providers/providers.ts';
import type { Settings } from '../settings.ts';
import type { SyncStores } from './run.ts';

interface Stores {
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Ends all requests, and what waits for them. */
  readonly signal: AbortSignal;
}

/** Runs `work` with what a sync needs besides the catalog: providers, and a folder for rows that wait. */
export async function withSync<T>(
  { settings, catalog, log, now, signal }: Stores,
  work: (stores: SyncStores) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const taken = await ProcessFolder.take(join(settings.dataFolder, 'temporary'));
  const folder = opened.adopt(taken, (it) => it.remove());
  // Where the limits that it keeps cannot be read, this process keeps to them alone.
  const onError = (error: unknown): void => log.warn({ err: error }, 'the database of usage does not answer');
  const usage = opened.adopt(new UsageDatabase(settings.dataFolder, onError), (it) => it.close());
  const providers = new Providers({ catalog, usage, settings, log, now });
  const stop = (): void => providers.gateway.stop();
  opened.defer(stop);
  signal.addEventListener('abort', stop, { once: true });
  opened.defer(() => signal.removeEventListener('abort', stop));
  return await work({ settings, catalog, providers, folder: folder.path, log });
}
