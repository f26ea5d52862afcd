import type { FastifyBaseLogger } from 'fastify';
import { answerParent } from '../runtime/ask-process.ts';
import type { Settings } from '../settings/settings.ts';
import { collectDisk } from './disk-metrics.ts';
import { MetricsEndpoint } from './endpoint.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { collectFrom } from './process-up.ts';
import { METRICS_QUESTION } from './question.ts';
import { CONTENT_TYPE, metricsText } from './text.ts';

/** Measures a process of background jobs and answers its server, which serves the metrics. */
export function answerServer(): void {
  const metrics = new ProcessMetrics('jobs');
  answerParent(METRICS_QUESTION, () => metrics.collect());
}

/** Measures a process of background jobs that no server has started, and serves its metrics. Returns the addresses. */
export async function serveJobsMetrics(
  settings: Settings,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<{ addresses: string[]; close: () => Promise<void> }> {
  const metrics = new ProcessMetrics('jobs');
  const endpoint = new MetricsEndpoint({
    settings,
    contentType: CONTENT_TYPE,
    texts: {
      '/metrics': async () =>
        metricsText([
          ...(await collectFrom({ jobs: () => metrics.collect() })),
          await collectDisk(settings.dataFolder),
        ]),
    },
    onError: (error) => log.warn({ err: error }, 'the metrics could not be read'),
  });
  const addresses = await endpoint.listen();
  return { addresses, close: () => endpoint.close() };
}
