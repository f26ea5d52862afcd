import { type Bench, Client, withServer } from '../bench-context.ts';
import type { Line, Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE, small } from '../snapshots.ts';

const ENCODINGS = ['br', 'zstd', 'gzip'] as const;

/** A long answer and a short cached one, plain and in each encoding. The sizes show which encodings the server has. */
export async function measureCompression(bench: Bench): Promise<Outcome> {
  const { keywords, smallKeywords } = bench.options;
  return {
    lines: [
      ...(await measureAnswer(
        bench,
        `/projects/${LARGE}/keywords?limit=5000`,
        `keywords, ${keywords} keywords`,
        false,
      )),
      ...(await measureAnswer(
        bench,
        `/projects/${small(1)}/keywords`,
        `cached keywords, ${smallKeywords} keywords`,
        true,
      )),
    ],
    targets: [],
  };
}

async function measureAnswer({ data, options }: Bench, path: string, name: string, cache: boolean): Promise<Line[]> {
  return withServer(data, { cache }, async (server) => {
    const client = await Client.of(server);
    const request = (encoding: string) => () => client.time(path, { 'accept-encoding': encoding });
    const times = await alternate(options.rounds, {
      identity: request('identity'),
      br: request('br'),
      zstd: request('zstd'),
      gzip: request('gzip'),
    });
    client.close();
    return ENCODINGS.map((encoding) => ({
      name: `${name}, ${encoding}`,
      ...times[encoding],
      baselines: { plain: times.identity.median, 'plain kB': (times.identity.bytes ?? 0) / 1000 },
    }));
  });
}
