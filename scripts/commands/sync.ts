import type { Command } from 'commander';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { listConnectedProjects } from '../../server/catalog/sync-projects.ts';
import { isoInstantOrNull } from '../../server/domain/instants.ts';
import type { SyncProgress, SyncResult } from '../../server/sync/run.ts';
import type { SyncStatus } from '../../server/sync/status.ts';
import { print, printJson, printTable, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { progressBar } from '../progress-bar.ts';
import { requireProject } from '../providers.ts';
import { runProject, withSyncStores } from '../sync.ts';

interface Options {
  readonly project?: readonly string[];
  readonly dryRun?: boolean;
}

export function addSync(program: Command): void {
  const command = program
    .command('sync')
    .description('fetch what is due from Search Console for connected projects, publish it and end')
    .option('--project <id...>', 'only these projects; all connected ones otherwise')
    .option('--dry-run', 'print the windows and the number of requests, and ask nothing')
    .addHelpText('after', examples('sync', 'sync --project Fw7kd --dry-run', 'sync status --json'))
    .action(async ({ project, dryRun = false }: Options) => {
      if (dryRun) await withStores(({ catalog }) => printPlans(catalog, project));
      else await runAll(project);
    });
  command
    .command('status')
    .description('show which days are in, how far the history is, the last run and the next one')
    .option('--project <id...>', 'only these projects; all connected ones otherwise')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('sync status', 'sync status --project Fw7kd --json'))
    .action(async ({ json }: { json?: boolean }, self: Command) => {
      // The group has an option of the same name, which takes it where it stands first.
      const { project } = self.optsWithGlobals<Options>();
      const { readSyncStatus } = await import('../../server/sync/status.ts');
      const statuses = await withStores(async ({ catalog }) => {
        const all: SyncStatus[] = [];
        for (const id of await projectsOf(catalog, project)) {
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

/** The projects that are named, or all connected ones. */
async function projectsOf(catalog: Catalog, named: readonly string[] | undefined): Promise<readonly string[]> {
  const connected = await listConnectedProjects(catalog);
  if (named === undefined) return connected;
  for (const id of named) {
    requireProject(catalog, id);
    if (!connected.includes(id)) {
      throw new Error(`Project '${id}' has no search-console connection; connections set makes one.`);
    }
  }
  return [...new Set(named)];
}

async function printPlans(catalog: Catalog, named: readonly string[] | undefined): Promise<void> {
  const { planAhead } = await import('../../server/sync/plan-ahead.ts');
  let all = 0;
  const rows: object[] = [];
  for (const project of await projectsOf(catalog, named)) {
    const { windows, requests } = await planAhead(catalog, project, Date.now());
    all += requests;
    for (const { kind, from, to, requests: count } of windows) rows.push({ project, window: kind, from, to, count });
  }
  await printTable(rows, 'Nothing is due.');
  print(
    `\n${all.toLocaleString('en', { useGrouping: false })} requests; each search appearance takes one more a window.`,
  );
}

async function runAll(named: readonly string[] | undefined): Promise<void> {
  const results: SyncResult[] = [];
  await withSyncStores(async (stores) => {
    const projects = await projectsOf(stores.catalog, named);
    if (projects.length === 0) print('No project has a search-console connection; connections set makes one.');
    for (const id of projects) {
      const { report, end } = progress();
      const bar = progressBar();
      try {
        const result = await runProject(stores, id, {
          report: (state: SyncProgress) => report(`${id} ${bar(state)}`),
          onWait: () => report(`${id}: waiting for another process that syncs it`),
        });
        if (result !== undefined) results.push(result);
      } finally {
        end();
      }
    }
  });
  if (results.length > 0) {
    await printTable(
      results.map(({ retries: _, ...result }) => result),
      '',
    );
  }
  if (results.some(({ outcome }) => outcome !== 'done')) process.exitCode = 1;
}

type Shown = Omit<SyncStatus, 'lastRun' | 'nextRun'> & { lastRun: string | null; nextRun: string | null };

async function printStatuses(statuses: readonly Shown[]): Promise<void> {
  await printTable(
    statuses.map(({ id, status, lastRun, nextRun, lastError, backfill: { from, through, done, total } }) => ({
      project: id,
      status,
      from,
      through,
      days: `${done} of ${total}`,
      lastRun,
      nextRun,
      lastError,
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
