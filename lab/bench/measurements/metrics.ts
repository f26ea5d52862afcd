import { API, type Bench, withServer } from '../bench-context.ts';
import { type BurstResult, burst, openConnections } from '../burst.ts';
import { KeyRing } from '../keys.ts';
import { processorSeconds } from '../memory.ts';
import type { Server } from '../ordinate.ts';
import { atMost, type Outcome } from '../results.ts';
import { quantile } from '../rounds.ts';
import { small, workspaceName } from '../snapshots.ts';
import { requestsOf } from './repeat.ts';

const CONNECTIONS = 32;
/** Bursts that do not count: V8 optimises code only after it has run some thousand times. */
const WARM_UP = 7;

/** The default keywords request of small projects, repeated, of a server with metrics and one without, in turn. */
export async function measureMetrics({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: true }, async (without) =>
    withServer(data, { cache: true, metrics: true }, async (measured) => {
      const toMeasured = await openConnections(measured.address, CONNECTIONS);
      const toOther = await openConnections(without.address, CONNECTIONS);
      const ringsOf = () =>
        Array.from({ length: options.workspaces }, (_, index) => ({
          path: `${API}/projects/${small(index + 1)}/keywords`,
          ring: new KeyRing(data.keys[workspaceName(index + 1)]!),
        }));
      // Each server has limits of its own.
      const [ringsOfMeasured, ringsOfOther] = [ringsOf(), ringsOf()];
      const on: BurstResult[] = [];
      const off: BurstResult[] = [];
      // Of all counted bursts: others on the machine change the rate, but hardly this.
      const processor = { on: 0, off: 0 };
      const rounds = Math.min(options.rounds, 5);
      for (let round = -Math.min(WARM_UP, rounds); round < rounds; round++) {
        const processorOf = (server: Server): number => processorSeconds(server.pid) ?? Number.NaN;
        const before = [processorOf(measured), processorOf(without)] as const;
        const ofMeasured = await burst(toMeasured, await requestsOf(ringsOfMeasured, options.burst));
        const ofOther = await burst(toOther, await requestsOf(ringsOfOther, options.burst));
        if (round < 0) continue;
        on.push(ofMeasured);
        off.push(ofOther);
        processor.on += processorOf(measured) - before[0];
        processor.off += processorOf(without) - before[1];
      }
      for (const connection of [...toMeasured, ...toOther]) connection.close();
      const rate = (of: readonly BurstResult[]): number =>
        quantile(
          of.map(({ requestsPerSecond }) => requestsPerSecond),
          0.5,
        );
      const medianOf = (of: 'median' | 'p95'): number =>
        quantile(
          on.map((result) => result[of]),
          0.5,
        );
      return {
        lines: [
          {
            name: `keywords repeated by ${CONNECTIONS} connections, with metrics`,
            median: medianOf('median'),
            p95: medianOf('p95'),
            bytes: 0,
            samples: on.length * options.burst,
            requestsPerSecond: rate(on),
            baselines: { 'without metrics, requests/s': rate(off) },
          },
        ],
        targets: [atMost('metrics: processor time of requests, with and without', processor.on / processor.off, 1.05)],
      };
    }),
  );
}
