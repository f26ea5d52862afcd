import { type Bench, Client, withServer } from '../bench-context.ts';
import { answerFloors } from '../floors.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

/** The days of the whole property over the whole history, nothing kept. */
export async function measureSite({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const path = `/projects/${LARGE}/site?period=${options.days}d`;
    const body = await client.read(path);
    const floors = await answerFloors(options.folder, body, JSON.parse(body.toString()));
    const memory = new PeakMemory(server.pid);
    const { asked, stringify, bare } = await alternate(options.rounds * 20, {
      asked: () => client.time(path),
      stringify: floors.stringify,
      bare: floors.bare,
    });
    await floors.close();
    client.close();
    return {
      lines: [
        {
          name: `site, ${options.days} days`,
          ...asked,
          memory: memoryOf(memory),
          floors: { stringify: stringify.median, bare: bare.median },
        },
      ],
      targets: [atMost('site: more than a bare route', asked.median - bare.median, 3, 'ms')],
    };
  });
}
