// The schema has one text for both databases, which takes catalogs of version 0.2.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { SCHEMA_VERSION, schemaText } from '../../server/catalog/schema.ts';
import { readSchemaState } from '../../server/catalog/schema-state.ts';
import { sqlNames, sqlText } from '../../server/runtime/sql.ts';
import { temporaryFolder } from '../world.ts';
import { sqliteSchema } from './schema-of.ts';

/** A data folder that version 0.2 wrote, with rows in every table. */
const DATA = join(import.meta.dirname, '../fixtures/release-0.2/data');
/** The tables and indexes that were developed after 0.2, by the schema version that had them first. */
const ADDED: readonly (readonly [version: number, ...tables: string[]])[] = [
  [34, 'crawl_days'],
  [35, 'submissions'],
  [36, 'store_identity'],
  [37, 'ranking_updates', 'ranking_feed'],
  [38, 'bulk_export_days'],
  [39, 'keyword_gaps'],
];

function folderOf02(t: Test): string {
  const folder = join(temporaryFolder(t), 'data');
  cpSync(DATA, folder, { recursive: true });
  return folder;
}

/** Opens both databases of a folder, which makes their tables. */
async function open(t: Test, folder: string): Promise<void> {
  await (await openCatalog(sqliteIn(folder))).close();
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
}

const versionOf = (db: DatabaseSync): unknown => db.prepare('pragma user_version').get()!['user_version'];

const databaseOf = (folder: string, kind: 'catalog' | 'usage'): DatabaseSync =>
  new DatabaseSync(join(folder, `${kind}.sqlite`));

/** The columns of each table. */
function columnsOf(db: DatabaseSync): Map<string, readonly string[]> {
  const tables = db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'").all();
  return new Map(
    tables.map(({ name }) => {
      const columns = db.prepare(`select name from pragma_table_info('${String(name)}')`).all();
      return [String(name), columns.map((column) => String(column['name']))];
    }),
  );
}

/** The rows of tables, those of a table in any order. @param columns some of each table: later versions have more */
function rowsOf(db: DatabaseSync, columns = columnsOf(db)): Map<string, readonly string[]> {
  return new Map(
    [...columns].map(([table, names]) => {
      const list = names.map((name) => `"${name}"`).join(', ');
      const rows = db.prepare(`select ${list} from "${table}"`).all();
      return [table, rows.map((row) => JSON.stringify(row)).sort()];
    }),
  );
}

async function freshSchema(t: Test, kind: 'catalog' | 'usage'): Promise<string[]> {
  const folder = temporaryFolder(t);
  await open(t, folder);
  using db = databaseOf(folder, kind);
  t.equal(versionOf(db), SCHEMA_VERSION);
  return sqliteSchema(db);
}

t.test('a catalog of 0.2 becomes one of this version with all its rows', async (t) => {
  for (const kind of ['catalog', 'usage'] as const) {
    const folder = folderOf02(t);
    using before = databaseOf(folder, kind);
    const columns = columnsOf(before);
    const rows = rowsOf(before);
    t.strictSame(
      [...rows].filter(([, all]) => all.length === 0),
      [],
      'every table has rows',
    );
    t.equal(rows.size, kind === 'catalog' ? 48 : 8);
    await open(t, folder);
    using after = databaseOf(folder, kind);
    t.strictSame(sqliteSchema(after), await freshSchema(t, kind), kind);
    const found = rowsOf(after, columns);
    for (const [table, all] of rows) t.strictSame(found.get(table), all, table);
    if (kind === 'catalog')
      t.match(rowsOf(after).get('store_identity'), [/"catalog":"[0-9a-f]{32}"/], 'it is given an identity');
  }
});

t.test('so does one of each version that was developed after 0.2', async (t) => {
  const fresh = await freshSchema(t, 'catalog');
  for (const [version] of ADDED) {
    const folder = folderOf02(t);
    let old: ReturnType<typeof columnsOf>;
    {
      using db = databaseOf(folder, 'catalog');
      old = columnsOf(db);
    }
    await open(t, folder);
    let rows: ReturnType<typeof rowsOf>;
    let columns: ReturnType<typeof columnsOf>;
    {
      using db = databaseOf(folder, 'catalog');
      db.exec("insert into crawl_days values ('Proj9', 'sc-domain:third.example', '2026-03-01', '{}')");
      const there = new Set([...old.keys(), ...ADDED.flatMap(([added, ...tables]) => (added > version ? [] : tables))]);
      for (const [table, names] of columnsOf(db)) {
        const isNew = (name: string): boolean => old.has(table) && !old.get(table)!.includes(name);
        if (!there.has(table)) db.exec(`drop table ${table}`);
        else for (const name of names.filter(isNew)) db.exec(`alter table ${table} drop column ${name}`);
      }
      db.exec(`pragma user_version = ${version}`);
      columns = columnsOf(db);
      rows = rowsOf(db);
    }
    await open(t, folder);
    using db = databaseOf(folder, 'catalog');
    t.strictSame(sqliteSchema(db), fresh, String(version));
    const found = rowsOf(db, columns);
    for (const [table, all] of rows) t.strictSame(found.get(table), all, `${table} of ${version}`);
  }
});

t.test('a catalog of any other version is refused and left as it is', async (t) => {
  for (const [version, message] of [
    [4, /before 0\.2 \(its schema version is 4.*Install version 0\.2, run 'ordinate upgrade'/],
    [32, /its schema version is 32, this version takes 33 and later/],
    [40, /its schema version is 40/],
    [99, /its schema version is 99/],
    [SCHEMA_VERSION + 1, /newer version of Ordinate.*Install that version again/],
  ] as const) {
    const folder = folderOf02(t);
    {
      using db = databaseOf(folder, 'catalog');
      db.exec(`pragma user_version = ${version}`);
    }
    await t.rejects(openCatalog(sqliteIn(folder)), { message }, String(version));
    await t.rejects(readSchemaState(sqliteIn(folder)), { message }, `${version}, which is only looked at`);
    using db = databaseOf(folder, 'catalog');
    t.equal(versionOf(db), version);
    t.notOk(rowsOf(db).has('crawl_days'));
  }
});

t.test('a catalog is migrated as a whole or not at all', async (t) => {
  const folder = folderOf02(t);
  {
    using db = databaseOf(folder, 'catalog');
    // Its name is that of an index.
    db.exec('create table submissions_by_age (one)');
  }
  await t.rejects(openCatalog(sqliteIn(folder)), /already a table named submissions_by_age/);
  using db = databaseOf(folder, 'catalog');
  t.equal(versionOf(db), 33);
  t.notOk(rowsOf(db).has('crawl_days'));
});

t.test('changes are numbered by the version that they make', (t) => {
  const numbers = sqlNames('schema').map((name) => Number(/\/(\d{4})-[a-z0-9.-]+$/.exec(name)?.[1]));
  t.strictSame(
    numbers,
    numbers.map((_, index) => 100 + index),
  );
  t.end();
});

t.test('a text has what is for each database', (t) => {
  const text = `-- Notes.

-- Of projects.
create table notes (
  "only" integer primary key,
  text text not null,
  email text collate nocase,
  score real, -- (sqlite)
  check (text <> 'integer')
) strict, without rowid;

-- (new)
create unique index notes_by_text on notes (text);

-- (postgres)
create index notes_by_hash on notes (md5(text));

-- (sqlite)
create trigger one after delete on notes begin
  delete from notes;
end;

-- (usage)
create table uses (
  at integer not null
) strict;

-- (postgres, 0.2)
alter table notes add column day text;
`;
  const of = (store: Parameters<typeof schemaText>[1], isTaken: boolean): string[] =>
    schemaText(text, store, { isTaken })
      .replaceAll(/^--.*\n/gm, '')
      .split('\n')
      .filter((line) => line !== '');
  const index = 'create unique index notes_by_text on notes (text);';
  t.strictSame(of('sqlite', false), [
    'create table notes (',
    '  "only" integer primary key,',
    '  text text not null,',
    '  email text collate nocase,',
    '  score real,',
    "  check (text <> 'integer')",
    ') strict, without rowid;',
    index,
    'create trigger one after delete on notes begin',
    '  delete from notes;',
    'end;',
  ]);
  t.strictSame(of('postgres', false), [
    'create table notes (',
    '  "only" bigint primary key,',
    '  text text collate "C" not null,',
    '  email text collate nocase,',
    "  check (text <> 'integer')",
    ');',
    index,
    'create index notes_by_hash on notes (md5(text));',
    'create unlogged table uses (',
    '  at bigint not null',
    ');',
  ]);
  const again = 'create unique index if not exists notes_by_text on notes (text);';
  t.strictSame(of('sqlite', true), [again]);
  t.strictSame(of('postgres', true), [again, 'alter table notes add column day text collate "C";']);
  const uses = ['  at integer not null', ') strict;'];
  t.strictSame(of('sqlite-usage', false), ['create table uses (', ...uses]);
  t.strictSame(of('sqlite-usage', true), ['create table if not exists uses (', ...uses]);
  t.throws(() => schemaText('-- (mysql)\nselect 1;', 'sqlite', { isTaken: false }), /a paragraph for 'mysql'/);
  t.end();
});

t.test('both databases have the same tables and columns', (t) => {
  const columnsOf = (store: 'sqlite' | 'sqlite-usage' | 'postgres'): string[] =>
    sqlNames('schema').flatMap((name) =>
      [
        ...schemaText(sqlText(name), store, { isTaken: false }).matchAll(
          /^create (?:unlogged )?table (\w+) \((.*?)^\)/gms,
        ),
      ].flatMap(([, table, body]) =>
        [...body!.matchAll(/^ {2}"?(\w+)"? (?:text|integer|bigint|real|double precision)\b/gm)].map(
          ([, column]) => `${table}.${column}`,
        ),
      ),
    );
  // A file tells both in SQLite; and a table of sums that triggers count is a view in PostgreSQL.
  const isOfOne = (column: string): boolean => /^(?:catalog_version|planned_files|list_totals)\./.test(column);
  const expected = [...columnsOf('sqlite'), ...columnsOf('sqlite-usage')].filter((column) => !isOfOne(column));
  t.ok(expected.length > 350, `${expected.length} columns`);
  t.strictSame(
    columnsOf('postgres')
      .filter((column) => !isOfOne(column))
      .sort(),
    expected.sort(),
  );
  t.end();
});
