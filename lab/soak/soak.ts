// npm run soak: a server under mixed traffic, beside loads, backups and rotated keys. Every answer is checked. Prints a table,
// and exits with 1 if a limit is missed.
import '../../cli/threads.ts';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { namesOf } from '../../cli/names.ts';
import { readCount } from '../../cli/numbers.ts';
import { formatTable } from '../../cli/table.ts';
import { Random } from '../../test/random.ts';
import { createKeys, ordinate, startServer } from '../server.ts';
import { WORKSPACE } from '../tables.ts';
import { Client, Refused } from './client.ts';
import { KINDS, run } from './kinds.ts';
import { errorLines, type Found, findLeftovers, limitsOf, watch } from './limits.ts';
import { Truth } from './truth.ts';
import { backupTarget, FREQUENT, loadFirst, WORKS } from './works.ts';

const CLIENTS = 4;
/** Milliseconds between two requests of a client, on average. */
const PAUSE = 150;
const DAYS = 90;

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly rows: number;
  readonly workers?: number;
  readonly works: readonly string[];
  readonly plant: boolean;
  readonly folder: string;
}

const names = Object.keys(WORKS);
const { minutes, seed, rows, workers, works, plant, folder } = new Command('soak')
  .option('--minutes <n>', 'how long; each kind of work runs once in any case', readMinutes, 30)
  .option('--seed <n>', 'of the data and of what is asked', readCount, 1)
  .option('--rows <n>', 'keywords, queries and pages of each project, at most 999', readCount, 60)
  .option('--workers <n>', 'server processes that share the port; by default one', readCount)
  .option('--works <names>', `what runs beside the requests, of ${names.join(', ')}`, namesOf(names), names)
  .option('--plant', 'expect other numbers than are loaded, to see that the soak fails', false)
  .option('--folder <folder>', 'where the data is made and removed', 'data/soak')
  .parse()
  .opts<Options>();

function readMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes >= 0 && minutes <= 10_000)) throw new InvalidArgumentError('It must be a number from 0 to 10000.');
  return minutes;
}

/** Caches that are full within minutes: otherwise memory grows for as long as they fill. */
const settings = { ORDINATE_CACHE: '2MB', ORDINATE_LISTS_MEMORY: '2MB', ORDINATE_MEMORY_LIMIT: '256MB' };

/** What became of requests and works, by kind. */
class Tally {
  readonly counts = new Map<string, { right: number; refused: number; unexpected: number }>();
  readonly first: string[] = [];

  /** Never throws for what `work` finds. */
  async run(kind: string, work: () => Promise<void>): Promise<void> {
    const counts = this.counts.get(kind) ?? { right: 0, refused: 0, unexpected: 0 };
    this.counts.set(kind, counts);
    try {
      await work();
      counts.right++;
    } catch (error) {
      if (error instanceof Refused) counts.refused++;
      else {
        counts.unexpected++;
        const { message, cause } = error as Error;
        this.first.push(`${kind}: ${message.slice(0, 1000)} ${cause instanceof Error ? cause.message : ''}`);
      }
    }
  }
}

async function soak(folder: string, tally: Tally): Promise<Found> {
  const dataFolder = join(folder, 'data');
  mkdirSync(folder, { recursive: true });
  const where = { folder, dataFolder, truth: new Truth(seed, rows) };
  await loadFirst(where, DAYS);
  if (plant) where.truth.plant();
  const keys = await createKeys({ dataFolder }, WORKSPACE, 5 * CLIENTS);
  const several = workers === undefined ? [] : ['--workers', String(workers)];
  const server = await startServer({ dataFolder, settings }, ...several);
  const client = new Client(server.address, keys);
  const watched = watch(server.pid);
  const started = performance.now();
  const end = started + minutes * 60_000;
  let isOver = false;
  /** One client: each kind once, then any. */
  const traffic = Array.from({ length: CLIENTS }, async (_, index) => {
    const random = new Random(seed + index + 1);
    const kinds = Object.keys(KINDS);
    const once = kinds.toSorted(() => random.next() - 0.5);
    while (!isOver || once.length > 0) {
      const kind = once.pop() ?? random.pick(kinds);
      await tally.run(kind, () => run(KINDS[kind]!, { client, truth: where.truth, random }));
      await sleep(random.next() * 2 * PAUSE);
    }
  });
  const random = new Random(seed);
  const given = { ...where, random, client, primary: workers === undefined ? undefined : server.pid };
  const once = [...works];
  const often = [...works, ...FREQUENT.filter((name) => works.includes(name))];
  while (once.length > 0 || performance.now() < end) {
    const name = once.shift() ?? random.pick(often);
    await tally.run(name, () => WORKS[name]!(given));
    await sleep(Math.min(random.next() * 3000, Math.max(0, end - performance.now())));
  }
  isOver = true;
  await Promise.all(traffic);
  const ran = (performance.now() - started) / 60_000;
  const samples = watched();
  await server.stop();
  const backups = backupTarget(folder);
  const failed: string[] = [];
  for (const words of [['verify'], ['backup', backups], ['verify', backups]])
    await ordinate({ dataFolder }, ...words, '--json').catch(() => failed.push(words[0]!));
  const counts = [...tally.counts];
  return {
    minutes: ran,
    unexpected: counts.reduce((all, [, one]) => all + one.unexpected, 0),
    never: counts.flatMap(([kind, { right }]) => (right > 0 ? [] : [kind])),
    samples,
    leftovers: findLeftovers(dataFolder, backups),
    errors: errorLines(`${dataFolder}.log`),
    failed,
  };
}

async function main(): Promise<void> {
  const own = join(resolve(folder), String(process.pid));
  const tally = new Tally();
  try {
    const found = await soak(own, tally);
    const limits = limitsOf(found);
    print(`${formatTable([...tally.counts].map(([kind, counts]) => ({ kind, ...counts })))}\n`);
    print(`${formatTable(limits.map(({ met, ...limit }) => ({ ...limit, met: met ?? 'too short to say' })))}\n`);
    print(`${found.minutes.toFixed(1)} minutes; seed ${seed}`);
    for (const text of [...tally.first.slice(0, 10), ...found.errors.slice(0, 5)]) print(`\n${text}`);
    if (limits.some(({ met }) => met === false)) process.exitCode = 1;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

// Only an orderly exit stops the processes that this one started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await main().catch(fail);
process.exit();
