import type { Command } from 'commander';
import { LoadRejected } from '../../server/domain/problems.ts';
import type { LoadSummary } from '../../server/load/load.ts';
import type { Stores } from '../../server/load/stores.ts';
import { print, printJson, progress, withStores, withStoresForDryRun } from '../cli.ts';
import { evaluateAfter } from '../evaluate.ts';
import { examples } from '../help.ts';
import { removalLines } from '../removals.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly replace?: boolean;
  readonly confirmDelete?: readonly string[];
  readonly acceptImplausible?: boolean;
  readonly json?: boolean;
}

export function addLoad(program: Command): void {
  program
    .command('load')
    .description('load a snapshot folder: all of it, or nothing')
    .argument('<folder>', 'the snapshot')
    .option('--dry-run', 'check it only')
    .option('--replace', 'its entity rows are the complete set for each workspace or project that it names')
    .option(
      '--confirm-delete <project-id>',
      'with --replace: a project that may be deleted; give it once for each',
      collect,
    )
    .option('--accept-implausible', 'load rows with more clicks than impressions, too')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('load ./snapshot --dry-run', 'load ./snapshot', 'load ./snapshot --replace --confirm-delete Shop1')}

\`ordinate describe\` prints the tables of a snapshot and their columns.`,
    )
    .action(async (folder: string, options: Options) => {
      const { loadSnapshot } = await import('../../server/load/load.ts');
      const { report, end } = progress();
      try {
        const work = async (stores: Stores) => {
          const loaded = await loadSnapshot(stores, { ...options, folder, report, source: 'snapshot' });
          return withAlerts(loaded, await evaluateAfter(stores, loaded.loaded ? loaded.projects : [], report));
        };
        const summary = await (options.dryRun ? withStoresForDryRun(work) : withStores(work, { create: true }));
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

function collect(id: string, ids: readonly string[] = []): string[] {
  return [...ids, id];
}

/** The results of a load and of the evaluation after it. */
type Loaded<Summary> = Summary & { readonly alerts: { readonly opened: number; readonly resolved: number } };

export function withAlerts<Summary extends LoadSummary>(
  summary: Summary,
  { opened, resolved, warnings }: Awaited<ReturnType<typeof evaluateAfter>>,
): Loaded<Summary> {
  return { ...summary, alerts: { opened, resolved }, warnings: [...summary.warnings, ...warnings] };
}

/** Prints the results of a load. */
export function printSummary(summary: Loaded<LoadSummary>): void {
  const { loaded, tables, projects, removed, warnings, seconds, alerts } = summary;
  for (const warning of warnings) print(`Warning: ${warning}`);
  for (const [table, { rows, firstDay, lastDay }] of Object.entries(tables)) {
    const days = firstDay === undefined ? '' : `, ${firstDay} to ${lastDay}`;
    print(`${table}: ${rows.toLocaleString('en')} rows${days}`);
  }
  for (const line of removalLines(removed, loaded)) print(line);
  const order = removed.unconfirmed.length > 0 ? 'Nothing' : 'The snapshot is in order; nothing';
  const what = loaded ? 'Loaded' : `${order} was loaded (dry run)`;
  print(`${what}. Projects: ${projects.join(', ') || 'none'}. ${seconds.toFixed(1)} s.`);
  if (alerts.opened + alerts.resolved > 0) print(`Alerts: ${alerts.opened} opened, ${alerts.resolved} resolved.`);
}
