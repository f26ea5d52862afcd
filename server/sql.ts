import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../sql/', import.meta.url));
const texts = new Map<string, string>();

/** The text of `sql/NAME.sql`, read once. */
export function sqlText(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(`${FOLDER}${name}.sql`, 'utf8');
    texts.set(name, text);
  }
  return text;
}

/**
 * The text of a SQL template: `{name}` stands for a list of identifiers that our own table declarations give.
 * Values never come this way; they are bound.
 */
export function sqlTemplate(name: string, parts: Readonly<Record<string, string>>): string {
  return sqlText(name).replaceAll(/\{(\w+)\}/g, (_, part: string) => {
    const text = parts[part];
    if (text === undefined) throw new Error(`sql/${name}.sql wants {${part}}`);
    return text;
  });
}

/** The names of the SQL files of a folder, in order of their names. */
export function sqlNames(folder: string): string[] {
  return globSync(`${FOLDER}${folder}/*.sql`)
    .map((path) => path.slice(FOLDER.length, -'.sql'.length))
    .sort();
}
