import { type Command, InvalidArgumentError, Option } from 'commander';
import { readWorkspaceContents } from '../../server/catalog/contents.ts';
import { createWorkspace, listWorkspaces, setRequestsPerMinute } from '../../server/catalog/workspaces.ts';
import { removeWorkspace } from '../../server/load/remove.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { readCount } from '../numbers.ts';
import { oneId, type RemoveOptions, runRemoval, workspaceLines } from '../removals.ts';

interface Options {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly keywordHistoryDays: number;
  /** Null: the default. */
  readonly requestsPerMinute?: number | null;
  readonly json?: boolean;
}

export function addWorkspaces(program: Command): void {
  const command = program.command('workspaces').description('create, change, list and remove workspaces');
  command
    .command('create')
    .description('create a workspace')
    .requiredOption('--id <id>', 'id of the workspace', readText)
    .requiredOption('--name <name>', 'name of the workspace', readText)
    .requiredOption('--plan <plan>', "'free' has no API access; any other name is a paid plan", readText)
    .option('--keyword-history-days <n>', 'days of keyword data that the plan can read', readDays, 486)
    .addOption(requestsOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces create --id acme --name "Acme" --plan team'))
    .action(async ({ id, name, plan, keywordHistoryDays, requestsPerMinute = null, json }: Options) => {
      const workspace = { id, name, plan, keywordHistoryDays, requestsPerMinute };
      await withStores(({ catalog }) => createWorkspace(catalog, workspace), { create: true });
      if (json) printJson(workspace);
      else print(`Workspace '${id}' was created.`);
    });
  command
    .command('set')
    .description('change the limits of a workspace, with immediate effect')
    .argument('<id>', 'id of the workspace')
    .addOption(requestsOption())
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('workspaces set acme --requests-per-minute 600', 'workspaces set acme --requests-per-minute default'),
    )
    .action(async (id: string, { requestsPerMinute, json }: Pick<Options, 'requestsPerMinute' | 'json'>) => {
      if (requestsPerMinute === undefined) throw new Error('Nothing to change: give --requests-per-minute.');
      await withStores(({ catalog }) => setRequestsPerMinute(catalog, id, requestsPerMinute));
      if (json) printJson({ id, requestsPerMinute });
      else
        print(
          `Each key of workspace '${id}' may send ${requestsPerMinute ?? 'the default number of'} requests a minute.`,
        );
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

function requestsOption(): Option {
  return new Option(
    '--requests-per-minute <n>',
    'requests that each key of the workspace may send in a minute, instead of the default of 120; default: reset it',
  ).argParser((text: string) => {
    if (text === '0') throw new InvalidArgumentError('It must be at least 1.');
    return text === 'default' ? null : readCount(text);
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
