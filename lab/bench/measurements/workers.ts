import { setTimeout as sleep } from 'node:timers/promises';
import { API, type Bench } from '../bench-context.ts';
import { type BurstRequest, type BurstResult, burst, openConnections } from '../burst.ts';
import { Connection } from '../connection.ts';
import type { Data } from '../data.ts';
import { KeyRing } from '../keys.ts';
import { type Server, startServer } from '../ordinate.ts';
import { processorOf } from '../processor.ts';
import { atLeast, atMost, type Line, type Outcome } from '../results.ts';
import { quantile, type Sample, summarise } from '../rounds.ts';
import { small, workspaceName } from '../snapshots.ts';

const CONNECTIONS = 16;
/** Requests that are sent while processes are replaced. */
const WHILE_REPLACED = 100_000;
/** Milliseconds from one replacement to the next. */
const PAUSE = 2000;

/**
 * Cached and uncached questions to one and to two server processes, and requests while the processes are replaced again and
 * again. On two processors the clients of this process compete with the servers.
 */
export async function measureWorkers({ data, options, report }: Bench): Promise<Outcome> {
  const rounds = Math.min(options.rounds, 5);
  const lines: Line[] = [];
  const targets = [];
  const isQuick = options.burst < 1000;
  const sent = isQuick ? 300 : WHILE_REPLACED;
  let replaced: Burst['replaced'];
  for (const cache of isQuick ? [true] : [true, false]) {
    const requests = cache ? options.burst : Math.round(options.burst / 10);
    const what = cache ? 'cached' : 'uncached';
    const bursts: Record<number, Burst[]> = { 1: [], 2: [] };
    for (let round = 0; round < rounds; round++) {
      for (const workers of [1, 2]) {
        const isLast = cache && workers === 2 && round === rounds - 1;
        report(`${what} questions to ${workers} processes${isLast ? `, and ${sent} while they are replaced` : ''}`);
        const how = { workers, cache, requests, count: options.workspaces, sent: isLast ? sent : 0 };
        const burst = await burstOf(data.folder, data, how);
        bursts[workers]!.push(burst);
        replaced ??= burst.replaced;
      }
    }
    const ratios = bursts[2]!.map((two, round) => two.requestsPerSecond / bursts[1]![round]!.requestsPerSecond);
    for (const workers of [1, 2]) {
      const middle = (read: (one: Burst) => number) => quantile(bursts[workers]!.map(read), 0.5);
      lines.push({
        name: `${what} keywords, serve --workers ${workers}`,
        median: middle(({ median }) => median),
        p95: middle(({ p95 }) => p95),
        samples: rounds * requests,
        requestsPerSecond: middle(({ requestsPerSecond }) => requestsPerSecond),
        processor: { servers: middle(({ processor }) => processor), stores: 0 },
        baselines: {},
      });
    }
    const name = `workers: ${what} requests a second of two processes against one`;
    targets.push(atLeast(name, quantile(ratios, 0.5), 1.6));
    // Clients with processors of their own leave two to the servers: these bound what a second takes.
    const costs = bursts[1]!.map((one, round) => (2 * one.processor) / bursts[2]![round]!.processor);
    targets.push(atLeast(`${name}, by the processor time of a request`, quantile(costs, 0.5), 1.6));
  }
  const { line, failed } = replaced!;
  targets.push(atMost(`workers: failed of ${sent} requests while processes are replaced`, failed, 0, 'requests'));
  return { lines: [...lines, line], targets };
}

/** With the milliseconds of processor time that the processes of the server took for each request. */
type Burst = BurstResult & { readonly processor: number; readonly replaced: Replaced | undefined };
type Replaced = { readonly line: Line; readonly failed: number };

/** A burst of requests to a new server, after three that do not count: each process compiles what it runs often. */
async function burstOf(
  dataFolder: string,
  { keys }: Data,
  {
    workers,
    cache,
    requests,
    count,
    sent,
  }: Record<'workers' | 'requests' | 'count' | 'sent', number> & { cache: boolean },
): Promise<Burst> {
  const server = await startServer({ dataFolder, keys: [], cache, workers });
  try {
    const connections = await openConnections(server.address, CONNECTIONS);
    const rings = Array.from({ length: count }, (_, index) => ({
      path: `${API}/projects/${small(index + 1)}/keywords`,
      ring: new KeyRing(keys[workspaceName(index + 1)]!),
    }));
    const questions = async (): Promise<BurstRequest[]> =>
      Promise.all(
        Array.from({ length: requests }, async (_, index) => {
          const { path, ring } = rings[index % rings.length]!;
          return { path, key: (await ring.take(1))[0]! };
        }),
      );
    for (let before = 0; before < 3; before++) await burst(connections, await questions());
    const asked = await questions();
    const before = processorOf([server.pid]);
    const result = await burst(connections, asked);
    const processor = (processorOf([server.pid]) - before) / requests;
    for (const connection of connections) connection.close();
    return { ...result, processor, replaced: sent > 0 ? await whileReplaced(server, sent) : undefined };
  } finally {
    await server.stop();
  }
}

/** Sends requests by clients that open a new connection when the server closes theirs after an answer. */
async function whileReplaced(server: Server, count: number): Promise<Replaced> {
  const ended = new AbortController();
  const replacing = replaceUntil(server, ended.signal);
  try {
    const samples: Sample[] = [];
    let [next, failed] = [0, 0];
    const client = async (): Promise<void> => {
      let connection: Connection | undefined;
      while (next++ < count) {
        try {
          connection ??= await Connection.open(server.address);
          const answer = await connection.get('/livez');
          if (answer.status !== 200) failed++;
          samples.push(answer);
          if (answer.headers.get('connection') !== 'close') continue;
        } catch {
          failed++;
        }
        connection?.close();
        connection = undefined;
      }
      connection?.close();
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    const requestsPerSecond = count / ((performance.now() - started) / 1000);
    const name = `requests while processes are replaced (${replacing.count()} times)`;
    return { line: { name, ...summarise(samples), requestsPerSecond, baselines: {} }, failed };
  } finally {
    ended.abort();
    await replacing.done;
  }
}

function replaceUntil({ pid }: Server, signal: AbortSignal): { count: () => number; done: Promise<void> } {
  let count = 0;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      process.kill(pid, 'SIGUSR2');
      count++;
      await sleep(PAUSE, undefined, { signal }).catch(() => {});
    }
  };
  return { count: () => count, done: run() };
}
