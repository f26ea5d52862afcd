import type { Catalog } from '../server/catalog/catalog.ts';
import { requireProject } from '../server/catalog/projects.ts';
import { listConnectedProjects } from '../server/catalog/sync-projects.ts';
import { runWorkers } from '../server/sync/at-once.ts';
import type { SyncResult, SyncStores } from '../server/sync/run-options.ts';
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

/**
 * Syncs projects, several at once, with a progress bar, and prints the results in the order of the projects. If one fails,
 * the process fails, after the others.
 */
export async function syncNow(named: readonly string[] | undefined, { quiet = false } = {}): Promise<void> {
  const { results, errors } = await withSyncStores(async (stores) => {
    const projects = await projectsToSync(stores.catalog, named);
    if (projects.length === 0) print('No project has a search-console connection; connections set makes one.');
    const ended = await runAll(stores, projects);
    const { report, end } = progress();
    try {
      const { opened, resolved, warnings } = await evaluateAfter(stores, projects, report);
      end();
      for (const warning of warnings) process.stderr.write(`${warning}\n`);
      if (!quiet && opened + resolved > 0) print(`Alerts: ${opened} opened, ${resolved} resolved.`);
    } finally {
      end();
    }
    return ended;
  });
  if (!quiet && results.length > 0) await printTable(results, '');
  if (results.some(({ outcome }) => outcome !== 'done')) process.exitCode = 1;
  if (errors.length > 0)
    throw new AggregateError(errors, [...new Set(errors.map(({ message }) => message))].join('\n'));
}

/** Syncs projects; returns the results, in the order of the projects, and the errors of failed runs. */
async function runAll(
  stores: SyncStores,
  projects: readonly string[],
): Promise<{ results: SyncResult[]; errors: Error[] }> {
  const { report, end } = progress();
  const bar = progressBar(projects);
  const results = new Map<string, SyncResult>();
  const errors: Error[] = [];
  const left = [...projects];
  try {
    await runWorkers(async (onWait) => {
      const id = left.shift();
      if (id === undefined) return false;
      try {
        const result = await runProject(stores, id, {
          report: (state) => report(bar.running(state)),
          onWait: (why) => {
            onWait();
            report(bar.waiting(id, why));
          },
        });
        if (result !== undefined) results.set(id, result);
      } catch (error) {
        errors.push(error instanceof Error ? error : new Error(String(error)));
      }
      report(bar.ended(id));
      return true;
    });
  } finally {
    end();
  }
  return { results: projects.flatMap((id) => results.get(id) ?? []), errors };
}
