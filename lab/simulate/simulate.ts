import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { hasPostgres, Postgres } from '../../test/cluster/servers/postgres.ts';
import { bundle } from './bundle.ts';
import { PLANTS } from './plants.ts';
import { Databases } from './postgres/databases.ts';
import { type Outcome, runSeed, shorten } from './run.ts';
import type { World } from './world.ts';
import { worldNamed, worldOf } from './worlds.ts';

interface Options {
  readonly seed?: number;
  readonly seeds: number;
  readonly from: number;
  readonly minutes?: number;
  readonly world?: string;
  readonly processes: number;
  readonly plants?: boolean;
  readonly plant?: string;
  /** It was started by another process, which gives it seeds. */
  readonly part?: boolean;
  readonly catalog?: string;
}

/** Events that are printed of a failing run. */
const LAST_EVENTS = 60;
/** Seeds in which a planted fault must be found; with PostgreSQL, where they take longer, a quarter of them. */
const SEEDS_OF_PLANT = 40;

/** Each run leaves much garbage. Before this many megabytes it is not looked for in the old generation. */
const HEAP = ['--initial-old-space-size=1000'];

const whole = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

const options = new Command('simulate')
  .description('Runs the product on simulated time, with faults, and compares it with models.')
  .option('--seed <number>', 'run one seed, and print what happens', whole)
  .option('--seeds <number>', 'number of seeds to run', whole, 200)
  .option('--from <number>', 'the first of them', whole, 1)
  .option('--minutes <number>', 'begin no further seeds after this time', whole)
  .option('--world <name>', 'run one world only; by default the seed says which')
  .option('--processes <number>', 'processes that run seeds; by default one per core', whole, availableParallelism())
  .option('--plants', 'put faults into the code, one after the other, and see whether they are found')
  .option('--plant <name>', 'put one of these faults into the code')
  .option(
    '--catalog <address>',
    'keep catalogs in this PostgreSQL, whose user is a superuser and needs no password; `postgres` starts one',
  )
  .addOption(new Option('--part', 'run the seeds that another process gives').hideHelp())
  .parse()
  .opts<Options>();

// Files in memory: a simulated power failure does not exist, and waiting for disks takes most of the time.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';

if (options.catalog === 'postgres' && !hasPostgres) {
  process.stdout.write(
    'There is no PostgreSQL to start (POSTGRES_BIN names the folder of initdb): nothing is simulated.\n',
  );
  process.exit();
}
const postgres = options.catalog === 'postgres' ? await Postgres.make('unused', 'trust') : undefined;
const address = postgres?.url ?? options.catalog;
const isPart = options.plants === true || options.seed !== undefined || options.part === true;
const databases = address === undefined || !isPart ? undefined : await Databases.open(address);
try {
  if (options.plants === true) await findPlants();
  else if (options.seed !== undefined) await printSeed(options.seed);
  else if (options.part === true) await runPart();
  else await runAll();
} finally {
  await databases?.close();
  await postgres?.remove();
}
process.exit();

function worldFor(seed: number): World {
  return options.world === undefined ? worldOf(seed, options.catalog !== undefined) : worldNamed(options.world);
}

/** Runs one seed and prints its steps, shortened if it fails. */
async function printSeed(seed: number): Promise<void> {
  const world = worldFor(seed);
  const program = await bundle(plants());
  const outcome = await runSeed(program, world, seed, { databases });
  if (outcome.violation === undefined) {
    process.stdout.write(`seed ${seed}, world ${world.name}: no violation (${outcome.fingerprint})\n`);
    return;
  }
  print(seed, world.name, await shorten(program, world, seed, outcome, databases));
  process.exitCode = 1;
}

function print(seed: number, world: string, { violation, decisions, trace }: Outcome): void {
  const only = options.world === undefined ? '' : ` --world ${world}`;
  const where = options.catalog === undefined ? '' : ` --catalog ${options.catalog}`;
  const again = `npm run simulate -- --seed ${seed}${only}${where}`;
  const lines = [
    `seed ${seed}, world ${world}: ${violation}`,
    `faults and steps that are needed: ${decisions.join(', ') || 'none'}`,
    `the last events (seconds, process, what):`,
    ...trace.slice(-LAST_EVENTS),
    `again: ${again}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Runs the seeds in several processes, each of which asks for the next one. */
async function runAll(): Promise<void> {
  const started = performance.now();
  let simulated = 0;
  const next = (): number | undefined => {
    const isLate = performance.now() - started > (options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
    return isLate || simulated >= options.seeds ? undefined : options.from + simulated++;
  };
  const codes = await Promise.all(
    Array.from({ length: options.processes }, () => {
      const where = address === undefined ? [] : ['--catalog', address];
      const execArgv = [...process.execArgv, ...HEAP];
      const child = fork(import.meta.filename, [...process.argv.slice(2), ...where, '--part'], { execArgv });
      child.on('message', () => child.send({ seed: next() }));
      return new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
    }),
  );
  const failed = codes.filter((code) => code !== 0).length;
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stdout.write(
    `simulated ${simulated} seeds from ${options.from} in ${seconds} s: ${failed === 0 ? 'no violation' : 'violated'}\n`,
  );
  if (failed > 0) process.exitCode = 1;
}

/** Runs the seeds that the process which has started this one gives, up to the first that fails. */
async function runPart(): Promise<void> {
  const program = await bundle(plants());
  for (;;) {
    const given = once(process, 'message');
    process.send!('next');
    const [{ seed }] = (await given) as [{ seed?: number }];
    if (seed === undefined) return;
    const world = worldFor(seed);
    const outcome = await runSeed(program, world, seed, { databases });
    if (outcome.violation === undefined) continue;
    print(seed, world.name, await shorten(program, world, seed, outcome, databases));
    process.exitCode = 1;
    return;
  }
}

/** Puts each fault into the code, and runs seeds of its world until one fails. */
async function findPlants(): Promise<void> {
  const missed: (typeof PLANTS)[number][] = [];
  const seeds = databases === undefined ? SEEDS_OF_PLANT : SEEDS_OF_PLANT / 4;
  let tried = 0;
  for (const plant of PLANTS) {
    if (options.plant !== undefined && plant.name !== options.plant) continue;
    const world = worldNamed(plant.world);
    if (databases === undefined ? plant.isOfPostgres === true : !world.hasCatalog) continue;
    const program = await bundle([plant]);
    tried++;
    let found: { readonly seed: number; readonly violation: string } | undefined;
    for (let seed = options.from; seed < options.from + seeds && found === undefined; seed++) {
      const { violation } = await runSeed(program, world, seed, { databases });
      if (violation !== undefined) found = { seed, violation };
    }
    const how =
      found === undefined
        ? `not found in ${seeds} seeds`
        : `seed ${found.seed}: ${found.violation.split('\n')[0]!.slice(0, 160)}`;
    process.stdout.write(`${plant.name} (${plant.world}): ${how}\n`);
    if (found === undefined) missed.push(plant);
  }
  // The table of planted faults reads this line.
  process.stdout.write(`${tried - missed.length} of ${tried} planted races found\n`);
  if (missed.some((plant) => plant.isRequired)) process.exitCode = 1;
}

function plants(): typeof PLANTS {
  return options.plant === undefined ? [] : PLANTS.filter(({ name }) => name === options.plant);
}
