import type { Catalog, Values } from './catalog.ts';

/** A table of the catalog, by identifiers of our own. */
export interface Table {
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

type Columns = Pick<Table, 'table' | 'columns'>;

/**
 * Puts rows into a table, in place of those with their keys. Returns those that changed something: one that was there
 * already as it is does not.
 */
export function upsertRows<Row extends Values>(
  own: Catalog,
  { table, columns, key }: Table,
  rows: Iterable<Row>,
): Promise<Row[]> {
  const values = columns.filter((name) => !key.includes(name));
  const parts = {
    table,
    columns: list(columns),
    values: columns.map((name) => `$${name}`).join(', '),
    key: list(key),
    updates: columns.map((name) => `"${name}" = excluded."${name}"`).join(', '),
    differs: values.map((name) => `"${table}"."${name}" is not excluded."${name}"`).join(' or ') || 'false',
  };
  return own.statements.runEach({ template: 'upsert', parts }, rows);
}

/** Removes rows by their keys. Returns those that were there. */
export function removeRows<Row extends Values>(
  own: Catalog,
  { table, key }: Pick<Table, 'table' | 'key'>,
  rows: Iterable<Row>,
): Promise<Row[]> {
  const matches = key.map((name) => `"${name}" = $${name}`).join(' and ');
  return own.statements.runEach({ template: 'delete_row', parts: { table, matches } }, rows);
}

/** The row of a table that has an id, whoever owns it. */
export function findRow<Row extends Values>(catalog: Catalog, of: Columns, id: string): Promise<Row | undefined> {
  return catalog.statements.get<Row>(select('state_of_id', of), { id });
}

/** Every row of a table, some at a time. */
export function eachRow<Row extends Values>(catalog: Catalog, of: Columns): AsyncIterable<readonly Row[]> {
  return catalog.statements.each<Row>(select('state_all', of));
}

/** The rows of a table that belong to a project, some at a time. */
export function eachRowOfProject<Row extends Values>(
  catalog: Catalog,
  of: Columns,
  project: string,
): AsyncIterable<readonly Row[]> {
  return catalog.statements.each<Row>(select('state_of_project', of), { project });
}

/** The rows of a table that belong to no project, some at a time. */
export function eachRowOfWorkspaces<Row extends Values>(catalog: Catalog, of: Columns): AsyncIterable<readonly Row[]> {
  return catalog.statements.each<Row>(select('state_of_workspaces', of));
}

/** Every row of a table with all the columns that it happens to have, some at a time. */
export function eachWholeRow(catalog: Catalog, table: string): AsyncIterable<readonly Values[]> {
  return catalog.statements.each({ template: 'state_all', parts: { table, columns: '*' } });
}

function select(template: string, { table, columns }: Columns): { template: string; parts: Record<string, string> } {
  return { template, parts: { table, columns: list(columns) } };
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
