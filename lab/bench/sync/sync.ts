// Measures the sync against the model of the provider: `npm run bench:sync -- backfill --keywords 5000`, or
// `npm run bench:sync -- projects --projects 1000`, or `npm run bench:sync -- day`.
import '../../../cli/threads.ts';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { fail } from '../../../cli/cli.ts';
import { readCount } from '../../../cli/numbers.ts';
import { type BackfillOptions, measureBackfill } from './backfill.ts';
import { type DayOptions, measureDay } from './day.ts';
import { measureProjects, type ProjectsOptions } from './projects.ts';

const program = new Command('bench:sync')
  .description('Measures the sync against the model of Search Console on this machine.')
  .option('--folder <folder>', 'where the data is made and removed', 'data/bench-sync');

/** Runs a measurement in an empty folder. */
async function within(measure: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(resolve(program.opts<{ folder: string }>().folder), String(process.pid));
  mkdirSync(folder, { recursive: true });
  try {
    await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Options of both measurements. */
function measurement(name: string, description: string, keywords: number): Command {
  return program
    .command(name)
    .description(description)
    .option('--keywords <n>', 'tracked keywords of each project', readCount, keywords)
    .option('--latency <ms>', 'milliseconds that the provider takes for an answer', readCount, 50)
    .option('--per-minute <n>', 'requests to providers in a minute', readCount, 300)
    .option('--idle <seconds>', 'light requests to an idle server, to compare', readCount, 20);
}

measurement('backfill', '16 months of a new project', 5000)
  .option('--per-second <n>', 'requests about a property in a second', readCount, 5)
  .action((options: BackfillOptions) => within((folder) => measureBackfill(folder, options)));
measurement('projects', 'many projects that are due at once', 20)
  .option('--projects <n>', 'projects', readCount, 1000)
  .option('--days <n>', 'days that each wants', readCount, 20)
  .option('--minutes <n>', 'ends after so long', readCount, 60)
  .action((options: ProjectsOptions) => within((folder) => measureProjects(folder, options)));

measurement('day', 'a simulated day of many projects: all background jobs, and answers beside them', 20)
  .option('--projects <n>', 'projects', readCount, 1000)
  .option('--days <n>', 'days that each has', readCount, 28)
  .action((options: DayOptions) => within((folder) => measureDay(folder, options)));

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await program.parseAsync().catch(fail);
process.exit();
