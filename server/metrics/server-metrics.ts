import type { FastifyBaseLogger } from 'fastify';
import type { OnAnswered } from '../api/plugins/log.ts';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { UsageDatabase } from '../catalog/usage.ts';
import type { Settings } from '../settings/settings.ts';
import { MetricsEndpoint } from './endpoint.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { collectFrom, type Source } from './process-up.ts';
import { RequestMetrics } from './request-metrics.ts';
import { type ServerParts, watchParts } from './server-parts.ts';
import { StateMetrics } from './state-metrics.ts';
import { StoreReader } from './store-state.ts';
import { CONTENT_TYPE, metricsText } from './text.ts';

export interface ServerMetricsOptions {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
  /** Milliseconds; default: `Date.now`. */
  readonly now?: () => number;
  /** The metrics of the process of background jobs, if this process starts it. */
  readonly jobs?: Source;
}

/** The metrics of a server: of its process, its requests and parts, the process of its jobs, and what is stored. */
export class ServerMetrics {
  readonly onAnswered: OnAnswered;
  readonly #process = new ProcessMetrics('server');
  readonly #usage: UsageDatabase;
  readonly #state: StateMetrics;
  readonly #options: ServerMetricsOptions;
  #endpoint: MetricsEndpoint | undefined;

  constructor(options: ServerMetricsOptions) {
    const { settings, catalog, now = Date.now } = options;
    const { dataFolder } = settings;
    this.#options = options;
    const requests = new RequestMetrics(this.#process.registry);
    this.onAnswered = (answered) => requests.answered(answered);
    // Numbers that cannot be read are missing.
    this.#usage = new UsageDatabase(dataFolder, () => {});
    const reader = new StoreReader({ catalog, usage: this.#usage, dataFolder, now });
    this.#state = new StateMetrics(() => reader.read());
  }

  /** Adds the parts of the server. Call it once. */
  watch(parts: ServerParts): void {
    watchParts(this.#process.registry, parts);
  }

  /** The text for Prometheus. */
  async text(): Promise<string> {
    const { jobs } = this.#options;
    const sources = { server: () => this.#process.collect(), ...(jobs === undefined ? {} : { jobs }) };
    const processes = await collectFrom(sources);
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
    this.#process.close();
    this.#usage.close();
  }
}
