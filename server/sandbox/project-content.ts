import { constants, copyFile, link } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { eachRowOfProject, findRow } from '../catalog/entity-rows.ts';
import { filesOfProject, isOfKeywords } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { keywordHistoryFrom } from '../domain/project-ranges.ts';
import { FACTS } from '../load/fact-tables.ts';
import { type Column, ENTITIES, type EntityTable } from '../load/tables.ts';
import type { FactTable } from '../model/tables.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { SandboxColumn, SandboxTable } from './messages.ts';
import type { OpenContent } from './sandbox.ts';

/** The tables of the snapshot that belong to a project. */
const ENTITY_TABLES = ENTITIES.filter(({ name }) => name !== 'workspaces' && name !== 'alert_rules');

export const SANDBOX_TABLES: readonly SandboxTable[] = [...ENTITY_TABLES, ...FACTS].map(({ name, columns }) => ({
  name,
  columns: columns.map(columnOf),
}));

function columnOf({ name, type }: Column): SandboxColumn {
  const stored = type.sql === 'date' && type.name !== 'DATE' ? 'varchar' : type.sql;
  return { name, type: type.name, stored, read: readOf(name, type) };
}

function readOf(name: string, type: Column['type']): string {
  if (type.name === 'TIMESTAMP') return `make_timestamp("${name}")`;
  if (type.sql === 'date') return `"${name}"::date`;
  return type.name === 'VARCHAR[]' ? `from_json("${name}", '["VARCHAR"]')` : `"${name}"`;
}

/** What statements about a project read: its facts, of keywords those in the plan's history, and its entities. */
export function contentOfProject(
  { catalog, files, now }: { catalog: Catalog; files: FileStore; now: () => number },
  project: Project,
): OpenContent {
  return async (tables, { files: folder, isReadOnly }) => {
    const historyFrom = keywordHistoryFrom(project, now());
    const all = project.syncedThrough === null ? [] : (await filesOfProject(catalog, project, null)).files;
    const fromOf = (table: FactTable): Day | null => (isOfKeywords(table) ? historyFrom : null);
    const needed = all.filter(({ table, lastDay }) => tables.includes(table) && lastDay >= (fromOf(table) ?? lastDay));
    using opened = await files.open(needed);
    const content: Record<string, { files: string[]; from: Day | null } | { rows: object[] }> = {};
    for (const name of tables) {
      const entity = ENTITY_TABLES.find((table) => table.name === name);
      content[name] =
        entity === undefined
          ? { files: [], from: fromOf(name as FactTable) }
          : { rows: await rowsOf(catalog, entity, project.id) };
    }
    for (const [index, { table }] of needed.entries()) {
      const name = `${table}-${index}.parquet`;
      await provide(opened.paths[index]!, join(folder, name), isReadOnly);
      (content[table] as { files: string[] }).files.push(name);
    }
    return content;
  };
}

/** Links a file where the process cannot change it, which is not there twice then; else, and from another disk, copies it. */
async function provide(file: string, target: string, isReadOnly: boolean): Promise<void> {
  const copy = (): Promise<void> => copyFile(file, target, constants.COPYFILE_FICLONE);
  await (isReadOnly ? link(file, target).catch(copy) : copy());
}

async function rowsOf(catalog: Catalog, { name, columns }: EntityTable, project: string): Promise<object[]> {
  type Row = Record<string, string | number | null>;
  const of = { table: name, columns: columns.map((column) => column.name) };
  const rows: Row[] = [];
  if (name === 'projects') rows.push((await findRow<Row>(catalog, of, project))!);
  else for await (const some of eachRowOfProject<Row>(catalog, of, project)) rows.push(...some);
  const flags = columns.filter(({ type }) => type.sql === 'boolean').map((column) => column.name);
  return rows.map((row) => ({ ...row, ...Object.fromEntries(flags.map((flag) => [flag, row[flag] === 1])) }));
}
