import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../sql/', import.meta.url));
/**
 * Every statement by name, read when the process starts. Later changes to the files (an upgrade in place, a lost mount, no
 * file descriptors) do not affect a running process.
 */
const TEXTS: ReadonlyMap<string, string> = new Map(
  // Not globSync, which takes longer than reading all files.
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sql'))
    .sort()
    .flatMap((path) =>
      statementsOf(path.slice(0, -'.sql'.length).replaceAll('\\', '/'), readFileSync(FOLDER + path, 'utf8')),
    ),
);

/**
 * The statements of a file, each with its name. A file without `-- name:` is one statement. Else each `-- name: one` of
 * `catalog/notes.sql` is `catalog/notes.one`; `-- name: one (postgres)` is `catalog/postgres/notes.one`. `{>note}` stands
 * for what follows `-- part: note` in the same file, and in a comment for the `-- rows:` of this part.
 */
export function statementsOf(path: string, text: string): [name: string, text: string][] {
  const fail = (problem: string): never => {
    throw new Error(`sql/${path}.sql ${problem}.`);
  };
  const [head, ...blocks] = text.split(/^-- (?=(?:name|part): )/m);
  if (blocks.length === 0) return [[path, text]];
  if (head!.replaceAll(/^--.*$/gm, '').trim() !== '') fail('begins with what has no name');
  const [folder, noun] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
  const parts = new Map<string, { readonly sql: string; readonly rows: string }>();
  const named = new Map<string, string>();
  for (const block of blocks) {
    const [, part, name, dialect, sql] = /^(?:part: (\w+)|name: (\w+)(?: \((postgres)\))?)\n(.*)$/s.exec(block) ?? [];
    if (sql === undefined) return fail(`cannot be read at '${block.split('\n', 1)[0]}'`);
    if (part !== undefined) {
      if (parts.has(part)) fail(`has the part '${part}' twice`);
      const rows = /^-- rows: (.*(?:\n-- {3}.*)*)/m.exec(sql)?.[1]?.replaceAll(/\n-- +/g, ' ') ?? '';
      parts.set(part, { sql: sql.replaceAll(/^--.*\n/gm, '').trim(), rows });
      continue;
    }
    const full = `${folder}/${dialect === undefined ? '' : `${dialect}/`}${noun}.${name}`;
    if (named.has(full)) fail(`has the statement '${full}' twice`);
    named.set(full, `${sql.trimEnd()}\n`);
  }
  const unused = new Set(parts.keys());
  const fill = (line: string): string =>
    line.replaceAll(/\{>(\w+)\}/g, (_, name: string) => {
      const part = parts.get(name) ?? fail(`has no part '${name}'`);
      if (line.startsWith('--')) return part.rows;
      unused.delete(name);
      return part.sql;
    });
  const filled = [...named].map(([name, sql]): [string, string] => [name, sql.split('\n').map(fill).join('\n')]);
  for (const part of unused) fail(`never uses its part '${part}'`);
  return filled;
}

/** The text of a statement: of `sql/NAME.sql`, or of the `-- name: VERB` of a file, as `catalog/notes.one`. */
export function sqlText(name: string): string {
  const text = TEXTS.get(name);
  if (text === undefined) throw new Error(`There is no statement ${name}.`);
  return text;
}

/** Whether there is a statement. */
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
    if (text === undefined) throw new Error(`The statement ${name} needs {${blank}}`);
    return text;
  });
}

/** The names of the statements of a folder, or of all: in order of their files and in these. */
export function sqlNames(folder?: string): string[] {
  return [...TEXTS.keys()].filter((name) => folder === undefined || name.slice(0, name.lastIndexOf('/')) === folder);
}
