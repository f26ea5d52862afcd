import { setImmediate as nextTurn } from 'node:timers/promises';
import { AggregatorRegistry, Registry } from 'prom-client';
import type { Collected } from './process-metrics.ts';

export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/**
 * The text for Prometheus of the metrics of several processes. Series with equal labels are merged by the rule of the
 * metric, usually summed. Yields to the event loop after each metric.
 */
export async function metricsText(processes: readonly Collected[]): Promise<string> {
  const byName = new Map<string, Collected[]>();
  for (const metric of processes.flat()) byName.set(metric.name, [...(byName.get(metric.name) ?? []), [metric]]);
  const texts: string[] = [];
  for (const [name, metrics] of byName) {
    const merged = AggregatorRegistry.aggregate(metrics as unknown as object[]);
    // Metrics that cannot be merged are left out.
    if (merged.getMetricsAsArray().length > 0) texts.push(`${await merged.getSingleMetricAsString(name)}\n`);
    await nextTurn();
  }
  return texts.join('\n');
}
