// npm run soak -- --minutes 30: a server under mixed traffic, with loads, syncs and backups beside it. Every answer is
// checked. Prints a table; exits with 1 if a limit is missed.
import '../../../cli/threads.ts';
import { rmSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { fail, print, printJson } from '../../../cli/cli.ts';
import { readCount } from '../../../cli/numbers.ts';
import { formatTable } from '../../../cli/table.ts';
import { limitsOf } from './limits.ts';
import { type Soaked, type SoakOptions, soak } from './run.ts';
import { WORKS } from './works.ts';

interface Options extends Omit<SoakOptions, 'works'> {
  readonly folder: string;
  readonly works: readonly string[];
  readonly json?: boolean;
}

const names = Object.keys(WORKS);
const program = new Command('soak')
  .description('Runs a server under mixed traffic beside loads, syncs and backups, and checks every answer.')
  .option('--minutes <n>', 'how long; each kind of work runs once in any case', readMinutes, 30)
  .option('--seed <n>', 'of the data and of what is asked; that of a failed run is printed', readCount, 1)
  .option('--clients <n>', 'clients that send one request after the other', readCount, 4)
  .option('--pause <ms>', 'between two requests of a client, on average', readCount, 150)
  .option('--workers <n>', 'server processes that share the port; by default one', readCount)
  .option('--keywords <n>', 'tracked keywords of each project, at most 999', readCount, 60)
  .option('--days <n>', 'days that are loaded at first, at least 60', readCount, 90)
  .option('--works <names>', `what runs beside the requests, of ${names.join(', ')}`, readWorks, names)
  .option('--plant', 'load one wrong number, to see that the soak fails', false)
  .option('--folder <folder>', 'where the data is made and removed', 'data/soak')
  .option('--json', 'print one JSON document');

function readMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes >= 0 && minutes <= 10_000)) throw new InvalidArgumentError('It must be a number from 0 to 10000.');
  return minutes;
}

function readWorks(text: string): string[] {
  const chosen = text.split(',');
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no ${unknown}.`);
  return chosen;
}

function printSoaked({ seed }: Options, { counts, works, found, first, jobsPeak }: Soaked): void {
  const columns = ({ kind, right, refused, unexpected }: (typeof counts)[number]) => ({
    kind,
    right,
    'refused (503)': refused,
    unexpected,
  });
  print(`${formatTable([...counts, ...works].map(columns))}\n`);
  print(`${formatTable(limitsOf(found).map(({ met, ...limit }) => ({ ...limit, met: met ?? 'too short to say' })))}\n`);
  const load = loadavg().map((value) => value.toFixed(1));
  print(
    `${found.minutes.toFixed(1)} minutes; ${availableParallelism()} processors, load ${load.join(', ')}; jobs at most ${jobsPeak.toFixed(0)} MB; seed ${seed}`,
  );
  for (const text of [...first, ...found.errors.slice(0, 5)]) print(`\n${text}`);
}

async function main(): Promise<void> {
  program.parse();
  const options = program.opts<Options>();
  const folder = join(resolve(options.folder), String(process.pid));
  try {
    const soaked = await soak(folder, options, (step) => void process.stderr.write(`${step}\n`));
    const limits = limitsOf(soaked.found);
    if (options.json) printJson({ seed: options.seed, limits, ...soaked });
    else printSoaked(options, soaked);
    if (limits.some(({ met }) => met === false)) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Only an orderly exit stops the processes that this one started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await main().catch(fail);
process.exit();
