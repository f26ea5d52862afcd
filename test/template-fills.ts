import { catalogText } from '../server/catalog/entity-rows.ts';
import { ENTITIES, type EntityTable, identifiers } from '../server/load/tables.ts';

/** What fills templates of `sql/usage/` in SQLite. */
export const USAGE_FILLS = { now: 'cast($at as bigint)', hash: '' };

/** What fills a template of `sql/catalog/` for a table, once; nothing if it does not fit the table. */
export function templateFills(name: string, { name: table, columns, key }: EntityTable): Record<string, string>[] {
  const names = columns.map((column) => column.name);
  if (name.endsWith('of_key') && !(names.includes('project_id') && names.includes('id'))) return [];
  if (name.endsWith('of_project') && !names.includes('project_id')) return [];
  if (name.endsWith('of_id') && !names.includes('id')) return [];
  if (name.endsWith('of_workspaces') && !names.includes('project_id')) return [];
  return [
    {
      table,
      row: identifiers(key.slice(0, 1)),
      column: identifiers(key.slice(-1)),
      columns: identifiers(names),
      values: names.map((column) => `$${column}`).join(', '),
      key: identifiers(key),
      updates: names.map((column) => `"${column}" = excluded."${column}"`).join(', '),
      differs: names.map((column) => `"${table}"."${column}" is distinct from excluded."${column}"`).join(' or '),
      matches: key.map((column) => `"${column}" = $${column}`).join(' and '),
    },
  ];
}

interface FilledStatement {
  readonly path: string;
  readonly fills: Record<string, string> | undefined;
  readonly statement: string | { readonly template: string; readonly fills: Record<string, string> };
}

/** Statements that only SQLite has; those that make tables were statements of version 0.2. */
const ONLY_SQLITE = /^(?:catalog\/(?:database\.)?copy_into|usage\/create_)/;

/** A statement for PostgreSQL: itself, or that of each table which fills it. */
export function templatesOf(
  kind: 'catalog' | 'usage',
  path: string,
  entities: readonly EntityTable[] = ENTITIES,
  textOf: (path: string) => string = catalogText,
): FilledStatement[] {
  if (ONLY_SQLITE.test(path)) return [];
  const name = path.slice(kind.length + 1);
  if (kind === 'usage' || !/\{\w+\}/.test(textOf(path))) return [{ path, fills: undefined, statement: name }];
  const all = entities.flatMap((entity) => templateFills(path, entity));
  return all.map((fills) => ({ path, fills, statement: { template: name, fills } }));
}
