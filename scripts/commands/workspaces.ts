import { type Command, InvalidArgumentError } from 'commander';
import { readWorkspaceContents } from '../../server/catalog/contents.ts';
import { createWorkspace, findWorkspace, listWorkspaces, setKeepDays } from '../../server/catalog/workspaces.ts';
import type { KeepDays } from '../../server/domain/retention.ts';
import { removeWorkspace } from '../../server/load/remove.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { oneId, type RemoveOptions, runRemoval, workspaceLines } from '../removals.ts';

interface Options {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly keywordHistoryDays: number;
  /** Commander takes null for an empty value. */
  readonly keepDays: number | 'default';
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
    .option('--keep-days <n>', KEEP_HELP, readKeepDays, 'default')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces create --id acme --name "Acme" --plan team'))
    .action(async ({ json, ...workspace }: Options) => {
      const { id, name, plan, keywordHistoryDays } = workspace;
      const created = { id, name, plan, keywordHistoryDays, keepDays: keepDaysOf(workspace) };
      await withStores(({ catalog }) => createWorkspace(catalog, created), { create: true });
      if (json) printJson(created);
      else print(`Workspace '${id}' was created.`);
    });
  command
    .command('set')
    .description('change how long a workspace keeps facts')
    .argument('<id>', 'id of the workspace')
    .requiredOption('--keep-days <n>', KEEP_HELP, readKeepDays)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces set acme --keep-days 400', 'workspaces set acme --keep-days default'))
    .action(async (id: string, { json, ...options }: Pick<Options, 'keepDays' | 'json'>) => {
      const keepDays = keepDaysOf(options);
      const workspace = await withStores(async ({ catalog }) => {
        await setKeepDays(catalog, id, keepDays);
        return findWorkspace(catalog, id);
      });
      if (json) printJson(workspace);
      else
        print(`Workspace '${id}' keeps ${keepText(keepDays)}. 'ordinate prune --dry-run' shows what would be dropped.`);
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

const KEEP_HELP = "days of facts to keep, in whole months; 'all', or 'default' for ORDINATE_KEEP_DAYS";

function keepText(keepDays: KeepDays): string {
  return keepDays === null
    ? 'what ORDINATE_KEEP_DAYS says'
    : keepDays === 0
      ? 'all facts'
      : `${keepDays} days of facts`;
}

function keepDaysOf({ keepDays }: Pick<Options, 'keepDays'>): KeepDays {
  return keepDays === 'default' ? null : keepDays;
}

function readKeepDays(text: string): number | 'default' {
  if (text === 'default') return text;
  if (text === 'all') return 0;
  const days = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (days >= 1 && days <= 36_500) return days;
  throw new InvalidArgumentError("It must be a whole number from 1 to 36500, 'all' or 'default'.");
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
