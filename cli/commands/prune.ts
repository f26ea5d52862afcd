import type { Command } from 'commander';
import { requireWorkspace } from '../../server/catalog/workspaces.ts';
import { print, printJson, printTable, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly workspace?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addPrune(program: Command): void {
  program
    .command('prune')
    .description(
      'drop facts that are older than their workspace keeps (ORDINATE_KEEP_DAYS, workspaces set --keep-days)',
    )
    .option('--workspace <id>', 'only the projects of this workspace')
    .option('--dry-run', 'show what would be dropped')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('prune --dry-run', 'prune --workspace acme'))
    .action(async ({ workspace, dryRun = false, json }: Options) => {
      const { applyRetention } = await import('../../server/maintenance/retention.ts');
      const { report, end } = progress({ lines: true });
      try {
        const projects = await withStores(async (stores) => {
          if (workspace !== undefined) await requireWorkspace(stores.catalog, workspace);
          return applyRetention(stores, { dryRun, report, ...(workspace === undefined ? {} : { workspace }) });
        });
        end();
        if (json) {
          printJson({ dropped: !dryRun, projects });
          return;
        }
        const rows = projects.flatMap(({ tables, ...project }) => tables.map((table) => ({ ...project, ...table })));
        await printTable(rows, 'Nothing is older than what is kept.');
        if (rows.length > 0) print(dryRun ? 'Nothing was dropped (dry run).' : 'Dropped.');
      } finally {
        end();
      }
    });
}
