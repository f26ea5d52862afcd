import { answerBaselines } from '../baselines.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import type { Server } from '../ordinate.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

/** The longest page of stored lists: the first request of each makes the list, the timed ones read it. */
export async function measureLists(bench: Bench): Promise<Outcome> {
  return withServer(bench.data, { cache: false }, async (server) => {
    const outcomes = [await pageOf(bench, server, 'queries'), await pageOf(bench, server, 'pages')];
    return {
      lines: outcomes.flatMap(({ lines }) => lines),
      targets: outcomes.flatMap(({ targets }) => targets),
    };
  });
}

async function pageOf({ options }: Bench, server: Server, kind: 'queries' | 'pages'): Promise<Outcome> {
  const client = await Client.of(server);
  const path = `/projects/${LARGE}/${kind}?period=${options.listDays}d&limit=25000`;
  const first = await client.time(path);
  const memory = new PeakMemory(server.pid);
  const body = await client.read(path);
  const rows = (JSON.parse(body.toString()) as Record<typeof kind, unknown[]>)[kind];
  const baselines = await answerBaselines(options.folder, body, rows);
  const { served, stringify, bare } = await alternate(options.rounds, {
    served: () => client.time(path),
    stringify: baselines.stringify,
    bare: baselines.bare,
  });
  await baselines.close();
  client.close();
  return {
    lines: [
      {
        name: `${kind}, ${rows.length} rows of a stored list`,
        ...served,
        memory: memoryOf(memory),
        baselines: { stringify: stringify.median, bare: bare.median },
      },
      // The list is then stored, so that only the first run of the benchmark measures making it.
      { name: `${kind}, the first request`, median: first.ms, p95: first.ms, samples: 1, baselines: {} },
    ],
    targets: [atMost(`${kind}: against JSON.stringify of the rows`, served.median / stringify.median, 2)],
  };
}
