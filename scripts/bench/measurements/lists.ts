import { type Bench, Client, withServer } from '../bench-context.ts';
import { answerFloors } from '../floors.ts';
import { PeakMemory } from '../memory.ts';
import type { Server } from '../ordinate.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

/** The longest page of lists that are held: the first request of each makes the list, the timed ones read it. */
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
  const floors = await answerFloors(options.folder, body, rows);
  const { asked, stringify, bare } = await alternate(options.rounds, {
    asked: () => client.time(path),
    stringify: floors.stringify,
    bare: floors.bare,
  });
  await floors.close();
  client.close();
  return {
    lines: [
      {
        name: `${kind}, ${rows.length} rows of a held list`,
        ...asked,
        memory: memoryOf(memory),
        floors: { stringify: stringify.median, bare: bare.median },
      },
      // Once made it is held on disk, so that only the first run of the benchmark tells what making it takes.
      { name: `${kind}, the first request`, median: first.ms, p95: first.ms, samples: 1, floors: {} },
    ],
    targets: [atMost(`${kind}: against JSON.stringify of the rows`, asked.median / stringify.median, 2)],
  };
}
