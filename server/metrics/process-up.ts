import { Gauge, Registry } from 'prom-client';
import type { Collected } from './process-metrics.ts';

/** A process whose metrics are served; undefined if it does not respond. */
export type Source = () => Promise<Collected | undefined>;

/** The processes of a service. */
export type Sources = Readonly<Record<string, Source>>;

/** The metrics of processes that answer, with a gauge that shows which ones do. */
export async function collectFrom(sources: Sources): Promise<Collected[]> {
  const registry = new Registry();
  const up = new Gauge({
    name: 'ordinate_process_up',
    help: 'Whether a process of the service answers: 1 or 0.',
    labelNames: ['process'],
    registers: [registry],
  });
  const found = await Promise.all(
    Object.entries(sources).map(async ([process, source]) => {
      const collected = await source().catch(() => undefined);
      up.set({ process }, collected === undefined ? 0 : 1);
      return collected ?? [];
    }),
  );
  return [...found, (await registry.getMetricsAsJSON()) as Collected];
}
