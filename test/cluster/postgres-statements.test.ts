// Every catalog statement has the same parameters and columns in SQLite and in PostgreSQL.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import t from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { statementOf, type Translated, translate } from '../../server/catalog/postgres/dialect.ts';
import { ENTITIES } from '../../server/load/tables.ts';
import { hasSql, sqlNames, sqlTemplate, sqlText } from '../../server/runtime/sql.ts';
import { templateFills, USAGE_FILLS } from '../template-fills.ts';
import { temporaryFolder } from '../world.ts';
import { newDatabase, query, skip } from './databases.ts';

t.test('parameters and names are translated, but not what is quoted', async (t) => {
  const { text, parameters } = translate(
    `-- $comment\nselect a as keyId, '$text' as x, b::text, "Quoted" from t where a = $id and b = $other and c = $id -- it's`,
  );
  t.equal(text, `select a as "keyId", '$text' as x, b::text, "Quoted" from t where a = $1 and b = $2 and c = $1`);
  t.strictSame(parameters, ['id', 'other']);
  t.equal(translate('select $a').name, translate('-- another comment\nselect $b').name, 'the same text has one name');
});

/** Statements that only SQLite has. */
const ONLY_SQLITE = /^(?:catalog\/copy_into|usage\/create_)/;

t.test('every statement has the same parameters and columns in SQLite and in PostgreSQL', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
  const catalogUrl = await newDatabase(t);
  await (await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl })).close();
  const client = new pg.Client({ connectionString: catalogUrl });
  await client.connect();
  t.teardown(() => client.end());
  for (const kind of ['catalog', 'usage'] as const) {
    const db = new DatabaseSync(join(folder, `${kind}.sqlite`));
    t.teardown(() => db.close());
    for (const path of sqlNames(kind)) {
      if (ONLY_SQLITE.test(path)) continue;
      const name = path.slice(kind.length + 1);
      const tables =
        kind === 'catalog' && /\{\w+\}/.test(sqlText(path))
          ? ENTITIES.flatMap((entity) => templateFills(path, entity))
          : [null];
      for (const fills of tables) {
        const what = fills === null ? path : `${path} of ${fills['table']}`;
        const statement = fills === null ? name : { template: name, fills };
        const sqlite = db.prepare(sqlTemplate(path, fills ?? USAGE_FILLS));
        const expected = sqlite.columns().map(({ name: column }) => column);
        t.strictSame(await columnsOf(client, statementOf(kind, statement)), expected, what);
        const twin = `${kind}/postgres/${name}`;
        if (hasSql(twin)) t.strictSame(parametersOf(twin), parametersOf(path), `the parameters of ${what}`);
      }
    }
  }
});

t.test('the tables of both have the same columns', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
  const catalogUrl = await newDatabase(t);
  await (await openCatalog({ dataFolder: temporaryFolder(t), catalogUrl })).close();
  const expected: string[] = [];
  for (const kind of ['catalog', 'usage']) {
    using db = new DatabaseSync(join(folder, `${kind}.sqlite`));
    const tables = db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'").all();
    for (const { name } of tables as { name: string }[]) {
      if (name === 'list_totals') continue;
      for (const column of db.prepare(`pragma table_info(${name})`).all() as {
        name: string;
        notnull: number;
        pk: number;
      }[])
        expected.push(`${name}.${column.name}${column.notnull || column.pk ? '' : '?'}`);
    }
  }
  const found = await query<{ column: string }>(
    catalogUrl,
    `select c.table_name || '.' || c.column_name || case c.is_nullable when 'YES' then '?' else '' end as column
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name not in ('catalog_version', 'planned_files')
    order by c.table_name, c.ordinal_position`,
  );
  t.strictSame(found.map(({ column }) => column).sort(), expected.sort());
});

/** Runs a statement in a transaction that is rolled back, with values that are texts as well as numbers. */
async function columnsOf(client: pg.Client, { text, parameters }: Translated): Promise<string[]> {
  await client.query(`prepare checked as ${text}`);
  await client.query('deallocate checked');
  // The rest would only break the rules of its table.
  if (/^(?:insert|update|delete)/.test(text) && !text.includes('returning')) return [];
  await client.query('begin');
  try {
    const { fields } = await client.query(
      text,
      parameters.map(() => '1'),
    );
    return fields.map(({ name }) => name);
  } finally {
    await client.query('rollback');
  }
}

function parametersOf(path: string): string[] {
  return [...translate(sqlText(path)).parameters].sort();
}
