import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../sql/', import.meta.url));
/**
 * Every SQL file by name, read when the process starts. Later changes to the files (an upgrade in place, a lost mount, no
 * file descriptors) do not affect a running process.
 */
const TEXTS: ReadonlyMap<string, string> = new Map(
  // Not globSync, which takes longer than reading all files.
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .sort()
    .map((path) => [path.slice(0, -'.sql'.length).replaceAll('\\', '/'), readFileSync(FOLDER + path, 'utf8')]),
);

/** The text of `sql/NAME.sql`. */
export function sqlText(name: string): string {
  const text = TEXTS.get(name);
  if (text === undefined) throw new Error(`There is no sql/${name}.sql.`);
  return text;
}

/** Whether there is a `sql/NAME.sql`. */
export function hasSql(name: string): boolean {
  return TEXTS.has(name);
}

/**
 * The text of a SQL template. Each `{name}` is replaced by identifiers or SQL from our own table declarations, never by
 * values: those are bound.
 */
export function sqlTemplate(name: string, fills: Readonly<Record<string, string>>): string {
  return sqlText(name).replaceAll(/\{(\w+)\}/g, (_, blank: string) => {
    const text = fills[blank];
    if (text === undefined) throw new Error(`sql/${name}.sql needs {${blank}}`);
    return text;
  });
}

/** The names of the SQL files of a folder, in order of their names. */
export function sqlNames(folder: string): string[] {
  return [...TEXTS.keys()].filter((name) => name.slice(0, name.lastIndexOf('/')) === folder);
}
