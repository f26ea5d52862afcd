import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Connection } from '../catalog/connections.ts';
import { openUsage } from '../catalog/open-usage.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { publisherOn } from '../load/publish-days.ts';
import { loadFolders, type Stores } from '../load/stores.ts';
import { Providers } from '../providers/providers.ts';
import { PROVIDERS } from '../providers/registry.ts';
import { SearchAnalytics } from '../providers/search-console/search-analytics.ts';
import { onceAMinute } from '../runtime/once-a-minute.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import type { Settings } from '../settings/settings.ts';
import { DiskReserve } from '../storage/free-space.ts';
import type { SyncStores } from './run-options.ts';

interface Options extends Stores {
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Cancels all requests. */
  readonly signal: AbortSignal;
}

/** Runs `work` with the providers, engine and temporary folder of a sync. */
export async function withSync<T>(
  { settings, catalog, log, now, signal }: Options,
  work: (stores: SyncStores) => Promise<T>,
): Promise<T> {
  await using opened = new AsyncDisposableStack();
  const taken = await ProcessFolder.take(join(settings.dataFolder, 'temporary'));
  const folder = opened.adopt(taken, (it) => it.remove());
  // Without the usage database, request limits apply only within this process.
  const warn = (error: unknown): void => log.warn({ err: error }, 'the usage database cannot be read');
  const usage = opened.adopt(openUsage(settings, onceAMinute(warn, now)), (it) => it.close());
  const providers = new Providers({ catalog, usage, settings, log, now });
  const stop = (): void => providers.gateway.stop();
  opened.defer(stop);
  signal.addEventListener('abort', stop, { once: true });
  opened.defer(() => signal.removeEventListener('abort', stop));
  let opening: Promise<Engine> | undefined;
  opened.defer(async () => (await opening?.catch(() => undefined))?.close());
  const engine = (): Promise<Engine> => (opening ??= openEngine(settings, folder.path));
  const reserve = new DiskReserve(join(folder.path, 'reserve'));
  const onWarning = (warning: string): void => log.warn(warning);
  const { gateway } = providers;
  const clientOf = (connection: Connection) => new SearchAnalytics(connection, providers);
  const connect: SyncStores['connect'] = (...of) => providers.connect(...of);
  const publisher = publisherOn({ settings, catalog, onWarning, engine });
  const common = { settings, catalog, onWarning, gateway, log, folder: folder.path };
  return await work({ ...common, providers: PROVIDERS, clientOf, connect, publisher, reserve, engine });
}

/** One engine for a whole sync: opening one takes a fifth of the time of a small publication. */
function openEngine(settings: Settings, folder: string): Promise<Engine> {
  const { memoryLimit, threads } = settings;
  const folders = [...loadFolders(settings), folder];
  return Engine.open({ memoryLimit, threads, temporaryFolder: join(folder, 'memory'), folders });
}
