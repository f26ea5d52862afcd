import { type Command, InvalidArgumentError, Option } from 'commander';
import { readWorkspaceContents } from '../../server/catalog/projects.ts';
import {
  createWorkspace,
  findWorkspace,
  listWorkspaces,
  setKeepDays,
  setRequestsPerMinute,
} from '../../server/catalog/workspaces.ts';
import type { KeepDays } from '../../server/domain/retention.ts';
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
  // Not null, which commander takes for an empty value.
  readonly requestsPerMinute?: number | 'default';
  readonly keepDays?: number | 'default';
  readonly json?: boolean;
}

type Limits = Pick<Options, 'requestsPerMinute' | 'keepDays' | 'json'>;

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
    .option('--keep-days <n>', KEEP_HELP, readKeepDays)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('workspaces create --id acme --name "Acme" --plan team'))
    .action(async ({ id, name, plan, keywordHistoryDays, json, ...limits }: Options) => {
      const [requestsPerMinute, keepDays] = [orNull(limits.requestsPerMinute), orNull(limits.keepDays)];
      const workspace = { id, name, plan, keywordHistoryDays, requestsPerMinute, keepDays };
      await withStores(({ catalog }) => createWorkspace(catalog, workspace), { create: true });
      if (json) printJson(workspace);
      else print(`Workspace '${id}' was created.`);
    });
  command
    .command('set')
    .description('change the limits of a workspace, with immediate effect')
    .argument('<id>', 'id of the workspace')
    .addOption(requestsOption())
    .option('--keep-days <n>', KEEP_HELP, readKeepDays)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'workspaces set acme --requests-per-minute 600',
        'workspaces set acme --requests-per-minute default',
        'workspaces set acme --keep-days 400',
      ),
    )
    .action(async (id: string, { requestsPerMinute, keepDays, json }: Limits) => {
      if (requestsPerMinute === undefined && keepDays === undefined) {
        throw new Error('Nothing to change: give --requests-per-minute or --keep-days.');
      }
      const workspace = await withStores(({ catalog }) =>
        catalog.transaction(async (tx) => {
          if (requestsPerMinute !== undefined) await setRequestsPerMinute(tx, id, orNull(requestsPerMinute));
          if (keepDays !== undefined) await setKeepDays(tx, id, orNull(keepDays));
          return findWorkspace(tx, id);
        }),
      );
      if (json) {
        printJson(workspace);
        return;
      }
      if (requestsPerMinute !== undefined) {
        print(
          `Each key of workspace '${id}' may send ${orNull(requestsPerMinute) ?? 'the default number of'} requests a minute.`,
        );
      }
      if (keepDays !== undefined) {
        const kept = keepText(orNull(keepDays));
        print(`Workspace '${id}' keeps ${kept}. 'ordinate prune --dry-run' shows what would be dropped.`);
      }
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

function orNull(given: number | 'default' = 'default'): number | null {
  return given === 'default' ? null : given;
}

function readKeepDays(text: string): number | 'default' {
  if (text === 'default') return text;
  if (text === 'all') return 0;
  const days = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (days >= 1 && days <= 36_500) return days;
  throw new InvalidArgumentError("It must be a whole number from 1 to 36500, 'all' or 'default'.");
}

function requestsOption(): Option {
  return new Option(
    '--requests-per-minute <n>',
    'requests that each key of the workspace may send in a minute, instead of the default of 120; default: reset it',
  ).argParser((text: string) => {
    if (text === '0') throw new InvalidArgumentError('It must be at least 1.');
    return text === 'default' ? text : readCount(text);
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
