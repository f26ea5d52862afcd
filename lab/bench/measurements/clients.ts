import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { API, type Bench, withServer } from '../bench-context.ts';
import { Connection } from '../connection.ts';
import type { HeavyReport, HeavyWork } from '../heavy.ts';
import type { KeyRing } from '../keys.ts';
import { PeakMemory } from '../memory.ts';
import type { Server } from '../ordinate.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { type Sample, summarise, type Timing } from '../rounds.ts';
import { LARGE, LAST_DAY, small, workspaceName } from '../snapshots.ts';

const HEAVY_CLIENTS = 8;
/** Milliseconds between two light requests: like a user of a dashboard, and below the limit of the keys. */
const PAUSE = 60;

type Counted = Timing & { readonly failures: number };

/**
 * A light client alone, and then beside clients that each request every day of many keywords over the whole history.
 * All requests differ, so that the response cache does not help.
 */
export async function measureClients({ data, options, report }: Bench): Promise<Outcome> {
  return withServer(data, { cache: true }, async (server) => {
    const keys = data.keys[workspaceName(1)]!;
    const half = Math.ceil(keys.length / 2);
    const light = server.keys.part(half, keys.length);
    const paths = lightPaths(options.days);
    const memory = new PeakMemory(server.pid);
    report(`light requests alone, ${options.seconds} s`);
    const idle = await sendRequests(options.seconds, server, light, paths);

    report(`light requests beside ${HEAVY_CLIENTS} heavy clients, ${options.seconds} s`);
    const limit = Math.min(options.middleKeywords, options.keywords);
    const offsets = Math.max(1, options.keywords - limit);
    const workerData: HeavyWork = {
      address: server.address.href,
      clients: HEAVY_CLIENTS,
      keys: keys.slice(0, half),
      paths: Array.from(
        { length: offsets },
        (_, index) =>
          `${API}/projects/${LARGE}/keywords?daily=1&period=${options.days}d&limit=${limit}&offset=${(index * 37) % offsets}`,
      ),
    };
    const worker = new Worker(new URL('../heavy.ts', import.meta.url), { workerData });
    const reported = once(worker, 'message');
    const began = performance.now();
    // Until the heavy requests run.
    await sleep(Math.min(1000, options.seconds * 200));
    const busy = await sendRequests(options.seconds, server, light, paths.toReversed());
    worker.postMessage('stop');
    const [heavy] = (await reported) as [HeavyReport];
    await worker.terminate();
    const seconds = (performance.now() - began) / 1000;

    const used = memoryOf(memory);
    const failed = Object.values(heavy.failures).reduce((sum, count) => sum + count, 0) + busy.failures;
    for (const [what, count] of Object.entries(heavy.failures)) report(`heavy requests failed with ${what}: ${count}`);
    return {
      lines: [
        { name: 'light requests alone', ...idle, baselines: {} },
        {
          name: `light requests beside ${HEAVY_CLIENTS} heavy clients`,
          ...busy,
          memory: used,
          baselines: { alone: idle.median, 'alone, p95': idle.p95 },
        },
        {
          name: `${HEAVY_CLIENTS} heavy clients, ${limit} keywords × ${options.days} days`,
          median: (seconds * 1000 * HEAVY_CLIENTS) / heavy.answers,
          p95: Number.NaN,
          samples: heavy.answers,
          requestsPerSecond: heavy.answers / seconds,
          throughput: heavy.bytes / 1e6 / seconds,
          baselines: {},
        },
      ],
      targets: [
        atMost('light p95 beside heavy clients against idle p95', busy.p95 / idle.p95, 10),
        atMost('memory of the server beside heavy clients', used.peak, 1000, 'MB'),
        atMost('failed requests', failed, 0, 'requests'),
      ],
    };
  });
}

/** Small requests of many ranges: the site, and a small project's keywords. */
function lightPaths(days: number): string[] {
  const last = Temporal.PlainDate.from(LAST_DAY);
  return Array.from({ length: Math.max(1, days - 28) }, (_, ago) => last.subtract({ days: ago }).toString()).flatMap(
    (to) => [`/projects/${LARGE}/site?to=${to}`, `/projects/${small(1)}/keywords?to=${to}`],
  );
}

async function sendRequests(
  seconds: number,
  server: Server,
  ring: KeyRing,
  paths: readonly string[],
): Promise<Counted> {
  const connection = await Connection.open(server.address);
  const samples: Sample[] = [];
  let failures = 0;
  const end = performance.now() + seconds * 1000;
  for (let index = 0; performance.now() < end; index++) {
    const [key] = await ring.take(1);
    const answer = await connection.get(`${API}${paths[index % paths.length]!}`, { authorization: `Bearer ${key}` });
    if (answer.status === 200) samples.push({ ms: answer.ms });
    else failures++;
    await sleep(PAUSE);
  }
  connection.close();
  return { ...summarise(samples), failures };
}
