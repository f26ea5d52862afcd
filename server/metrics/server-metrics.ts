import type { Source } from './process-up.ts';
import { ServedMetrics, type ServedMetricsOptions } from './served-metrics.ts';
import { ServerProcessMetrics } from './server-process-metrics.ts';

export interface ServerMetricsOptions extends Omit<ServedMetricsOptions, 'sources'> {
  /** The metrics of the process of background jobs, if this process starts it. */
  readonly jobs?: Source;
}

/** The metrics of a server with one process: measured by it, and served with those of its jobs. */
export class ServerMetrics extends ServerProcessMetrics {
  readonly #served: ServedMetrics;

  constructor({ jobs, ...options }: ServerMetricsOptions) {
    super('server');
    const sources = () => ({ server: () => this.collect(), ...(jobs === undefined ? {} : { jobs }) });
    this.#served = new ServedMetrics({ ...options, sources });
  }

  /** See `ServedMetrics`. */
  text(): Promise<string> {
    return this.#served.text();
  }

  /** See `ServedMetrics`. */
  listen(...of: Parameters<ServedMetrics['listen']>): Promise<string[]> {
    return this.#served.listen(...of);
  }

  override async close(): Promise<void> {
    await this.#served.close();
    await super.close();
  }
}
