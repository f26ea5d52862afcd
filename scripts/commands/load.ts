import type { Command } from 'commander';
import { type LoadSummary, loadSnapshot } from '../../server/load/load.ts';
import { LoadRejected } from '../../server/load/problems.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly replace?: boolean;
  readonly json?: boolean;
}

export function addLoad(program: Command): void {
  program
    .command('load')
    .description('load a snapshot folder: all of it, or nothing')
    .argument('<folder>', 'the snapshot')
    .option('--dry-run', 'check it only')
    .option('--replace', 'its entity rows are the complete set for each workspace or project that it names')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('load ./snapshot --dry-run', 'load ./snapshot', 'load ./snapshot --replace --json'))
    .action(async (folder: string, options: Options) => {
      const { report, end } = progress();
      try {
        const summary = await withStores((stores) => loadSnapshot(stores, { ...options, folder, report }), {
          create: true,
        });
        end();
        if (options.json) printJson(summary);
        else printSummary(summary);
      } catch (error) {
        end();
        if (options.json && error instanceof LoadRejected) printJson({ loaded: false, problems: error.problems });
        if (!(error instanceof LoadRejected)) throw error;
        throw new Error(`The snapshot was not loaded; what was being served is untouched.\n${error.message}`, {
          cause: error,
        });
      }
    });
}

/** What a load brought, for people. */
export function printSummary({ loaded, tables, projects, warnings, seconds }: LoadSummary): void {
  for (const warning of warnings) print(`Warning: ${warning}`);
  for (const [table, { rows, firstDay, lastDay }] of Object.entries(tables)) {
    const days = firstDay === undefined ? '' : `, ${firstDay} to ${lastDay}`;
    print(`${table}: ${rows.toLocaleString('en')} rows${days}`);
  }
  const what = loaded ? 'Loaded' : 'The snapshot is in order; nothing was loaded (dry run)';
  print(`${what}. Projects: ${projects.join(', ') || 'none'}. ${seconds.toFixed(1)} s.`);
}
