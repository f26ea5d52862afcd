import type { Catalog } from '../server/catalog/catalog.ts';
import { requireProject } from '../server/catalog/projects.ts';
import { listConnectedProjects } from '../server/catalog/sync-projects.ts';
import type { SyncProgress, SyncResult } from '../server/sync/run-options.ts';
import { print, printTable, progress } from './cli.ts';
import { evaluateAfter } from './evaluate.ts';
import { progressBar } from './progress-bar.ts';
import { runProject, withSyncStores } from './sync.ts';

/** The named projects, or all connected ones. Throws if one cannot be synced. */
export async function projectsToSync(
  catalog: Catalog,
  named: readonly string[] | undefined,
): Promise<readonly string[]> {
  const connected = await listConnectedProjects(catalog);
  if (named === undefined) return connected;
  for (const id of named) {
    await requireProject(catalog, id);
    if (!connected.includes(id)) {
      throw new Error(`Project '${id}' has no search-console connection; connections set makes one.`);
    }
  }
  return [...new Set(named)];
}

/** Syncs projects one after the other, with a progress bar, and prints the results. If one fails, the process fails. */
export async function syncNow(named: readonly string[] | undefined, { quiet = false } = {}): Promise<void> {
  const results: SyncResult[] = [];
  await withSyncStores(async (stores) => {
    const projects = await projectsToSync(stores.catalog, named);
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
    const { report, end } = progress();
    try {
      const { opened, resolved, warnings } = await evaluateAfter(stores, projects, report);
      end();
      for (const warning of warnings) process.stderr.write(`${warning}\n`);
      if (!quiet && opened + resolved > 0) print(`Alerts: ${opened} opened, ${resolved} resolved.`);
    } finally {
      end();
    }
  });
  if (!quiet && results.length > 0) await printTable(results, '');
  if (results.some(({ outcome }) => outcome !== 'done')) process.exitCode = 1;
}
