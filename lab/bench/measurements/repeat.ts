import { startBareRoute } from '../bare-route.ts';
import { API, type Bench, Client, withServer } from '../bench-context.ts';
import { type BurstRequest, type BurstResult, burst, openConnections } from '../burst.ts';
import { KeyRing } from '../keys.ts';
import { PeakMemory } from '../memory.ts';
import { atLeast, memoryOf, type Outcome } from '../results.ts';
import { quantile } from '../rounds.ts';
import { small, workspaceName } from '../snapshots.ts';

const CONNECTIONS = 32;
/** Bursts that do not count: V8 optimises code only after it has run some thousand times. */
const WARM_UP = 7;

/**
 * The default keywords request of small projects, repeated by 32 connections, compared with a bare route that sends the
 * same bytes. The rate limits bound it: 20 workspaces of 20 keys have about 47,000 requests per minute.
 */
export async function measureRepeat({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: true }, async (server) => {
    const client = await Client.of(server);
    const body = await client.read(`/projects/${small(1)}/keywords`);
    client.close();
    const route = await startBareRoute(options.folder, body);
    const toServer = await openConnections(server.address, CONNECTIONS);
    const toRoute = await openConnections(route.address, CONNECTIONS);
    const rings = Array.from({ length: options.workspaces }, (_, index) => ({
      path: `${API}/projects/${small(index + 1)}/keywords`,
      ring: new KeyRing(data.keys[workspaceName(index + 1)]!),
    }));
    const memory = new PeakMemory(server.pid);
    const served: BurstResult[] = [];
    const bare: BurstResult[] = [];
    const rounds = Math.min(options.rounds, 5);
    for (let round = -Math.min(WARM_UP, rounds); round < rounds; round++) {
      const requests = await requestsOf(rings, options.burst);
      const ofServer = await burst(toServer, requests);
      const ofRoute = await burst(
        toRoute,
        requests.map(({ key }) => ({ path: '/', key })),
      );
      if (round < 0) continue;
      served.push(ofServer);
      bare.push(ofRoute);
    }
    const used = memoryOf(memory);
    for (const connection of [...toServer, ...toRoute]) connection.close();
    await route.stop();

    const rate = quantile(
      served.map(({ requestsPerSecond }) => requestsPerSecond),
      0.5,
    );
    // Each burst is compared with the one right after it, because the speed of the machine varies.
    const ratios = served.map(({ requestsPerSecond }, round) => requestsPerSecond / bare[round]!.requestsPerSecond);
    const baseline = quantile(
      bare.map(({ requestsPerSecond }) => requestsPerSecond),
      0.5,
    );
    return {
      lines: [
        {
          name: `keywords, ${options.smallKeywords} keywords, repeated by ${CONNECTIONS} connections`,
          median: quantile(
            served.map(({ median }) => median),
            0.5,
          ),
          p95: quantile(
            served.map(({ p95 }) => p95),
            0.5,
          ),
          bytes: body.length,
          samples: served.length * options.burst,
          requestsPerSecond: rate,
          memory: used,
          baselines: { 'bare requests/s': baseline },
        },
      ],
      targets: [atLeast('repeat: requests a second against a bare route', quantile(ratios, 0.5), 0.6)],
    };
  });
}

/** Requests to the workspaces in turn, with their keys in turn. */
export async function requestsOf(
  rings: readonly { path: string; ring: KeyRing }[],
  count: number,
): Promise<BurstRequest[]> {
  const each = Math.ceil(count / rings.length);
  const byRing = await Promise.all(
    rings.map(async ({ path, ring }) => (await ring.take(each)).map((key) => ({ path, key }))),
  );
  return Array.from({ length: count }, (_, at) => byRing[at % rings.length]![Math.floor(at / rings.length)]!);
}
