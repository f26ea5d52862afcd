import type { Server } from '../../../lab/bench/ordinate.ts';
import { atLeast, atMost, type Line, type Outcome, type Target } from '../../../lab/bench/results.ts';
import { LARGE, LAST_DAY, MIDDLE } from '../../../lab/bench/snapshots.ts';
import { addDays } from '../../../server/domain/dates.ts';
import { type Cluster, withServers } from './cluster.ts';
import { type Cost, costOf, lineOf, ratioOf } from './costs.ts';
import type { Sizes } from './sizes.ts';

const CONNECTIONS = 32;
/** Of different days: a server answers equal questions of one moment once. */
const PATHS = Array.from({ length: 64 }, (_, ago) => {
  const days = `from=${addDays(LAST_DAY, -27 - ago)}&to=${addDays(LAST_DAY, -ago)}`;
  return `/projects/${ago % 2 === 0 ? LARGE : MIDDLE}/keywords?${days}`;
});

/** Requests a second of two nodes and of one, in turn, cached and not. */
export async function measureNodes(cluster: Cluster, { rounds, cached, uncached }: Sizes): Promise<Outcome> {
  const lines: Line[] = [];
  const targets: Target[] = [];
  for (const cache of [true, false]) {
    await withServers([cluster.node(cache), cluster.node(cache)], async (first, second) => {
      const what = cache ? 'cached' : 'uncached';
      const requests = (cache ? cached : uncached) * 2;
      const ask = (servers: readonly Server[]) =>
        costOf(cluster, servers, { paths: PATHS, connections: CONNECTIONS, requests });
      const [one, two]: Cost[][] = [[], []];
      for (let round = -2; round < rounds; round++) {
        const [alone, both] = [await ask([round % 2 === 0 ? first : second]), await ask([first, second])];
        if (round < 0) continue;
        one!.push(alone);
        two!.push(both);
      }
      const title = `${what} answers, ${CONNECTIONS} connections`;
      lines.push(lineOf(`${title}: one node`, one!), lineOf(`${title}: two nodes`, two!));
      targets.push(
        atLeast(`${title}: requests a second, two nodes against one`, ratioOf('requestsPerSecond', two!, one!), 1),
        atMost(`${title}: processor time of a request, two nodes against one`, ratioOf('processor', two!, one!), 1.1),
      );
    });
  }
  return { lines, targets };
}
