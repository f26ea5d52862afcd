import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { addDays } from '../../../server/domain/dates.ts';
import { type Bench, Client } from '../bench-context.ts';
import { prepareLists } from '../data.ts';
import { PeakMemory, processorSeconds } from '../memory.ts';
import { type Server, startServer } from '../ordinate.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { quantile, type Sample, summarise } from '../rounds.ts';
import { LARGE, LAST_DAY, workspaceName } from '../snapshots.ts';

const LONGEST_TURN = 20;

interface Asked {
  readonly name: string;
  /** The path for a range that ends on this day. */
  readonly path: (to: string) => string;
  readonly most: number;
  /** Asked before, so that its lists are stored. */
  readonly prepared?: (to: string) => readonly string[];
}

const lists = (kind: 'pages' | 'queries') => (to: string) => [
  `/projects/${LARGE}/${kind}?limit=1&period=28d&to=${to}`,
  `/projects/${LARGE}/${kind}?limit=1&period=28d&to=${addDays(to, -28)}`,
];

/** Findings and explained changes, each of a range that was not asked for before, and the longest turn of the event loop meanwhile. */
export async function measureFindings(bench: Bench): Promise<Outcome> {
  const { options, report } = bench;
  const sizes = options.quick ? { queries: 300, pages: 100, days: 70 } : { queries: 20_000, pages: 5000, days: 240 };
  const many = options.quick ? sizes : { ...sizes, queries: 100_000, days: 70 };
  const data = await prepareLists(bench.engine, options, 'findings', sizes, report);
  const outcomes = [
    await measureOn(bench, data, [
      {
        name: `findings, ${sizes.queries} queries and ${sizes.pages} pages`,
        path: (to) => `/projects/${LARGE}/findings?period=28d&to=${to}`,
        most: 500,
      },
      {
        name: `explain, ${sizes.pages} pages in two stored lists`,
        path: (to) => `/projects/${LARGE}/explain?period=28d&to=${to}`,
        prepared: lists('pages'),
        most: 50,
      },
    ]),
    await measureOn(bench, options.quick ? data : await prepareLists(bench.engine, options, 'explain', many, report), [
      {
        name: `explain, ${many.queries} queries in two stored lists`,
        path: (to) => `/projects/${LARGE}/explain?by=query&period=28d&to=${to}`,
        prepared: lists('queries'),
        most: 300,
      },
    ]),
  ];
  return { lines: outcomes.flatMap(({ lines }) => lines), targets: outcomes.flatMap(({ targets }) => targets) };
}

async function measureOn(
  { options }: Bench,
  data: { readonly folder: string; readonly keys: Readonly<Record<string, readonly string[]>> },
  asked: readonly Asked[],
): Promise<Outcome> {
  const delays = join(options.folder, 'loop-delays.txt');
  const preload = new URL('../loop-delays.ts', import.meta.url).href;
  const settings = { NODE_OPTIONS: `--import=${preload}`, BENCH_LOOP_DELAYS: delays };
  const outcomes: Outcome[] = [];
  let server: Server | undefined;
  for (const { name, path, most, prepared } of asked) {
    rmSync(delays, { force: true });
    server ??= await startServer({
      dataFolder: data.folder,
      keys: data.keys[workspaceName(1)]!,
      cache: true,
      settings,
    });
    const client = await Client.of(server);
    const memory = new PeakMemory(server.pid);
    const samples: Sample[] = [];
    const turns: number[] = [];
    const processor: number[] = [];
    // Each time another range, which no cache has; the first ones warm up.
    for (let round = -2; round < options.rounds; round++) {
      const to = addDays(LAST_DAY, -2 - round);
      for (const before of prepared?.(to) ?? []) await client.read(before);
      const [started, taken] = [Date.now(), processorSeconds(server.pid) ?? 0];
      const sample = await client.time(path(to));
      if (round < 0) continue;
      samples.push(sample);
      turns.push(longestSince(delays, started));
      processor.push(1000 * ((processorSeconds(server.pid) ?? 0) - taken));
    }
    client.close();
    const time = summarise(samples);
    outcomes.push({
      lines: [
        {
          name,
          ...time,
          memory: memoryOf(memory),
          processor: { servers: quantile(processor, 0.5), stores: 0 },
          baselines: { 'longest turn': Math.max(...turns) },
        },
      ],
      targets: [
        atMost(name, time.median, most, 'ms'),
        atMost(`${name}: longest turn of the event loop`, Math.max(...turns), LONGEST_TURN, 'ms'),
      ],
    });
    if (options.quick) continue;
    await server.stop();
    server = undefined;
  }
  await server?.stop();
  return { lines: outcomes.flatMap(({ lines }) => lines), targets: outcomes.flatMap(({ targets }) => targets) };
}

/** The longest turn of the event loop since an instant, in milliseconds of processor time; those under 5 are not told. */
function longestSince(file: string, since: number): number {
  let lines: string[];
  try {
    lines = readFileSync(file, 'utf8').trim().split('\n');
  } catch {
    return 5;
  }
  return Math.max(
    5,
    ...lines.map((line) => line.split(' ').map(Number)).flatMap(([at, ms]) => (at! >= since ? [ms!] : [])),
  );
}
