/** A column of rows: its name and its type. */
export type Column = readonly [name: string, type: string | undefined];

/**
 * The columns that `-- rows: id text, createdAt integer` says of a statement, at the end of its comment; none without it. A
 * `boolean` is 0 or 1.
 */
export function rowsOf(text: string): Column[] {
  const comment = /^(?:--.*\n)+/.exec(text)?.[0] ?? '';
  const [, rows] = /^-- rows: ((?:.*\n)(?:-- {3}.*\n)*)$/m.exec(comment) ?? [];
  if (rows === undefined) return [];
  return rows
    .replaceAll(/\n(?:-- +)?/g, ' ')
    .trim()
    .split(/,\s*/)
    .map((column): Column => {
      const [name, type] = column.split(' ');
      return [name!, type];
    });
}

/** What values of each type are in JavaScript. */
export const TYPES: Readonly<Record<string, 'string' | 'number'>> = {
  text: 'string',
  integer: 'number',
  real: 'number',
  boolean: 'number',
};
