import { type Command, InvalidArgumentError } from 'commander';
import { readWorkspaceContents } from '../../server/catalog/contents.ts';
import { createWorkspace, listWorkspaces } from '../../server/catalog/workspaces.ts';
import { removeWorkspace } from '../../server/load/remove.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { oneId, type RemoveOptions, runRemoval, workspaceLines } from '../removals.ts';

interface Options {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly keywordHistoryDays: number;
  readonly json?: boolean;
}

export function addWorkspaces(program: Command): void {
  const command = program.command('workspaces').description('create, list and remove workspaces');
  command
    .command('create')
    .description('create a workspace')
    .requiredOption('--id <id>', 'id of the workspace', readText)
    .requiredOption('--name <name>', 'name of the workspace', readText)
    .requiredOption('--plan <plan>', "'free' has no API access; any other name is a paid plan", readText)
    .option('--keyword-history-days <n>', 'days of keyword data that the plan can read', readDays, 486)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces create --id acme --name "Acme" --plan team'))
    .action(async ({ id, name, plan, keywordHistoryDays, json }: Options) => {
      await withStores(({ catalog }) => createWorkspace(catalog, { id, name, plan, keywordHistoryDays }), {
        create: true,
      });
      if (json) printJson({ id, name, plan, keywordHistoryDays });
      else print(`Workspace '${id}' was created.`);
    });
  command
    .command('list')
    .description('list workspaces')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces list'))
    .action(async ({ json }: { json?: boolean }) => {
      const rows = await withStores(({ catalog }) => listWorkspaces(catalog));
      if (json) printJson(rows);
      else await printTable(rows, 'There are no workspaces yet.');
    });
  command
    .command('remove')
    .description('permanently remove a workspace, with its projects, members, keys and notes')
    .argument('[id]', 'id of the workspace')
    .option('--workspace <id>', 'the same as the argument')
    .option('--confirm <id>', 'the id again, instead of typing it at a terminal')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces remove acme --confirm acme'))
    .action(async (given: string | undefined, options: RemoveOptions & { workspace?: string }) => {
      const id = oneId('workspace', given, options.workspace);
      await runRemoval(id, options, {
        what: 'workspace',
        read: readWorkspaceContents,
        lines: workspaceLines,
        remove: removeWorkspace,
      });
    });
}

function readText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

function readDays(text: string): number {
  const days = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(days >= 1 && days <= 365_000)) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return days;
}
