import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { Gauge, Registry } from 'prom-client';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { openUsage } from '../catalog/open-usage.ts';
import type { Usage } from '../catalog/usage.ts';
import type { Settings } from '../settings/settings.ts';
import { collectDisk } from './disk-metrics.ts';
import { MetricsEndpoint } from './endpoint.ts';
import type { Collected } from './process-metrics.ts';
import { collectFrom, type Sources } from './process-up.ts';
import { StateMetrics } from './state-metrics.ts';
import { StoreReader } from './store-state.ts';
import { CONTENT_TYPE, metricsText } from './text.ts';

export interface ServedMetricsOptions {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
  /** Milliseconds; default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** The processes of the service. */
  readonly sources: () => Sources;
  /** See `STORES_TIMEOUT`. */
  readonly storesTimeout?: number;
}

/** How long a scrape waits for the stores, in milliseconds. */
const STORES_TIMEOUT = 1000;

/**
 * Serves the metrics of all processes, and of what is stored. Several nodes have one catalog: there its metrics have an
 * address of their own, `/metrics/catalog`, so that who scrapes all nodes does not get them once for each.
 */
export class ServedMetrics {
  readonly #usage: Usage;
  readonly #state: StateMetrics;
  readonly #options: ServedMetricsOptions;
  #endpoint: MetricsEndpoint | undefined;
  /** A read of the stores that has not ended. */
  #reading: Promise<Collected> | undefined;
  #log: Pick<FastifyBaseLogger, 'warn'> | undefined;

  constructor(options: ServedMetricsOptions) {
    const { settings, catalog, now = Date.now } = options;
    this.#options = options;
    // Numbers that cannot be read are omitted.
    this.#usage = openUsage(settings, () => {});
    const reader = new StoreReader({ catalog, usage: this.#usage, now });
    this.#state = new StateMetrics(() => reader.read());
  }

  /** The text for Prometheus. */
  async text(): Promise<string> {
    const { sources, settings } = this.#options;
    const [processes, disk, stored] = await Promise.all([
      collectFrom(sources()),
      collectDisk(settings.dataFolder),
      isShared(settings) ? [] : this.#stored(),
    ]);
    return metricsText([...processes, disk, ...stored]);
  }

  /** The text about what is stored, for one scrape of all nodes. */
  async catalogText(): Promise<string> {
    return metricsText(await this.#stored());
  }

  /** What is stored, and whether the stores told it in time. */
  async #stored(): Promise<Collected[]> {
    const state = await this.#readSoon();
    const registry = new Registry();
    const help = 'Whether the catalog tells what is stored: 1, or 0 and its series are left out.';
    new Gauge({ name: 'ordinate_store_up', help, registers: [registry] }).set(state === undefined ? 0 : 1);
    return [...(state === undefined ? [] : [state]), (await registry.getMetricsAsJSON()) as Collected];
  }

  /** Undefined if a store does not answer soon. A read that an earlier scrape gave up is not waited for. */
  async #readSoon(): Promise<Collected | undefined> {
    if (this.#reading !== undefined) return undefined;
    const reading = this.#state.collect().finally(() => {
      this.#reading = undefined;
    });
    this.#reading = reading;
    const { storesTimeout = STORES_TIMEOUT } = this.#options;
    const timer = new AbortController();
    try {
      return await Promise.race([reading, pause(storesTimeout, undefined, timer)]);
    } catch (error) {
      this.#log?.warn({ err: error }, 'what is stored could not be read for the metrics');
      return undefined;
    } finally {
      timer.abort();
      // One that ends late is not used.
      reading.catch(() => {});
    }
  }

  /** Serves the text; returns the addresses. */
  async listen(log: Pick<FastifyBaseLogger, 'warn'>): Promise<string[]> {
    this.#log = log;
    this.#endpoint = new MetricsEndpoint({
      settings: this.#options.settings,
      contentType: CONTENT_TYPE,
      texts: {
        '/metrics': () => this.text(),
        ...(isShared(this.#options.settings) && { '/metrics/catalog': () => this.catalogText() }),
      },
      onError: (error) => log.warn({ err: error }, 'the metrics could not be read'),
    });
    return this.#endpoint.listen();
  }

  async close(): Promise<void> {
    await this.#endpoint?.close();
    await this.#usage.close();
  }
}

/** Whether several nodes may use the catalog. */
function isShared({ catalogUrl }: Settings): boolean {
  return catalogUrl !== '';
}
