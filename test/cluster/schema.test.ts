// A database of version 0.2 becomes a catalog of this version with all its rows.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import t, { type Test } from 'tap';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { SCHEMA_VERSION } from '../../server/catalog/schema.ts';
import { postgresSchema } from '../catalog/schema-of.ts';
import { command } from '../command.ts';
import { temporaryFolder } from '../world.ts';
import { newDatabase, query, skip } from './databases.ts';

/** A dump of a database that version 0.2 made, with rows in every table. */
const DUMP = join(import.meta.dirname, '../fixtures/release-0.2/catalog.sql.gz');
/** What was developed after 0.2, by the schema version that had it first. */
const ADDED: readonly (readonly [version: number, ...tables: string[]])[] = [
  [17],
  [18, 'crawl_days'],
  [19, 'submissions'],
  [20, 'store_identity'],
  [21, 'ranking_updates', 'ranking_feed'],
  [22, 'bulk_export_days'],
  [23, 'keyword_gaps'],
];
/** As these versions named them. */
const OLD_NAMES = `
  alter table lists rename constraint lists_pkey to new_lists_pkey;
  alter table lists rename constraint lists_kind_check to new_lists_kind_check;
  alter table lists rename constraint lists_project_id_fkey to new_lists_project_id_fkey;
  alter table lists rename constraint lists_project_id_kind_first_day_last_day_country_selection__key
    to new_lists_project_id_kind_first_day_last_day_country_select_key`;

async function databaseOf02(t: Test): Promise<string> {
  const url = await newDatabase(t);
  await query(url, gunzipSync(readFileSync(DUMP)).toString());
  return url;
}

async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

const open = async (t: Test, catalogUrl: string): Promise<void> =>
  (await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl })).close();

/** The columns of all tables but the version. */
async function columnsOf(client: pg.Client): Promise<Map<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select t.tablename as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
     from pg_tables t join information_schema.columns c on c.table_schema = t.schemaname and c.table_name = t.tablename
     where t.schemaname = 'public' and t.tablename <> 'catalog_version' group by t.tablename`,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** The rows of tables, those of a table in any order. @param columns some of each table: later versions have more */
async function rowsOf(
  client: pg.Client,
  columns?: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, readonly string[]>> {
  const all = new Map<string, readonly string[]>();
  for (const [name, names] of columns ?? (await columnsOf(client))) {
    const list = names.map((column) => `"${column}"`).join(', ');
    const found = await client.query<{ row: string }>(
      `select (row_to_json(t)::jsonb)::text as row from (select ${list} from "${name}") t`,
    );
    all.set(name, found.rows.map(({ row }) => row).sort());
  }
  return all;
}

t.test('a database of 0.2 becomes one of this version with all its rows', { skip }, async (t) => {
  const url = await databaseOf02(t);
  const client = await connect(t, url);
  const columns = await columnsOf(client);
  const before = await rowsOf(client);
  t.equal(before.size, 56);
  t.strictSame(
    [...before].filter(([, rows]) => rows.length === 0),
    [],
    'every table has rows',
  );
  const settings = { ORDINATE_DATA: temporaryFolder(t), ORDINATE_CATALOG: url };
  t.match(await command(settings, 'upgrade', '--check'), {
    code: 0,
    stdout: /has schema version 16.*would migrate.*0100-release-1\.0.*Servers of the version before go on/s,
  });
  t.strictSame(await rowsOf(client), before, 'it only looks');
  t.match(await command(settings, 'upgrade'), { code: 0, stdout: /was migrated from schema version 16 to 1\d\d:/ });
  t.match(await command(settings, 'upgrade', '--check'), { code: 0, stdout: /is up to date/ });
  const empty = await newDatabase(t);
  await open(t, empty);
  const fresh = await connect(t, empty);
  t.strictSame(await postgresSchema(client), await postgresSchema(fresh));
  const after = await rowsOf(client, columns);
  for (const [table, rows] of before) t.strictSame(after.get(table), rows, table);
  t.match((await rowsOf(client)).get('store_identity'), [/"catalog": "[0-9a-f]{32}"/]);
  const versions = 'select schema::int, migrations::int from catalog_version';
  t.strictSame(await query(url, versions), [{ schema: 16, migrations: SCHEMA_VERSION }], '0.2 can go on');
  t.strictSame(await query(empty, versions), [{ schema: 100, migrations: SCHEMA_VERSION }]);
});

t.test('so does one of each version that was developed after 0.2', { skip }, async (t) => {
  const empty = await newDatabase(t);
  await open(t, empty);
  const fresh = await postgresSchema(await connect(t, empty));
  for (const [version] of ADDED) {
    const url = await databaseOf02(t);
    const client = await connect(t, url);
    const old = await columnsOf(client);
    await open(t, url);
    await client.query("insert into crawl_days values ('Proj9', 'sc-domain:third.example', '2026-03-01', '{}')");
    const there = new Set([...old.keys(), ...ADDED.flatMap(([added, ...tables]) => (added > version ? [] : tables))]);
    for (const [table, names] of await columnsOf(client)) {
      const isNew = (name: string): boolean => old.has(table) && !old.get(table)!.includes(name);
      if (!there.has(table)) await client.query(`drop table ${table}`);
      else for (const name of names.filter(isNew)) await client.query(`alter table ${table} drop column ${name}`);
    }
    await client.query(`${OLD_NAMES}; update catalog_version set migrations = ${version}`);
    const columns = await columnsOf(client);
    const before = await rowsOf(client);
    await open(t, url);
    t.strictSame(await postgresSchema(client), fresh, String(version));
    const after = await rowsOf(client, columns);
    for (const [table, rows] of before) t.strictSame(after.get(table), rows, `${table} of ${version}`);
  }
});

t.test('a database of any other version is refused and left as it is', { skip }, async (t) => {
  const url = await databaseOf02(t);
  await query(url, 'alter table catalog_version add column migrations bigint');
  for (const version of [15, 24, 99]) {
    await query(url, `update catalog_version set schema = ${Math.min(version, 16)}, migrations = ${version}`);
    const before = await query(url, 'select * from catalog_version');
    await t.rejects(open(t, url), { message: new RegExp(`schema version is ${version}, this version takes 16`) });
    t.strictSame(await query(url, 'select * from catalog_version'), before);
    t.strictSame(await query(url, "select 1 from pg_tables where tablename = 'crawl_days'"), []);
  }
});

t.test('texts compare by bytes, but addresses of mail, which ignore case', { skip }, async (t) => {
  const url = await newDatabase(t);
  await open(t, url);
  const columns = await query<{ name: string; collation: string }>(
    url,
    `select c.relname || '.' || a.attname as name, o.collname as collation
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_collation o on o.oid = a.attcollation
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') and o.collname <> 'C' order by 1`,
  );
  t.strictSame(
    columns.map(({ name, collation }) => `${name} ${collation}`),
    [
      'grants.connected_by nocase',
      'invitations.email nocase',
      // Another collation would fail the prepared statements of servers of 0.2.
      'keys.scope default',
      'login_links.email nocase',
      'members.email nocase',
      'sessions.email nocase',
    ],
  );
});
