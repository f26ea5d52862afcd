import { addDays } from '../../../server/domain/dates.ts';
import { answerBaselines } from '../baselines.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE, LAST_DAY } from '../snapshots.ts';

/** The days of the whole property over nearly the whole history, another range with each request, without a response cache. */
export async function measureSite({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    let asked = 0;
    const next = (): string => {
      const from = addDays(LAST_DAY, 1 - options.days + (asked++ % 28));
      return `/projects/${LARGE}/site?from=${from}&to=${LAST_DAY}`;
    };
    const path = next();
    const body = await client.read(path);
    const baselines = await answerBaselines(options.folder, body, JSON.parse(body.toString()));
    const memory = new PeakMemory(server.pid);
    const { served, stringify, bare } = await alternate(options.rounds * 20, {
      served: () => client.time(next()),
      stringify: baselines.stringify,
      bare: baselines.bare,
    });
    await baselines.close();
    client.close();
    return {
      lines: [
        {
          name: `site, ${options.days} days`,
          ...served,
          memory: memoryOf(memory),
          baselines: { stringify: stringify.median, bare: bare.median },
        },
      ],
      targets: [atMost('site: more than a bare route', served.median - bare.median, 3, 'ms')],
    };
  });
}
