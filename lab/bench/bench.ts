// npm run bench: what has a bound, measured over HTTP and compared in the same rounds. Prints a table, and exits with 1 if a
// bound is missed.
import '../../cli/threads.ts';
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { namesOf } from '../../cli/names.ts';
import { readCount } from '../../cli/numbers.ts';
import { formatTable } from '../../cli/table.ts';
import { PROGRAM } from '../server.ts';
import { loadRows, makeRows, openEngine, type Sizes } from './data.ts';
import { type Line, MEASUREMENTS } from './measurements.ts';

interface Options extends Partial<Sizes> {
  readonly only?: readonly string[];
  readonly quick?: boolean;
  readonly before?: string;
  readonly rounds?: number;
  readonly folder?: string;
}

const WHOLE: Sizes = { keywords: 5000, days: 486, queries: 100_000, pages: 30_000 };
const QUICK: Sizes = { keywords: 60, days: 70, queries: 300, pages: 100 };

const names = Object.keys(MEASUREMENTS);
const options = new Command('bench')
  .description('Measures what has a bound. Everything is compared in turn: read the ratios.')
  .option('--only <names>', `comma-separated: ${names.join(', ')}`, namesOf(names))
  .option('--before <checkout>', 'a checkout of the release before, with its packages, to compare with')
  .option('--quick', 'few rows and rounds, to see that it works: its ratios say nothing')
  .option('--rounds <n>', 'times that each compared thing is measured [15; 2 with --quick]', readCount)
  .option('--keywords <n>', `keywords of the project [${WHOLE.keywords}]`, readCount)
  .option('--days <n>', `days of keywords and of the property, at most 486 [${WHOLE.days}]`, readCount)
  .option('--folder <folder>', 'where data is made and used again [data/bench; data/bench-quick with --quick]')
  .parse()
  .opts<Options>();

async function measure(): Promise<readonly Line[]> {
  const { quick = false, only = names, before, rounds = quick ? 2 : 15, ...own } = options;
  const folder = resolve(own.folder ?? (quick ? 'data/bench-quick' : 'data/bench'));
  const { keywords, days, queries, pages } = { ...(quick ? QUICK : WHOLE), ...own };
  const sizes = { keywords, days, queries, pages };
  mkdirSync(folder, { recursive: true });
  const engine = await openEngine(folder, availableParallelism());
  try {
    const made = await makeRows(engine, folder, sizes);
    const programs = [await loadRows(join(folder, 'data'), PROGRAM, made)];
    if (before !== undefined)
      programs.push(await loadRows(join(folder, 'data-before'), join(resolve(before), 'cli/ordinate.ts'), made));
    const lines: Line[] = [];
    for (const name of only) {
      process.stderr.write(`measuring ${name}\n`);
      lines.push(...(await MEASUREMENTS[name]!({ sizes, rounds, folder, engine, made, programs })));
    }
    return lines;
  } finally {
    await engine.close();
    rmSync(join(folder, 'memory'), { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const lines = await measure();
  print(
    formatTable(
      lines.map(({ what, ms, against, ratio, atMost }) => ({
        what,
        ms: Number(ms.toPrecision(3)),
        against,
        ratio: ratio?.toFixed(2) ?? 'not measured',
        atMost,
        met: ratio === undefined ? null : ratio <= atMost,
      })),
    ),
  );
  if (options.quick !== true && lines.some(({ ratio = 0, atMost }) => ratio > atMost)) process.exitCode = 1;
}

// Only an orderly exit stops the servers that this process started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await main().catch(fail);
process.exit();
