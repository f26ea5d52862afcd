import type { FastifyBaseLogger } from 'fastify';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { openUsage } from '../catalog/open-usage.ts';
import type { Usage } from '../catalog/usage.ts';
import type { Settings } from '../settings/settings.ts';
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

/** Serves the metrics of all processes, and of what is stored. */
export class ServedMetrics {
  readonly #usage: Usage;
  readonly #state: StateMetrics;
  readonly #options: ServedMetricsOptions;
  #endpoint: MetricsEndpoint | undefined;

  constructor(options: ServedMetricsOptions) {
    const { settings, catalog, now = Date.now } = options;
    const { dataFolder } = settings;
    this.#options = options;
    // Numbers that cannot be read are omitted.
    this.#usage = openUsage(settings, () => {});
    const reader = new StoreReader({ catalog, usage: this.#usage, dataFolder, now });
    this.#state = new StateMetrics(() => reader.read());
  }

  /** The text for Prometheus. */
  async text(): Promise<string> {
    const processes = await collectFrom(this.#options.sources());
    return metricsText([...processes, await this.#state.collect()]);
  }

  /** Serves the text; returns the addresses. */
  async listen(log: Pick<FastifyBaseLogger, 'warn'>): Promise<string[]> {
    this.#endpoint = new MetricsEndpoint({
      settings: this.#options.settings,
      contentType: CONTENT_TYPE,
      read: () => this.text(),
      onError: (error) => log.warn({ err: error }, 'the metrics could not be read'),
    });
    return this.#endpoint.listen();
  }

  async close(): Promise<void> {
    await this.#endpoint?.close();
    await this.#usage.close();
  }
}
