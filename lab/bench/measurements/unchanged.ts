import { type Bench, Client, withServer } from '../bench-context.ts';
import { atMost, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { small } from '../snapshots.ts';

/** An answer that the client has already, against the same answer sent from the cache. */
export async function measureUnchanged({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: true }, async (server) => {
    const client = await Client.of(server);
    const path = `/projects/${small(1)}/keywords`;
    const tag = await client.tag(path);
    const { unchanged, cached } = await alternate(
      options.rounds * 40,
      { unchanged: () => client.time(path, { 'if-none-match': tag }, 304), cached: () => client.time(path) },
      options.rounds * 10,
    );
    client.close();
    return {
      lines: [{ name: '304 for an unchanged answer', ...unchanged, baselines: { 'cached answer': cached.median } }],
      targets: [atMost('304: against a cached answer', unchanged.median / cached.median, 1.2)],
    };
  });
}
