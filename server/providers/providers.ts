import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../catalog/catalog.ts';
import type { Connection } from '../catalog/connections.ts';
import type { Usage } from '../catalog/usage.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Settings } from '../settings/settings.ts';
import { Gateway } from './gateway.ts';
import { Identities } from './google-auth.ts';
import { SearchAnalytics } from './search-analytics.ts';
import { Warehouse } from './warehouse.ts';

export interface ProvidersOptions {
  readonly catalog: Catalog;
  readonly usage: Usage;
  readonly settings: Settings;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

const MAX_CLIENTS = 1000;

/** The provider clients of all connections, and their gateway. One instance per process. */
export class Providers {
  readonly gateway: Gateway;
  readonly #options: { identities: Identities; timeLimit: number; maximumBytesBilled: number };
  readonly #searchAnalytics = new LRUCache<CacheKey, SearchAnalytics>({ max: MAX_CLIENTS });
  /** Warehouses cache the days of their export. */
  readonly #warehouses = new LRUCache<CacheKey, Warehouse>({ max: MAX_CLIENTS });

  constructor({ catalog, usage, settings, log, now }: ProvidersOptions) {
    const timeLimit = settings.providerTimeLimit * 1000;
    this.gateway = new Gateway({
      catalog,
      usage,
      log,
      now,
      waitTime: settings.listWait * 1000,
      places: settings.fetches,
      placesPerProperty: settings.fetchesPerProperty,
      rate: { perMinute: settings.providerRequestsPerMinute, perSecond: settings.providerRequestsPerSecond },
    });
    const { maximumBytesBilled } = settings;
    this.#options = { identities: new Identities(timeLimit), timeLimit, maximumBytesBilled };
  }

  /** The reporting API client of a `search-console` connection. */
  searchAnalytics(connection: Connection): SearchAnalytics {
    const key = cacheKey(connection);
    const client = this.#searchAnalytics.get(key) ?? new SearchAnalytics(connection, this.#options);
    this.#searchAnalytics.set(key, client);
    return client;
  }

  /** The bulk export client of a `bigquery` connection. */
  warehouse(connection: Connection): Warehouse {
    const key = cacheKey(connection);
    const client = this.#warehouses.get(key) ?? new Warehouse(connection, this.#options);
    this.#warehouses.set(key, client);
    return client;
  }
}
