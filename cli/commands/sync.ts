import type { Command } from 'commander';
import { isoInstantOrNull } from '../../server/domain/instants.ts';
import type { Stores } from '../../server/load/stores.ts';
import type { SyncStatus } from '../../server/sync/status.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { projectsToSync, syncNow } from '../sync-now.ts';

interface Options {
  readonly project?: readonly string[];
  readonly dryRun?: boolean;
}

export function addSync(program: Command): void {
  const command = program
    .command('sync')
    .description('fetch due data from Search Console for connected projects, publish it and exit')
    .option('--project <id...>', 'only these projects; all connected ones otherwise')
    .option('--dry-run', 'print the windows and the number of requests, without sending any')
    .addHelpText('after', examples('sync', 'sync --project Fw7kd --dry-run', 'sync status --json'))
    .action(async ({ project, dryRun = false }: Options) => {
      if (dryRun) await withStores((stores) => printPlans(stores, project));
      else await syncNow(project);
    });
  command
    .command('status')
    .description('show the stored days, the progress of the history, the last run and the next one')
    .option('--project <id...>', 'only these projects; all connected ones otherwise')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('sync status', 'sync status --project Fw7kd --json'))
    .action(async ({ json }: { json?: boolean }, self: Command) => {
      // The parent command has an option of the same name, which takes the value if it comes first.
      const { project } = self.optsWithGlobals<Options>();
      const { readSyncStatus } = await import('../../server/sync/status.ts');
      const statuses = await withStores(async ({ catalog }) => {
        const all: SyncStatus[] = [];
        for (const id of await projectsToSync(catalog, project)) {
          const status = await readSyncStatus(catalog, id, Date.now());
          if (status !== undefined) all.push(status);
        }
        return all;
      });
      const shown = statuses.map(({ lastRun, nextRun, ...status }) => ({
        ...status,
        lastRun: isoInstantOrNull(lastRun),
        nextRun: isoInstantOrNull(nextRun),
      }));
      if (json) printJson(shown);
      else await printStatuses(shown);
    });
}

async function printPlans(
  { catalog, settings: { keepDays } }: Stores,
  named: readonly string[] | undefined,
): Promise<void> {
  const { planAhead } = await import('../../server/sync/plan-ahead.ts');
  let all = 0;
  const rows: object[] = [];
  for (const project of await projectsToSync(catalog, named)) {
    const { windows, requests } = await planAhead(catalog, project, { now: Date.now(), keepDays });
    all += requests;
    for (const { kind, from, to, requests: count } of windows) {
      rows.push({ project, window: kind, from, to, requests: count });
    }
  }
  await printTable(rows, 'Nothing is due.');
  print(
    `\n${all.toLocaleString('en', { useGrouping: false })} requests; each search appearance takes one more per window.`,
  );
}

type Shown = Omit<SyncStatus, 'lastRun' | 'nextRun'> & { lastRun: string | null; nextRun: string | null };

async function printStatuses(statuses: readonly Shown[]): Promise<void> {
  await printTable(
    statuses.map(({ id, status, lastRun, nextRun, lastError, warning, backfill: { from, through, done, total } }) => ({
      project: id,
      status,
      from,
      through,
      days: `${done} of ${total}`,
      lastRun,
      nextRun: nextRun !== null && Date.parse(nextRun) <= Date.now() ? 'now' : nextRun,
      lastError,
      warning,
    })),
    'No project has a search-console connection; connections set makes one.',
  );
  if (statuses.length === 0) return;
  print('');
  const tables = statuses.flatMap(({ id, tables: all }) =>
    Object.entries(all).map(([table, status]) => ({ project: id, table, ...status })),
  );
  await printTable(tables, '');
}
