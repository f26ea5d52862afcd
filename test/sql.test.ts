// Every statement is documented, its database can prepare it, and lookups use an index.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { catalogText } from '../server/catalog/entity-rows.ts';
import { sqliteIn } from '../server/catalog/location.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { openUsage } from '../server/catalog/open-usage.ts';
import { Engine } from '../server/facts/duckdb/engine.ts';
import { ENTITIES } from '../server/load/tables.ts';
import { sqlNames, sqlTemplate, type sqlText, statementsOf } from '../server/runtime/sql.ts';
import { type Column, rowsOf, TYPES } from './statement-rows.ts';
import { templateFills, USAGE_FILLS } from './template-fills.ts';
import { temporaryFolder } from './world.ts';

const root = join(import.meta.dirname, '../sql');
const FILES = globSync('**/*.sql', { cwd: root }).sort();
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
/** The statements of all files, as the product reads them, the texts of the schema apart. */
const STATEMENTS = FILES.filter((file) => !file.startsWith('schema/')).flatMap((file) =>
  statementsOf(file.slice(0, -'.sql'.length), textOf(file)),
);

/** The SQL without comments and quoted texts. */
function bare(text: string): string {
  return text.replaceAll(/--.*|(\$[a-z]+\$)[\s\S]*?\1|'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (found) =>
    found[0] === '-' ? '' : '_',
  );
}

/** The comment that a file starts with. */
function comment(text: string): string {
  return /^(?:--.*\n)+/.exec(text)?.[0] ?? '';
}

t.test('every file and every statement starts with a comment', async (t) => {
  t.ok(STATEMENTS.length > 500, 'all of sql/ is checked');
  const texts = [...FILES.map((file) => [file, textOf(file)] as const), ...STATEMENTS];
  t.strictSame(
    texts.filter(([, text]) => !/^-- \S.{8,}/.test(comment(text))),
    [],
    'nothing without a comment',
  );
  t.strictSame(
    texts.filter(([, text]) => !text.endsWith('\n') || text.endsWith('\n\n')),
    [],
    'all end with one line break',
  );
});

t.test('every name stands for exactly one statement', async (t) => {
  const statements = (text: string): string[] =>
    bare(text)
      .split(';')
      .filter((statement) => statement.trim() !== '');
  t.strictSame(
    STATEMENTS.filter(([, text]) => statements(text).length !== 1),
    [],
  );
  t.equal(new Set(STATEMENTS.map(([name]) => name)).size, STATEMENTS.length, 'no name twice');
});

t.test('the comment names every parameter and no other', async (t) => {
  const wrong: string[] = [];
  const checked = STATEMENTS.filter(([name]) => /^(catalog|facts|alerts|lists|trino|usage)\/[^/]+$/.test(name));
  t.ok(checked.length > 350, 'all of them');
  for (const [statement, text] of checked) {
    const used = new Set(bare(text).match(/\$\w+/g));
    const documented = new Set(comment(text).match(/\$\w+/g));
    for (const name of used.difference(documented)) wrong.push(`${statement}: ${name} is not in the comment`);
    for (const name of documented.difference(used)) wrong.push(`${statement}: ${name} is only in the comment`);
  }
  t.strictSame(wrong, []);
});

t.test('a file has several statements, each with a name', async (t) => {
  const notes = [
    '-- Notes.',
    '',
    '-- part: columns',
    '-- Of a note.',
    '-- rows: id text,',
    '--   text text',
    'n.id,',
    '  n.text',
    '',
    '-- name: one',
    '-- A note. $id.',
    '-- rows: {>columns}',
    'select {>columns} from notes n where n.id = $id',
    '',
    '-- name: one (postgres)',
    '-- As above. $id.',
    '-- rows: {>columns}, one integer',
    'select {>columns}, 1 as one from notes n where n.id = $id',
    '',
    '-- name: remove',
    '-- Deletes it. {table}; $id.',
    'delete from {table} -- name: a comment',
    'where id = $id',
    '',
  ];
  const read = (...lines: string[]) => statementsOf('catalog/notes', lines.join('\n'));
  t.strictSame(read(...notes), [
    [
      'catalog/notes.one',
      '-- A note. $id.\n-- rows: id text, text text\nselect n.id,\n  n.text from notes n where n.id = $id\n',
    ],
    [
      'catalog/postgres/notes.one',
      '-- As above. $id.\n-- rows: id text, text text, one integer\nselect n.id,\n  n.text, 1 as one from notes n where n.id = $id\n',
    ],
    ['catalog/notes.remove', '-- Deletes it. {table}; $id.\ndelete from {table} -- name: a comment\nwhere id = $id\n'],
  ]);
  t.strictSame(read('-- Deletes all.', 'delete from notes', ''), [
    ['catalog/notes', '-- Deletes all.\ndelete from notes\n'],
  ]);
  t.throws(() => read(...notes, ...notes), /sql\/catalog\/notes\.sql has the part 'columns' twice/);
  t.throws(() => read(...notes, ...notes.slice(9)), /has the statement 'catalog\/notes\.one' twice/);
  t.throws(() => read(...notes.slice(9)), /has no part 'columns'/);
  t.throws(() => read(...notes, '-- part: other', 'n.date'), /never uses its part 'other'/);
  for (const name of ['-- name: one (mysql)', '-- name: one two', '-- name: notes.one', '-- part: a (postgres)']) {
    t.throws(() => read(name, 'select 1', ''), /cannot be read at '(?:name|part): /, name);
  }
  t.throws(() => read('-- Notes.', 'select 1', '-- name: one', 'select 2'), /begins with what has no name/);
});

t.test('every statement of the catalog and of usage has a caller, and every caller a statement', async (t) => {
  const code = globSync('server/catalog/**/*.ts', { cwd: join(root, '..') })
    .map((file) => readFileSync(join(root, '..', file), 'utf8'))
    .join('\n');
  // Encrypted columns are written in the same way.
  const called = new Set(
    [...code.matchAll(/(?<!column: )'(?:catalog\/(?:postgres\/)?)?([a-z-]+\.[a-z_]+)'(?!:)/g)].map(([, name]) => name!),
  );
  const names = ['catalog', 'catalog/postgres', 'usage', 'usage/postgres'].flatMap((folder) =>
    sqlNames(folder).map((name) => name.slice(folder.length + 1)),
  );
  const nouns = new Set(names.map((name) => name.split('.')[0]!));
  const known = new Set(names);
  t.strictSame(
    names.filter((name) => !called.has(name)),
    [],
    'all are called',
  );
  t.strictSame(
    [...called].filter((name) => nouns.has(name.split('.')[0]!) && !known.has(name)),
    [],
    'all that are called exist',
  );
});

t.test('a running process no longer needs the SQL files', async (t) => {
  const copy = temporaryFolder(t);
  cpSync(root, join(copy, 'sql'), { recursive: true });
  mkdirSync(join(copy, 'server/runtime'), { recursive: true });
  cpSync(join(root, '../server/runtime/sql.ts'), join(copy, 'server/runtime/sql.ts'));
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
  const sql = (await import(pathToFileURL(join(copy, 'server/runtime/sql.ts')).href)) as {
    sqlText: typeof sqlText;
    sqlNames: typeof sqlNames;
  };
  rmSync(join(copy, 'sql'), { recursive: true });
  t.strictSame(
    STATEMENTS.map(([name]) => [name, sql.sqlText(name)]),
    STATEMENTS,
  );
  const texts = FILES.filter((file) => file.startsWith('schema/'));
  t.strictSame(
    texts.map((file) => sql.sqlText(file.slice(0, -'.sql'.length))),
    texts.map(textOf),
  );
  t.strictSame(sql.sqlNames().length, STATEMENTS.length + texts.length);
  t.strictSame(sql.sqlNames('schema').length, texts.length);
  t.throws(() => sql.sqlText('catalog/nothing'), /no statement catalog\/nothing/);
  t.throws(() => sql.sqlText('catalog/notes'), /no statement catalog\/notes/);
});

t.test('every statement of the catalog prepares', async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  const db = open(t, folder, 'catalog');
  for (const name of sqlNames('catalog')) {
    const text = catalogText(name);
    if (!/\{\w+\}/.test(text)) {
      t.doesNotThrow(() => db.prepare(text), name);
      continue;
    }
    for (const entity of ENTITIES) {
      for (const parts of templateFills(name, entity)) {
        t.doesNotThrow(() => db.prepare(sqlTemplate(name, parts)), `${name} of ${entity.name}`);
      }
    }
  }
});

function open(t: Test, folder: string, kind: 'catalog' | 'usage'): DatabaseSync {
  const db = new DatabaseSync(join(folder, `${kind}.sqlite`));
  t.teardown(() => db.close());
  return db;
}

t.test('the comment says which columns rows have, and of which type', async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
  const databases = { catalog: open(t, folder, 'catalog'), usage: open(t, folder, 'usage') };
  const names = [...sqlNames('catalog'), ...sqlNames('usage')];
  const ofPostgres = [...sqlNames('catalog/postgres'), ...sqlNames('usage/postgres')];
  const said = new Map([...names, ...ofPostgres].map((name) => [name, rowsOf(catalogText(name))]));
  for (const name of names) {
    const kind = name.startsWith('usage/') ? 'usage' : 'catalog';
    const text = kind === 'usage' ? sqlTemplate(name, USAGE_FILLS) : catalogText(name);
    // The rows of a template of the catalog are those of its fills.
    const columns = /\{\w+\}/.test(text) ? [] : databases[kind].prepare(text).columns();
    const rows = said.get(name)!;
    // Of an expression SQLite knows no type; PostgreSQL does.
    const expected = columns.map(({ name, type }, at): Column => [name, type?.toLowerCase() ?? rows[at]?.[1]]);
    t.strictSame(rows, expected, name);
    t.strictSame(said.get(name.replace('/', '/postgres/')) ?? rows, rows, `${name} in PostgreSQL`);
    t.strictSame(
      rows.filter(([, type]) => type === undefined || TYPES[type] === undefined),
      [],
      `the types of ${name}`,
    );
  }
});

t.test('reads of the catalog find their rows by an index', async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  const db = open(t, folder, 'catalog');
  // what a request reads
  for (const name of [
    'keys.by_hash',
    'alerts.of_project',
    'fact-files.coverage',
    'fact-files.of_table',
    'groups.exists',
    'groups.of_project',
    'groups.keywords',
    'keywords.of_project',
    'lists.one',
    'notes.of_project',
    'groups.of_pages',
    'projects.one',
    'projects.of_workspace',
  ]) {
    const plan = db.prepare(`explain query plan ${catalogText(`catalog/${name}`)}`).all() as { detail: string }[];
    const scans = plan.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT)/.test(detail));
    t.strictSame(scans, [], name);
  }
});

t.test('every statement about usage prepares', async (t) => {
  const folder = temporaryFolder(t);
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
  const db = open(t, folder, 'usage');
  for (const name of sqlNames('usage')) t.doesNotThrow(() => db.prepare(sqlTemplate(name, USAGE_FILLS)), name);
});

t.test('the engine reads and writes only in its folders', async (t) => {
  const folder = temporaryFolder(t);
  const engine = await Engine.open({
    memoryLimit: '256MB',
    threads: 1,
    temporaryFolder: join(folder, 'temporary'),
    folders: [join(folder, 'facts')],
  });
  t.teardown(() => engine.close());
  using session = await engine.session();
  await t.rejects(session.rows("select * from read_csv('/etc/passwd')"));
  await t.rejects(session.run(`copy (select 1) to '${join(folder, 'outside.csv')}'`));
  await t.rejects(session.run('set enable_external_access = true'));
  await t.rejects(session.run('install httpfs'));
  await t.rejects(session.run(`attach '${join(folder, 'outside.db')}'`));
});
