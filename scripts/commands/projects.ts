import type { Command } from 'commander';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { readProjectContents } from '../../server/catalog/contents.ts';
import { readCoverage } from '../../server/catalog/manifest.ts';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { findWorkspace } from '../../server/catalog/workspaces.ts';
import { isoInstantOrNull } from '../../server/domain/instants.ts';
import { removeProject } from '../../server/load/remove.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { oneId, projectLines, type RemoveOptions, runRemoval } from '../removals.ts';

export function addProjects(program: Command): void {
  const command = program.command('projects').description('list and remove projects');
  command
    .command('list')
    .description('list projects, with the first and last stored day of each fact table')
    .option('--workspace <id>', 'only of this workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('projects list', 'projects list --workspace acme --json'))
    .action(async ({ workspace, json }: { workspace?: string; json?: boolean }) => {
      const projects = await withStores(({ catalog }) => catalog.snapshot((own) => listed(own, workspace ?? null)));
      if (json) {
        printJson(projects);
        return;
      }
      await printTable(
        projects.map((project) => ({ ...project, coverage: undefined })),
        'There are no projects yet.',
      );
      const coverage = projects.flatMap(({ id, coverage: tables }) =>
        Object.entries(tables).map(([table, { firstDay, lastDay, rows }]) => ({
          project: id,
          table,
          firstDay,
          lastDay,
          rows,
        })),
      );
      if (coverage.length === 0) return;
      print('');
      await printTable(coverage, '');
    });
  command
    .command('remove')
    .description('remove a project, for good, with its facts, keywords, groups, alerts, notes, connections and lists')
    .argument('[id]', 'id of the project')
    .option('--project <id>', 'the same, as other commands have it')
    .option('--confirm <id>', 'the id once more, instead of typing it at a terminal')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('projects remove Shop1 --confirm Shop1'))
    .action(async (given: string | undefined, options: RemoveOptions & { project?: string }) => {
      const id = oneId('project', given, options.project);
      await runRemoval(id, options, {
        what: 'project',
        read: readProjectContents,
        lines: projectLines,
        remove: removeProject,
      });
    });
}

async function listed(catalog: Catalog, workspace: string | null) {
  if (workspace !== null && (await findWorkspace(catalog, workspace)) === undefined) {
    throw new Error(`There is no workspace '${workspace}'.`);
  }
  const projects = await listAllProjects(catalog, workspace);
  return Promise.all(
    projects.map(async (project) => ({
      id: project.id,
      workspace: project.workspaceId,
      domain: project.domain,
      property: project.property,
      setupFinished: project.setupFinished,
      syncStatus: project.syncStatus,
      lastSyncedAt: isoInstantOrNull(project.lastSyncedAt),
      syncedThrough: project.syncedThrough,
      trackedKeywords: project.trackedKeywords,
      coverage: await readCoverage(catalog, project.id),
    })),
  );
}
