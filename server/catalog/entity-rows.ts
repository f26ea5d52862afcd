import { sqlText } from '../runtime/sql.ts';
import type { Catalog, Value, Values } from './catalog.ts';
import { type Entity, type EntityName, FIELDS, type Field } from './entities.ts';

/**
 * The text of a statement of the catalog. `{notes_fields}` stands for the fields of a note, of a table that is called `notes`
 * in the statement, and in its comment for their names and types.
 * @param name such as `catalog/notes.one`
 */
export function catalogText(name: string): string {
  const fill = (line: string): string =>
    line.replaceAll(/\{(\w+)_fields\}/g, (_, entity: string) => {
      const fields = FIELDS[entity as EntityName];
      if (fields === undefined) throw new Error(`The statement ${name} names fields of '${entity}', which has none.`);
      const each = line.startsWith('--')
        ? fields.map((field) => `${field.name} ${storedType(field)}`)
        : fields.map(({ column, name }) => `${entity}.${column}${column === name ? '' : ` as ${name}`}`);
      return each.join(', ');
    });
  return sqlText(name).split('\n').map(fill).join('\n');
}

const WHOLE_NUMBERS: readonly Field['type'][] = ['flag', 'order', 'historyDays', 'instant', 'pastInstant'];
const JSON_TEXTS: readonly Field['type'][] = ['textList', 'groupRule', 'alertRule'];

function storedType({ type }: Field): 'integer' | 'text' {
  return WHOLE_NUMBERS.includes(type) ? 'integer' : 'text';
}

/** The entity of a row of `{notes_fields}`, without other columns of the row. */
export function entityOf<Name extends EntityName>(name: Name, row: Readonly<Record<string, Value>>): Entity<Name> {
  const read = ({ name, type }: Field): unknown => {
    const value = row[name]!;
    if (type === 'flag') return value === 1;
    return JSON_TEXTS.includes(type) && value !== null ? JSON.parse(String(value)) : value;
  };
  return Object.fromEntries(FIELDS[name].map((field) => [field.name, read(field)])) as Entity<Name>;
}

/** What belongs to a project, for its answers. */
export function withoutProject<Of extends { readonly projectId: string }>(of: Of): Omit<Of, 'projectId'> {
  const { projectId: _projectId, ...rest } = of;
  return rest;
}

/** The row of an entity, by its columns. */
export function rowOf<Name extends EntityName>(name: Name, entity: Entity<Name>): Record<string, Value> {
  const store = ({ name, type }: Field): Value => {
    const value = (entity as Readonly<Record<string, unknown>>)[name];
    if (type === 'flag') return Number(value);
    return JSON_TEXTS.includes(type) && value !== null ? JSON.stringify(value) : (value as Value);
  };
  return Object.fromEntries(FIELDS[name].map((field) => [field.column, store(field)]));
}

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
