import { createInterface } from 'node:readline/promises';
import type { Catalog } from '../server/catalog/catalog.ts';
import type { ProjectContents, WorkspaceContents } from '../server/catalog/projects.ts';
import { count } from '../server/domain/problems.ts';
import type { Removals } from '../server/load/removals.ts';
import type { Stores } from '../server/load/stores.ts';
import { print, printJson, progress, withStores } from './cli.ts';

/** Maximum rows to name per table. */
const SHOWN_ROWS = 5;

/** Streams to ask for a confirmation. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/**
 * Throws unless a removal is confirmed by `--confirm ID`, or by typing the id at a terminal.
 */
export async function confirmRemoval(
  id: string,
  contents: readonly string[],
  confirm: string | undefined,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (confirm === id) return;
  const list = contents.join('\n');
  if (confirm !== undefined) {
    throw new Error(`Nothing was removed: --confirm is '${confirm}' and not '${id}'. What would go:\n${list}`);
  }
  if (!input.isTTY || !output.isTTY) {
    throw new Error(`Nothing was removed: add --confirm ${id} to remove it for good. What would go:\n${list}`);
  }
  output.write(`This removes, for good:\n${list}\n`);
  const lines = createInterface({ input, output });
  try {
    const typed = await lines.question(`Type ${id} to remove it: `);
    if (typed.trim() !== id) throw new Error(`Nothing was removed: '${typed}' is not '${id}'.`);
  } finally {
    lines.close();
  }
}

/** Options of commands that remove something. */
export interface RemoveOptions {
  readonly confirm?: string;
  readonly json?: boolean;
}

/** How to remove a project or workspace. */
interface Removal<T> {
  readonly what: string;
  /** Reads what would be removed; undefined if there is none. */
  readonly read: (catalog: Catalog, id: string) => Promise<T | undefined>;
  readonly lines: (contents: T) => string[];
  readonly remove: (stores: Stores, id: string, onWait: () => void) => Promise<T>;
}

/** Removes something after a confirmation, and prints what was removed. */
export async function runRemoval<T>(id: string, { confirm, json }: RemoveOptions, removal: Removal<T>): Promise<void> {
  const removed = await withStores(async (stores) => {
    const contents = await removal.read(stores.catalog, id);
    if (contents === undefined) throw new Error(`There is no ${removal.what} '${id}'.`);
    await confirmRemoval(id, removal.lines(contents), confirm);
    const { report, end } = progress();
    try {
      return await removal.remove(stores, id, () => report('waiting for a load to end'));
    } finally {
      end();
    }
  });
  if (json) printJson({ removed });
  else print(`Removed:\n${removal.lines(removed).join('\n')}`);
}

/** The id from the argument or option of a command. Throws if there is none, or two different ones. */
export function oneId(what: string, argument: string | undefined, option: string | undefined): string {
  const ids = new Set([argument, option].filter((id) => id !== undefined));
  const [id] = ids;
  if (id === undefined) throw new Error(`Name the ${what} to remove; its id is missing.`);
  if (ids.size > 1) throw new Error(`Name one ${what} to remove, not both '${argument}' and '${option}'.`);
  return id;
}

/** Lines that describe a project and everything that is removed with it. */
export function projectLines(project: ProjectContents): string[] {
  const { id, workspace, property, facts, files, bytes } = project;
  const parts = [
    count(project.keywords, 'keyword'),
    count(project.groups, 'group'),
    count(project.groupMembers, 'group member'),
    count(project.pageGroups, 'page group'),
    count(project.alerts, 'alert'),
    count(project.notes, 'note'),
    count(project.connections, 'connection'),
    count(project.lists, 'stored list'),
    `${count(files, 'fact file')} (${(bytes / 1e6).toFixed(1)} MB)`,
  ].filter((text) => !text.startsWith('0 '));
  const tables = Object.entries(facts).map(
    ([table, { firstDay, lastDay, rows }]) =>
      `    ${table.padEnd(18)} ${firstDay} to ${lastDay}  ${count(rows, 'row')}`,
  );
  const rest = parts.length > 0 ? parts.join(', ') : 'nothing else';
  return [`  project ${id}  ${property}  (workspace ${workspace})`, `    with ${rest}`, ...tables];
}

/** Lines that describe a workspace and everything that is removed with it. */
export function workspaceLines({ id, name, keys, revokedKeys, members, notes, projects }: WorkspaceContents): string[] {
  const parts = [
    count(projects.length, 'project'),
    count(keys, 'active key'),
    count(revokedKeys, 'revoked key'),
    count(members, 'member'),
    count(notes, 'note of the workspace', 'notes of the workspace'),
  ].filter((text) => !text.startsWith('0 '));
  const rest = parts.length > 0 ? parts.join(', ') : 'nothing else';
  return [`  workspace ${id}  ${name}`, `    with ${rest}`, ...projects.flatMap(projectLines)];
}

/** Lines that describe what a replacing load deletes; empty if it deletes nothing. */
export function removalLines({ rows, projects, unconfirmed }: Removals, loaded: boolean): string[] {
  const tables = Object.entries(rows).filter(([table]) => table !== 'projects');
  if (tables.length === 0 && projects.length === 0) return [];
  const lines = tables.map(([table, { rows: number, first }]) => {
    const named = first.slice(0, SHOWN_ROWS).map((row) => Object.values(row).join(' '));
    return `  ${table}: ${count(number, 'row')} (${named.join('; ')}${number > named.length ? '; …' : ''})`;
  });
  return [
    loaded ? 'Deleted, because --replace is given:' : 'The load would delete, because --replace is given:',
    ...lines,
    ...projects.flatMap(projectLines),
    ...(unconfirmed.length > 0
      ? [
          `To delete ${count(unconfirmed.length, 'project')}, it needs ${unconfirmed.map((id) => `--confirm-delete ${id}`).join(' ')}.`,
        ]
      : []),
  ];
}
