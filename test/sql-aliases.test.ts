// No statement sorts or selects by a name that means both a result and another column of its source.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { catalogText } from '../server/catalog/entity-rows.ts';
import { sqliteIn } from '../server/catalog/location.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { openUsage } from '../server/catalog/open-usage.ts';
import { FACTS } from '../server/load/fact-tables.ts';
import { sqlNames } from '../server/runtime/sql.ts';
import { temporaryFolder } from './world.ts';

/** Words, quoted names, texts, parameters, fills of templates, and single characters. */
const TOKEN = /--.*|(\$[a-z]*\$)[\s\S]*?\1|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\w+|\{>?\w+\}|\w+|::|[^\s]/g;

type Tree = string | readonly Tree[];

/** Tokens, with those between parentheses as a list. */
function treeOf(sql: string): Tree[] {
  const stack: Tree[][] = [[]];
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token.startsWith('--')) continue;
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const inner = stack.pop()!;
      stack.at(-1)!.push(inner);
    } else stack.at(-1)!.push(token);
  }
  return stack[0]!;
}

const isWord = (token: Tree | undefined, ...words: string[]): boolean =>
  typeof token === 'string' && words.includes(token.toLowerCase());
/** The name of an identifier, as databases compare it; undefined for all other tokens. */
function nameOf(token: Tree | undefined): string | undefined {
  if (typeof token !== 'string') return undefined;
  if (token.startsWith('"')) return token.slice(1, -1).toLowerCase();
  return /^[a-z_]\w*$/i.test(token) ? token.toLowerCase() : undefined;
}

function split(tokens: readonly Tree[], isEnd: (token: Tree) => boolean): Tree[][] {
  const parts: Tree[][] = [[]];
  for (const token of tokens) {
    if (isEnd(token)) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}

function mentions(tokens: readonly Tree[], name: string): boolean {
  return tokens.some((token) => (typeof token === 'string' ? nameOf(token) === name : mentions(token, name)));
}

/** Whether clauses name it without the table that it is of. */
function uses(clauses: readonly Tree[], name: string): boolean {
  return clauses.some((token, at) =>
    typeof token === 'string'
      ? nameOf(token) === name && clauses[at - 1] !== '.' && !isWord(clauses[at - 1], 'as')
      : !isWord(token[0], 'select', 'with') && uses(token, name),
  );
}

interface Found {
  /** The names of the results. */
  readonly columns: ReadonlySet<string>;
  /** The results that hide a column which a clause names. */
  readonly hiding: readonly string[];
}

type Columns = ReadonlyMap<string, ReadonlySet<string>>;
const CLAUSES = ['where', 'group', 'having', 'order', 'limit', 'window', 'qualify', 'returning'] as const;

/** Reads a statement or what is between parentheses. @param known columns of tables and of files */
function read(tokens: readonly Tree[], known: Columns): Found {
  const tables = new Map(known);
  const hiding: string[] = [];
  let columns: ReadonlySet<string> = new Set();
  // with NAME as (…)
  for (const [at, token] of tokens.entries()) {
    if (!Array.isArray(token)) continue;
    const found = read(token as Tree[], tables);
    hiding.push(...found.hiding);
    const back = tokens
      .slice(Math.max(0, at - 4), at)
      .filter((word) => !isWord(word, 'not', 'materialized', 'recursive'));
    const name = nameOf(back.at(-2));
    if (isWord(back.at(-1), 'as') && name !== undefined) tables.set(name, found.columns);
  }
  for (const select of split(tokens, (token) => isWord(token, 'union', 'except', 'intersect'))) {
    const start = select.findIndex((token) => isWord(token, 'select'));
    if (start < 0) continue;
    const from = select.findIndex((token, at) => at > start && isWord(token, 'from'));
    const list = select.slice(start + 1, from < 0 ? select.length : from);
    const rest = from < 0 ? [] : select.slice(from + 1);
    const end = rest.findIndex((token) => isWord(token, ...CLAUSES));
    const source = columnsOf(end < 0 ? rest : rest.slice(0, end), tables);
    const results = new Set<string>();
    for (const item of split(list, (token) => token === ',')) {
      const alias = isWord(item.at(-2), 'as') ? nameOf(item.at(-1)) : undefined;
      const last = nameOf(item.at(-1));
      if (alias === undefined) {
        if (item.at(-1) === '*') for (const name of source) results.add(name);
        else if (last !== undefined) results.add(last);
        continue;
      }
      results.add(alias);
      if (source.has(alias) && uses(rest, alias) && !mentions(item.slice(0, -2), alias)) hiding.push(alias);
    }
    if (columns.size === 0) columns = results;
  }
  return { columns, hiding };
}

/** The columns of everything after FROM. */
function columnsOf(tokens: readonly Tree[], tables: Columns): Set<string> {
  const columns = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    const isSource = at === 0 || isWord(tokens[at - 1], 'join', 'from', 'lateral') || tokens[at - 1] === ',';
    if (!isSource) continue;
    const name = nameOf(token);
    const found = Array.isArray(token) ? read(token as Tree[], tables).columns : (tables.get(name ?? '') ?? []);
    for (const column of found) columns.add(column);
  }
  return columns;
}

/** The columns of all tables of a database. */
function tablesOf(db: DatabaseSync): [string, Set<string>][] {
  const tables = db.prepare("select name from sqlite_schema where type in ('table', 'view')").all() as {
    name: string;
  }[];
  return tables.map(({ name }) => [
    name.toLowerCase(),
    new Set(
      (db.prepare('select name from pragma_table_info($name)').all({ $name: name }) as { name: string }[]).map(
        (column) => column.name.toLowerCase(),
      ),
    ),
  ]);
}

/** The columns of a stored list. */
const LIST = ['text', 'clicks', 'impressions', 'sum_position', 'rank'];
const FACT_COLUMNS = new Map(FACTS.map(({ name, columns }) => [name as string, columns.map((column) => column.name)]));

/** The columns of the files that a statement reads, by the tables that its comment names; of all if it names none. */
function columnsOfFiles(name: string, text: string): Set<string> {
  if (/^lists\/(list_|joined_)/.test(name)) return new Set(LIST);
  // Files of the search engine's export, whose columns have names of their own.
  if (name.startsWith('load/bulk-export/')) return new Set();
  const named = [...(/^(?:--.*\n)+/.exec(text)?.[0] ?? '').matchAll(/\w+/g)].flatMap(
    ([word]) => FACT_COLUMNS.get(word) ?? [],
  );
  return new Set(named.length > 0 ? named : [...LIST, ...[...FACT_COLUMNS.values()].flat()]);
}

let tables: [string, Set<string>][] = [];
t.before(async () => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
  tables = ['catalog', 'usage'].flatMap((name) => {
    using db = new DatabaseSync(join(folder, `${name}.sqlite`));
    return tablesOf(db);
  });
});

const hidingIn = (name: string, text: string): readonly string[] =>
  read(treeOf(text), new Map([...tables, ['read_parquet', columnsOfFiles(name, text)]])).hiding;

t.test('no statement of the product', async (t) => {
  const names = sqlNames().filter((name) => !name.startsWith('schema/'));
  t.ok(names.length > 500, 'all of sql/ is read');
  const found = names.map((name) => [name, hidingIn(name, catalogText(name))] as const);
  t.strictSame(
    found.filter(([, hiding]) => hiding.length > 0),
    [],
  );
});

t.test('what is refused and what is not', async (t) => {
  for (const [expected, name, text] of [
    // The fault that made every filtered list alphabetical.
    [
      ['rank'],
      'lists/list_x',
      'select text, row_number() over (order by text) as rank from read_parquet($file) order by rank',
    ],
    [
      [],
      'lists/list_x',
      'select text, row_number() over (order by text) as text_rank from read_parquet($file) order by rank',
    ],
    [
      [],
      'lists/list_x',
      'select text, row_number() over (order by text) as rank from read_parquet($file) as f order by f.rank',
    ],
    [[], 'lists/list_x', 'select clicks::double as clicks from read_parquet($file) order by clicks'],
    [['date'], 'facts/x', 'select url, max(clicks) as date from read_parquet($files) group by url order by date'],
    [['name'], 'catalog/x', "select 'a' as name from projects p join groups g on g.project_id = p.id order by name"],
    [['one'], 'facts/x', 'with a as (select 1 as one) select 2 as one from a where one = 1'],
    [['one'], 'facts/x', 'select x from (select 2 as one from (select 1 as one) order by one)'],
    [['id'], 'catalog/x', 'insert into notes select project_id as "id" from groups g where (id = 1)'],
  ] as const) {
    t.strictSame(hidingIn(name, text), expected, text);
  }
});
