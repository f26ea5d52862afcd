import type { Catalog, Values } from './catalog.ts';

/** A table of the catalog. */
export interface Table {
  readonly table: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

type Columns = Pick<Table, 'table' | 'columns'>;

/**
 * Upserts rows by their keys. Returns the rows that were new or different.
 */
export function upsertRows<Row extends Values>(
  tx: Catalog,
  { table, columns, key }: Table,
  rows: Iterable<Row>,
): Promise<Row[]> {
  const values = columns.filter((name) => !key.includes(name));
  const fills = {
    table,
    columns: list(columns),
    values: columns.map((name) => `$${name}`).join(', '),
    key: list(key),
    updates: columns.map((name) => `"${name}" = excluded."${name}"`).join(', '),
    differs: values.map((name) => `"${table}"."${name}" is distinct from excluded."${name}"`).join(' or ') || 'false',
  };
  return tx.statements.runEach({ template: 'rows.put', fills }, rows);
}

/** Removes rows by their keys. Returns the rows that existed. */
export function removeRows<Row extends Values>(
  tx: Catalog,
  { table, key }: Pick<Table, 'table' | 'key'>,
  rows: Iterable<Row>,
): Promise<Row[]> {
  const matches = key.map((name) => `"${name}" = $${name}`).join(' and ');
  return tx.statements.runEach({ template: 'rows.remove', fills: { table, matches } }, rows);
}

/** The row of a table with an id, regardless of its owner. */
export function findRow<Row extends Values>(catalog: Catalog, of: Columns, id: string): Promise<Row | undefined> {
  return catalog.statements.get<Row>(select('rows.of_id', of), { id });
}

/** The row of a table that belongs to a project, by its id in the project. */
export function findRowOfProject<Row extends Values>(
  catalog: Catalog,
  of: Columns,
  key: { readonly project: string; readonly id: string },
): Promise<Row | undefined> {
  return catalog.statements.get<Row>(select('rows.of_key', of), key);
}

/** All rows of a table, in batches. */
export function eachRow<Row extends Values>(catalog: Catalog, of: Columns): AsyncIterable<readonly Row[]> {
  return catalog.statements.each<Row>(select('rows.all', of));
}

/** The rows of a project, in batches. */
export function eachRowOfProject<Row extends Values>(
  catalog: Catalog,
  of: Columns,
  project: string,
): AsyncIterable<readonly Row[]> {
  return catalog.statements.each<Row>(select('rows.of_project', of), { project });
}

/** The rows without a project, in batches. */
export function eachRowOfWorkspaces<Row extends Values>(catalog: Catalog, of: Columns): AsyncIterable<readonly Row[]> {
  return catalog.statements.each<Row>(select('rows.of_workspaces', of));
}

/** All rows of a table with all existing columns, in batches. */
export function eachWholeRow(catalog: Catalog, table: string): AsyncIterable<readonly Values[]> {
  return catalog.statements.each({ template: 'rows.all', fills: { table, columns: '*' } });
}

function select(template: string, { table, columns }: Columns): { template: string; fills: Record<string, string> } {
  return { template, fills: { table, columns: list(columns) } };
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
