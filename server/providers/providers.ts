import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../catalog/catalog.ts';
import type { Connection } from '../catalog/connections.ts';
import type { Usage } from '../catalog/usage.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Settings } from '../settings/settings.ts';
import { Gateway } from './gateway.ts';
import type { ConnectedProvider, Provider, ProviderContext } from './provider.ts';
import { providerOf } from './registry.ts';

export interface ProvidersOptions {
  readonly catalog: Catalog;
  readonly usage: Usage;
  readonly settings: Settings;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

const MAX_CLIENTS = 1000;

/** The gateway to all providers, and the clients of connections. One instance per process. */
export class Providers implements ProviderContext {
  readonly gateway: Gateway;
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly now: () => number;
  readonly #clients = new LRUCache<CacheKey, ConnectedProvider>({ max: MAX_CLIENTS });

  constructor({ catalog, usage, settings, log, now }: ProvidersOptions) {
    this.settings = settings;
    this.catalog = catalog;
    this.now = now;
    this.gateway = new Gateway({
      catalog,
      usage,
      log,
      now,
      waitTime: settings.listWait * 1000,
      slots: settings.fetches,
      slotsPerProperty: settings.fetchesPerProperty,
      rate: { perMinute: settings.providerRequestsPerMinute, perSecond: settings.providerRequestsPerSecond },
      pacingOf: (kind) => providerOf(kind).pacing,
    });
  }

  /** The client of a connection. */
  connect(provider: Provider, connection: Connection): ConnectedProvider {
    const key = cacheKey(connection);
    const client = this.#clients.get(key) ?? provider.connect(connection, this);
    this.#clients.set(key, client);
    return client;
  }
}
