import type { Catalog, Values } from './catalog.ts';

/** Writes rows of one table. */
export type Upsert = (row: Values) => number;

/**
 * Makes the function that puts rows into a table of the catalog, in place of those with their keys. It returns how many
 * rows changed: 0 for one that was there already as it is.
 * @param table identifiers of our own, all three
 */
export function upsertInto(
  catalog: Catalog,
  table: string,
  columns: readonly string[],
  key: readonly string[],
): Upsert {
  const list = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
  const values = columns.filter((name) => !key.includes(name));
  const parts = {
    table,
    columns: list(columns),
    values: columns.map((name) => `$${name}`).join(', '),
    key: list(key),
    updates: columns.map((name) => `"${name}" = excluded."${name}"`).join(', '),
    differs: values.map((name) => `"${table}"."${name}" is not excluded."${name}"`).join(' or ') || 'false',
  };
  return (row) => catalog.runTemplate('upsert', parts, row);
}
