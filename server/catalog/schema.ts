import { sqlNames, sqlText } from '../runtime/sql.ts';
import { olderCatalog } from './failures.ts';

/** A database that a text of `sql/schema/` is for. In PostgreSQL, the catalog's has the tables of usage, too. */
export type SchemaStore = 'sqlite' | 'sqlite-usage' | 'postgres';

/** A change of the schema: the text to run, and the version that it makes. */
export interface SchemaChange {
  readonly version: number;
  /** Such as `0101-tags-of-notes`. */
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /** Whether servers of the release before can go on answering afterwards. */
  readonly isRolling: boolean;
}

/** All changes, in order. The first one is the whole schema of release 1.0. */
const CHANGES = sqlNames('schema').map((path) => ({ path, version: Number(/\/(\d{4})-/.exec(path)![1]) }));
const RELEASE_1_0 = CHANGES[0]!.version;
/** The schema version of this release. */
export const SCHEMA_VERSION = CHANGES.at(-1)!.version;

/** The versions that 0.2 and what was developed after it gave their schemas: the first and the last one. */
const BEFORE_1_0: Readonly<Record<SchemaStore, readonly [number, number]>> = {
  sqlite: [33, 39],
  postgres: [16, 23],
  // Without a version; its tables are those of 1.0.
  'sqlite-usage': [0, 0],
};

/**
 * The changes that a database lacks; none if it is of a newer version. Throws for one of a version before 0.2.
 * @param found its version; 0 for an empty database
 */
export function changesSince(store: SchemaStore, found: number): SchemaChange[] {
  const [first, last] = BEFORE_1_0[store];
  const isBefore = found >= first && found <= last;
  if (found !== 0 && found < RELEASE_1_0 && !isBefore) throw olderCatalog(found, first);
  return CHANGES.filter(({ version }) => version > found).map(({ path, version }) => {
    const text = sqlText(path);
    return {
      version,
      name: path.slice(path.indexOf('/') + 1),
      description: descriptionOf(text),
      text: schemaText(text, store, { isTaken: isBefore && version === RELEASE_1_0 }),
      isRolling: store === 'postgres' && !/update catalog_version set schema/.test(text),
    };
  });
}

/** The comment that a text begins with, in one line. */
function descriptionOf(text: string): string {
  return /^(?:--.*\n)+/.exec(text)![0].replaceAll(/^-- ?/gm, '').trim().replaceAll('\n', ' ');
}

/** What a paragraph is for. Without a mark, it is for the catalog of both databases. */
const MARKS = ['sqlite', 'postgres', 'usage', 'new', '0.2'] as const;

/**
 * The text for a database. In `sql/schema/`, the text of SQLite is that of PostgreSQL, too, whose types, collations and
 * tables are replaced; what differs in kind is marked. `-- (postgres)` before a paragraph (up to an empty line), or at the end
 * of a line, is for PostgreSQL alone, `-- (sqlite)` for SQLite; a paragraph after `-- (usage)` makes tables of usage.
 * @param options `isTaken`: for a catalog of 0.2, what it lacks, `-- (new)`, and what changes of it, `-- (0.2)`, which is left
 *   out otherwise
 */
export function schemaText(text: string, store: SchemaStore, { isTaken }: { readonly isTaken: boolean }): string {
  const database = store === 'postgres' ? 'postgres' : 'sqlite';
  const other = store === 'postgres' ? 'sqlite' : 'postgres';
  const paragraphs = text.split(/\n{2,}/).flatMap((paragraph) => {
    const [, marked = ''] = /^-- \((.*)\)\n/.exec(paragraph) ?? [];
    const marks = marked.split(', ').filter((mark) => mark !== '');
    const unknown = marks.find((mark) => !(MARKS as readonly string[]).includes(mark));
    if (unknown !== undefined) throw new Error(`sql/schema/ has a paragraph for '${unknown}'.`);
    const isUsage = marks.includes('usage');
    if (marks.includes(other) || (database === 'sqlite' && isUsage !== (store === 'sqlite-usage'))) return [];
    const isLacking = marks.includes('new') || marks.includes('0.2') || store === 'sqlite-usage';
    if (isTaken ? !isLacking : marks.includes('0.2')) return [];
    const lines = paragraph.split('\n').filter((line) => !line.endsWith(` -- (${other})`));
    const sql = lines.map((line) => line.replace(` -- (${database})`, '')).join('\n');
    const made = isTaken ? sql.replaceAll(/^create (table|index|unique index) /gm, 'create $1 if not exists ') : sql;
    return [database === 'sqlite' ? made : asPostgres(made, isUsage)];
  });
  return `${paragraphs.join('\n\n')}\n`;
}

/** A paragraph as PostgreSQL takes it. Text compares by bytes, as in SQLite; usage, which may be lost, has no log of writes. */
function asPostgres(paragraph: string, isUsage: boolean): string {
  const types: Readonly<Record<string, string>> = {
    text: 'text collate "C"',
    integer: 'bigint',
    real: 'double precision',
  };
  const sql = paragraph
    .replaceAll(/^\) strict(?:, without rowid)?;/gm, ');')
    .replaceAll(
      /^( +|alter table \w+ add column )("?\w+"?) (text|integer|real)\b(?! collate)/gm,
      (_, before: string, name: string, type: string) => `${before}${name} ${types[type]}`,
    );
  return isUsage ? sql.replaceAll(/^create table /gm, 'create unlogged table ') : sql;
}
