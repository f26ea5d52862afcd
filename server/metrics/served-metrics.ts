import type { FastifyBaseLogger } from 'fastify';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { openUsage } from '../catalog/open-usage.ts';
import type { Usage } from '../catalog/usage.ts';
import type { Settings } from '../settings/settings.ts';
import { collectDisk } from './disk-metrics.ts';
import { MetricsEndpoint } from './endpoint.ts';
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
}

/**
 * Serves the metrics of all processes, and of what is stored. Several nodes have one catalog: there its metrics have an
 * address of their own, `/metrics/catalog`, so that who scrapes all nodes does not get them once for each.
 */
export class ServedMetrics {
  readonly #usage: Usage;
  readonly #state: StateMetrics;
  readonly #options: ServedMetricsOptions;
  #endpoint: MetricsEndpoint | undefined;

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
    const own = [...(await collectFrom(sources())), await collectDisk(settings.dataFolder)];
    return metricsText(isShared(settings) ? own : [...own, await this.#state.collect()]);
  }

  /** The text about what is stored, for one scrape of all nodes. */
  async catalogText(): Promise<string> {
    return metricsText([await this.#state.collect()]);
  }

  /** Serves the text; returns the addresses. */
  async listen(log: Pick<FastifyBaseLogger, 'warn'>): Promise<string[]> {
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
