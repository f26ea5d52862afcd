import { Client } from '../../../lab/bench/bench-context.ts';
import type { Server } from '../../../lab/bench/ordinate.ts';
import { atMost, type Line, type Outcome, type Target } from '../../../lab/bench/results.ts';
import { alternate, type Timing } from '../../../lab/bench/rounds.ts';
import { LARGE, small } from '../../../lab/bench/snapshots.ts';
import { type Cluster, withServers } from './cluster.ts';
import { type Cost, costOf, lineOf, ratioOf } from './costs.ts';
import type { Sizes } from './sizes.ts';

const CACHED = {
  site: `/projects/${LARGE}/site?period=28d`,
  keywords: `/projects/${small(1)}/keywords`,
};

/** Rounds and requests that do not count: V8 optimises code only after it has run some thousand times. */
const WARM_UP = 3;
const WARM_UP_REQUESTS = 200;

/** Cached answers of an embedded server and of a node, in turn, on one connection and on 16. */
export async function measureCached(cluster: Cluster, { rounds, cached: requests }: Sizes): Promise<Outcome> {
  return withServers([cluster.embedded(true), cluster.node(true)], async (embedded, node) => {
    const lines: Line[] = [];
    const targets: Target[] = [];
    for (const [name, path] of Object.entries(CACHED)) {
      for (const connections of [1, 16]) {
        const what = `cached ${name}, ${connections === 1 ? 'one connection' : `${connections} connections`}`;
        const [here, there]: Cost[][] = [[], []];
        for (let round = -WARM_UP; round < rounds; round++) {
          for (const [server, costs] of [
            [embedded, here!],
            [node, there!],
          ] as const) {
            const cost = await costOf(cluster, [server], { paths: [path], connections, requests });
            if (round >= 0) costs.push(cost);
          }
        }
        lines.push(lineOf(`${what}: embedded`, here!), lineOf(`${what}: node`, there!));
        targets.push(
          atMost(`${what}: node against embedded`, ratioOf('elapsed', there!, here!), 1.3),
          atMost(`${what}: processor time, node against embedded`, ratioOf('processor', there!, here!), 1.3),
        );
      }
    }
    return { lines, targets };
  });
}

/** Questions that read facts, and a page of a stored list. */
const UNCACHED = {
  'site, 16 months': `/projects/${LARGE}/site?period=486d`,
  'keywords, 28 days': `/projects/${LARGE}/keywords?period=28d`,
  'keywords, 28 days, daily': `/projects/${LARGE}/keywords?period=28d&daily=1`,
  'keywords, 16 months': `/projects/${LARGE}/keywords?period=486d`,
  'breakdowns, 28 days': `/projects/${LARGE}/breakdowns?period=28d`,
  'stored list, 1,000 rows': `/projects/${LARGE}/queries?period=28d&limit=1000`,
};

/** The same questions without the response cache: the first of a node with an empty disk cache, and then in turn. */
export async function measureUncached(cluster: Cluster, { rounds }: Sizes): Promise<Outcome> {
  // The first request of a list makes and stores it.
  await withServers([cluster.embedded(true), cluster.node(true)], async (...servers) => {
    for (const server of servers) await firstOf(server, UNCACHED['stored list, 1,000 rows']);
  });
  return withServers([cluster.embedded(false), cluster.node(false)], async (embedded, node) => {
    const lines: Line[] = [];
    const targets: Target[] = [];
    for (const [name, path] of Object.entries(UNCACHED)) {
      const first = { embedded: await firstOf(embedded, path), node: await firstOf(node, path) };
      const [here, there] = [await Client.of(embedded), await Client.of(node)];
      const times = { embedded: () => here.time(path), node: () => there.time(path) };
      const timings = await alternate(rounds * 4, times, Math.min(WARM_UP_REQUESTS, rounds * 20));
      here.close();
      there.close();
      lines.push(
        uncachedLine(`${name}: embedded`, timings.embedded, first.embedded),
        uncachedLine(`${name}: node`, timings.node, first.node),
      );
      const ratio = timings.node.median / timings.embedded.median;
      const most = name.startsWith('site') ? 1.15 : 1.3;
      targets.push(atMost(`uncached ${name}: node with a warm disk cache against embedded`, ratio, most));
    }
    return { lines, targets };
  });
}

async function firstOf(server: Server, path: string): Promise<number> {
  const client = await Client.of(server);
  const { ms } = await client.time(path);
  client.close();
  return ms;
}

function uncachedLine(name: string, timing: Timing, cold: number): Line {
  return { name: `uncached ${name}`, ...timing, baselines: { 'its first request, cold': cold } };
}
