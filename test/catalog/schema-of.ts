import type { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';

/** The parts between commas that are in no parentheses. */
function partsOf(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const token of text.match(/'(?:[^']|'')*'|[(),]|[^'(),]+/g) ?? []) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}

/** All that a database of SQLite has beside rows, a column, condition, index, view or trigger a line, in order of their text. */
export function sqliteSchema(db: DatabaseSync): string[] {
  const all = db
    .prepare("select type, name, sql from sqlite_schema where sql is not null and name <> 'sqlite_sequence'")
    .all() as { type: string; name: string; sql: string }[];
  return all
    .flatMap(({ type, name, sql }) => {
      const text = sql
        .replaceAll(/--.*/g, '')
        .replaceAll('"', '')
        .replaceAll(/\s+/g, ' ')
        .trim()
        .replaceAll('not null collate nocase', 'collate nocase not null');
      const [, body, options] = (type === 'table' && /^[^(]*\((.*)\)([^)]*)$/.exec(text)) || [];
      if (body === undefined) return [`${name}: ${text}`];
      return [`table ${name}:${options}`, ...partsOf(body).map((part) => `${name}: ${part}`)];
    })
    .sort();
}

/** As `sqliteSchema`, of the first schema of a database of PostgreSQL. */
const LINES = `
select format('table %s: %s %s', c.relname, c.relpersistence, c.reloptions) as line from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
union all
select format('%s: %s %s%s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    ' collate ' || (select collname from pg_collation o where o.oid = a.attcollation),
    case when a.attnotnull then ' not null' end, ' default ' || pg_get_expr(d.adbin, d.adrelid), ' identity ' || nullif(a.attidentity::text, ''))
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v')
union all
select format('%s: constraint %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
  where connamespace = 'public'::regnamespace
union all
select format('%s: %s', tablename, indexdef) from pg_indexes where schemaname = 'public'
union all
select format('view %s: %s', viewname, definition) from pg_views where schemaname = 'public'
union all
select format('%s: %s', tgrelid::regclass, pg_get_triggerdef(oid)) from pg_trigger
  where not tgisinternal and tgrelid::regclass::text !~ '\\.'
union all
select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f'
union all
select format('aggregate %s %s', a.aggfnoid, row_to_json(a)::jsonb - '{aggfnoid,aggfinalfn}'::text[]) from pg_aggregate a
  join pg_proc p on p.oid = a.aggfnoid where p.pronamespace = 'public'::regnamespace
union all
select format('collation %s', row_to_json(c)::jsonb - '{oid,collnamespace,collowner,collversion}'::text[]) from pg_collation c
  where collnamespace = 'public'::regnamespace`;

export async function postgresSchema(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(LINES);
  return rows.map(({ line }) => line).sort();
}
