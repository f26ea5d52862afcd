import { type Bench, Client, withServer } from '../bench-context.ts';
import type { Line, Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

const ENCODINGS = ['br', 'zstd', 'gzip'] as const;

/** A long answer plain and in each encoding, nothing kept. The bytes tell which ones the server has. */
export async function measureCompression({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const path = `/projects/${LARGE}/keywords?limit=5000`;
    const ask = (encoding: string) => () => client.time(path, { 'accept-encoding': encoding });
    const times = await alternate(options.rounds, {
      identity: ask('identity'),
      br: ask('br'),
      zstd: ask('zstd'),
      gzip: ask('gzip'),
    });
    client.close();
    const lines = ENCODINGS.map(
      (encoding): Line => ({
        name: `keywords, ${options.keywords} keywords, ${encoding}`,
        ...times[encoding],
        floors: { plain: times.identity.median, 'plain kB': (times.identity.bytes ?? 0) / 1000 },
      }),
    );
    return { lines, targets: [] };
  });
}
