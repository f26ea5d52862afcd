// Compares servers over PostgreSQL and an object store with one over a data folder, and two of them with one:
// npm run bench:nodes (--help shows its options). Starts all servers itself; needs PostgreSQL and versitygw, as
// the tests of test/cluster do. Makes its data once in data/bench-nodes. Only ratios count: alternatives are measured in turn.
import '../../cli/threads.ts';
import { loadavg } from 'node:os';
import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { namesOf } from '../../cli/names.ts';
import { readOptions } from '../../lab/bench/options.ts';
import { tables } from '../../lab/bench/report.ts';
import type { Outcome } from '../../lab/bench/results.ts';
import { measureCached, measureUncached } from './measure/answers.ts';
import { Cluster } from './measure/cluster.ts';
import { measurePublications } from './measure/publications.ts';
import type { Sizes } from './measure/sizes.ts';
import { measureNodes } from './measure/throughput.ts';
import { hasPostgres } from './servers/postgres.ts';
import { hasS3Server } from './servers/s3.ts';

type Measure = (cluster: Cluster, sizes: Sizes, options: ReturnType<typeof readOptions>) => Promise<Outcome>;

/** The last one leaves a database that cannot be served. */
const MEASUREMENTS: Readonly<Record<string, Measure>> = {
  cached: measureCached,
  uncached: measureUncached,
  nodes: measureNodes,
  publications: measurePublications,
};
const NAMES = Object.keys(MEASUREMENTS);
const LOADS = 50;
const SIZES: Sizes = { rounds: 15, cached: 1500, uncached: 100, publications: 6, loads: LOADS };
const QUICK: Sizes = { rounds: 2, cached: 50, uncached: 20, publications: 1, loads: 4 };
/** As that of `npm run bench`, with a project for each load; the large one has 1,000 keywords over 16 months. */
const DATA = [
  '--folder',
  'data/bench-nodes',
  '--keywords',
  '1000',
  '--middle-keywords',
  '500',
  '--small-keywords',
  '100',
];
const QUICK_DATA = ['--folder', 'data/bench-nodes-quick', '--quick', '--queries', '2000'];

const program = new Command('measure-nodes')
  .description('Compares servers over PostgreSQL and an object store with one over a data folder.')
  .option('--only <names>', `comma-separated: ${NAMES.join(', ')}`, namesOf(NAMES))
  .option('--rounds <n>', `how often each thing is measured [${SIZES.rounds}]`, Number)
  .option('--quick', 'little data and few rounds, to see that it works');

async function main(): Promise<void> {
  program.parse();
  const {
    only = NAMES,
    quick = false,
    rounds,
  } = program.opts<{
    only?: readonly string[];
    quick?: true;
    rounds?: number;
  }>();
  if (!hasPostgres || !hasS3Server()) throw new Error('PostgreSQL or versitygw is not installed.');
  const usual = quick ? QUICK : SIZES;
  const sizes = { ...usual, rounds: rounds ?? usual.rounds };
  const options = readOptions([...(quick ? QUICK_DATA : DATA), '--workspaces', String(sizes.loads)], []);
  const chosen = Object.entries(MEASUREMENTS).filter(([name]) => only.includes(name));
  await using cluster = await Cluster.start(options, (step) => process.stderr.write(`${step}\n`));
  for (const [name, measure] of chosen) {
    const before = loadavg()[0]!;
    const outcome = await measure(cluster, sizes, options);
    print(`\n${name} (load of the machine: ${before.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after)\n`);
    print(tables(outcome));
  }
}

// Only an orderly exit stops the servers that this process started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await main().catch(fail);
