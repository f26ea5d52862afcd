import { API } from '../../../lab/bench/bench-context.ts';
import { type BurstResult, burst, openConnections } from '../../../lab/bench/burst.ts';
import type { Server } from '../../../lab/bench/ordinate.ts';
import { processorOf } from '../../../lab/bench/processor.ts';
import type { Line } from '../../../lab/bench/results.ts';
import { quantile } from '../../../lab/bench/rounds.ts';
import type { Cluster } from './cluster.ts';

/** What requests cost, in milliseconds for each. */
export interface Cost extends BurstResult {
  /** By the clock, of all connections together. */
  readonly elapsed: number;
  /** Processor time of the servers. */
  readonly processor: number;
  /** That of the database and the object store. */
  readonly stores: number;
}

/** Sends requests to servers over connections that are spread over them. */
export async function costOf(
  { keys, postgres, s3 }: Cluster,
  servers: readonly Server[],
  { paths, connections: count, requests }: { paths: readonly string[]; connections: number; requests: number },
): Promise<Cost> {
  const opening = servers.map(({ address }) => openConnections(address, count / servers.length));
  const connections = (await Promise.all(opening)).flat();
  const asked = Array.from({ length: requests }, (_, index) => ({
    path: `${API}${paths[index % paths.length]}`,
    key: keys[index % keys.length]!,
  }));
  await burst(connections, asked.slice(0, count));
  const [ours, theirs] = [servers.map(({ pid }) => pid), [postgres.pid!, s3.pid!]];
  const [processor, stores] = [processorOf(ours), processorOf(theirs)];
  const result = await burst(connections, asked);
  for (const connection of connections) connection.close();
  return {
    ...result,
    elapsed: 1000 / result.requestsPerSecond,
    processor: (processorOf(ours) - processor) / requests,
    stores: (processorOf(theirs) - stores) / requests,
  };
}

/** The medians of rounds. */
export function lineOf(name: string, costs: readonly Cost[]): Line {
  const middle = (read: (cost: Cost) => number): number => quantile(costs.map(read), 0.5);
  return {
    name,
    median: middle(({ median }) => median),
    p95: middle(({ p95 }) => p95),
    samples: costs.length,
    requestsPerSecond: middle(({ requestsPerSecond }) => requestsPerSecond),
    processor: { servers: middle(({ processor }) => processor), stores: middle(({ stores }) => stores) },
    baselines: {},
  };
}

/** The median over rounds of what one costs compared with the other in the same round. */
export function ratioOf(
  what: 'elapsed' | 'processor' | 'requestsPerSecond',
  some: readonly Cost[],
  others: readonly Cost[],
): number {
  return quantile(
    some.map((cost, round) => cost[what] / others[round]![what]),
    0.5,
  );
}
