import { createHash } from 'node:crypto';
import { cacheKey } from '../../domain/cache-key.ts';
import { hasSql, sqlTemplate } from '../../runtime/sql.ts';
import type { Statement, Value, Values } from '../catalog.ts';
import { catalogText } from '../entity-rows.ts';

/** A statement for PostgreSQL. */
export interface Translated {
  /** Of the prepared statement: the same text has the same name in every process. */
  readonly name: string;
  readonly text: string;
  /** The names of `$1`, `$2`, … */
  readonly parameters: readonly string[];
}

/** Tokens to keep or replace: comments, texts, quoted names, casts, parameters, and names with capitals. */
const TOKENS =
  /(--[^\n]*)|('(?:[^']|'')*'|"(?:[^"]|"")*"|::\w+|\$\$[\s\S]*?\$\$)|\$([A-Za-z_]\w*)|\b([a-z_]\w*[A-Z]\w*)\b/g;

/**
 * Translates a statement of `sql/`: `$name` becomes `$1`, and names with capitals are quoted, because PostgreSQL would
 * lower-case them.
 */
export function translate(sql: string): Translated {
  const parameters: string[] = [];
  const text = sql
    .replaceAll(TOKENS, (token, comment?: string, literal?: string, parameter?: string, mixed?: string) => {
      if (comment !== undefined) return '';
      if (literal !== undefined) return literal;
      if (mixed !== undefined) return `"${mixed}"`;
      if (parameter === undefined) return token;
      if (!parameters.includes(parameter)) parameters.push(parameter);
      return `$${parameters.indexOf(parameter) + 1}`;
    })
    .trim();
  return { name: `ordinate_${createHash('sha256').update(text).digest('hex').slice(0, 20)}`, text, parameters };
}

/** The values of a statement in the order of its parameters. Throws for missing or superfluous values, like SQLite. */
export function orderValues({ parameters, text }: Translated, values: Values): Value[] {
  const extra = Object.keys(values).find((name) => !parameters.includes(name));
  if (extra !== undefined) throw new Error(`This statement has no parameter '${extra}': ${text}`);
  return parameters.map((name) => values[name] ?? null);
}

/** Uses the clock of the database (never null), because clocks of machines differ. Indexes only allow short texts. */
const FILLS = { now: 'coalesce(floor(extract(epoch from clock_timestamp()) * 1000)::bigint, $at)', hash: 'md5' };

const translated = new Map<string, Translated>();

/**
 * The statement of a name (or template) of a folder of `sql/`. One for PostgreSQL of the same name takes precedence.
 */
export function statementOf(folder: 'catalog' | 'usage', statement: Statement): Translated {
  const key = cacheKey(folder, statement);
  let found = translated.get(key);
  if (found === undefined) {
    found = translate(textOf(folder, statement));
    translated.set(key, found);
  }
  return found;
}

function textOf(folder: string, statement: Statement): string {
  const name = typeof statement === 'string' ? statement : statement.template;
  const dialectName = `${folder}/postgres/${name}`;
  const path = hasSql(dialectName) ? dialectName : `${folder}/${name}`;
  if (typeof statement !== 'string') return sqlTemplate(path, statement.fills);
  return folder === 'catalog' ? catalogText(path) : sqlTemplate(path, FILLS);
}
