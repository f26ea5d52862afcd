// Servers that share a PostgreSQL catalog see commits at once; its statements have the columns of SQLite.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import t, { type Test } from 'tap';
import { catalogText } from '../../server/catalog/entity-rows.ts';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { statementOf, type Translated, translate } from '../../server/catalog/postgres/dialect.ts';
import { hasSql, sqlNames, sqlTemplate } from '../../server/runtime/sql.ts';
import { command } from '../command.ts';
import { startHolder } from '../lease-holder.ts';
import { startServer, until } from '../process.ts';
import { type Column, rowsOf } from '../statement-rows.ts';
import { templatesOf, USAGE_FILLS } from '../template-fills.ts';
import { addEmptyCatalog, facts, temporaryFolder, writeSnapshot } from '../world.ts';
import { newDatabase, query, skip } from './databases.ts';
import { filled, load, newKey, ofDay, SITE } from './nodes.ts';

const DISCONNECT =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

async function makeNode(t: Test) {
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG: await newDatabase(t) };
  return { settings, own: await filled(t, settings, ofDay(3)) };
}

t.test('what is committed holds for the next request of every server', { skip }, async (t) => {
  const { settings, own } = await makeNode(t);
  const { id, key } = await newKey(settings);
  const servers = [await startServer(t, settings), await startServer(t, settings, '--workers', '2')];
  const answers = (asked: string) =>
    Promise.all([...servers, ...servers, ...servers].map(({ get }) => get(SITE, asked)));
  for (const answer of await answers(key)) t.match(answer, { status: 200, body: { totals: { clicks: 3 } } });
  t.match(await load(t, settings, ofDay(5)), { code: 0 });
  for (const answer of await answers(key)) t.match(answer, { status: 200, body: { totals: { clicks: 5 } } });
  await command(settings, 'keys', 'revoke', id, '--workspace', 'acme');
  for (const answer of await answers(key)) t.match(answer, { status: 401 });
  for (const answer of await answers((await newKey(settings)).key)) t.match(answer, { status: 200 });
  await answers(own);
  // Uses are written some time after the answer.
  const used = 'select 1 from key_days having sum(requests) > 0';
  await until('their use is counted', async () => (await query(settings.ORDINATE_CATALOG, used)).at(0));
});

t.test('a dry run makes no tables in an empty database', { skip }, async (t) => {
  const url = await newDatabase(t);
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data'), ORDINATE_CATALOG: url };
  const dry = (tables: Parameters<typeof writeSnapshot>[1]) =>
    command(settings, 'load', writeSnapshot(t, tables), '--accept-implausible', '--dry-run');
  t.match(await dry(ofDay(3)), { code: 0, stdout: /nothing was loaded \(dry run\)/ });
  t.strictSame(await query(url, "select 1 from pg_tables where schemaname = 'public'"), []);
  t.notOk(existsSync(settings.ORDINATE_DATA));
  t.match(await load(t, settings, ofDay(3)), { code: 0 });
  const bad = { site_daily: facts('project_id date device', ['Other', '2026-03-01', 'mobile', 3, 100, 900]) };
  t.match(await dry(bad), { code: 1, stderr: /Other/ }, 'it knows what is there');
});

t.test('a process takes as many connections as it may', { skip }, async (t) => {
  const { settings, own } = await makeNode(t);
  const server = await startServer(t, { ...settings, ORDINATE_CATALOG_CONNECTIONS: '2', ORDINATE_CACHE: '0MB' });
  const answers = await Promise.all(Array.from({ length: 40 }, () => server.get(SITE, own)));
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]));
  const open = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  t.equal((await query(settings.ORDINATE_CATALOG, open)).length, 3, 'one more reads the version');
});

t.test('a lease has one holder over processes; it ends with its process or connection', { skip }, async (t) => {
  const catalogUrl = await newDatabase(t);
  const place = { dataFolder: '', catalogUrl };
  const leases = openLeases(place);
  const { has, kill } = await startHolder(t, place);
  t.ok(has);
  t.equal(await leases.acquire('a'), undefined);
  const other = await leases.acquire('b');
  t.ok(other, 'leases of other names are apart');
  t.equal(await leases.acquire('b'), undefined, 'also for whoever has it');
  await other?.release();
  await kill();
  const lease = await until('the lease of a killed process', () => leases.acquire('a'));
  t.equal(await lease.isHeld(), true);
  await query(catalogUrl, DISCONNECT);
  t.equal(await lease.isHeld(), false);
  await lease.release();
  const next = await leases.acquire('a');
  t.ok(next);
  await next?.release();
});

t.test('parameters and names are translated, but not what is quoted', async (t) => {
  const { text, parameters } = translate(
    `-- $comment\nselect a as keyId, '$text' as x, b::text, "Quoted" from t where a = $id and b = $other and c = $id -- it's`,
  );
  t.equal(text, `select a as "keyId", '$text' as x, b::text, "Quoted" from t where a = $1 and b = $2 and c = $1`);
  t.strictSame(parameters, ['id', 'other']);
  t.equal(translate('select $a').name, translate('-- another comment\nselect $b').name, 'the same text has one name');
});

const { BOOL, INT2, INT4, INT8, NUMERIC, TEXT } = pg.types.builtins;
const TYPES = new Map<number, string>([
  [BOOL, 'boolean'],
  [TEXT, 'text'],
  ...[INT2, INT4, INT8, NUMERIC].map((type): [number, string] => [type, 'integer']),
]);

/** Runs a statement in a transaction that is rolled back, with values that are texts as well as numbers. */
async function columnsOf(client: pg.Client, { text, parameters }: Translated): Promise<Column[]> {
  await client.query(`prepare checked as ${text}`);
  await client.query('deallocate checked');
  // The rest would only break the rules of its table.
  if (/^(?:insert|update|delete)/.test(text) && !text.includes('returning')) return [];
  await client.query('begin');
  try {
    const values = parameters.map(() => '1');
    return (await client.query(text, values)).fields.map(({ name, dataTypeID }) => [name, TYPES.get(dataTypeID)]);
  } finally {
    await client.query('rollback');
  }
}

/** A statement that is no query. */
const UNPREPARED = new Set(['catalog/postgres/database.stop_changes']);

const parametersOf = (path: string): string[] => [...translate(catalogText(path)).parameters].sort();

t.test('every statement has the same parameters and columns in SQLite and in PostgreSQL', { skip }, async (t) => {
  const dataFolder = temporaryFolder(t);
  await addEmptyCatalog(dataFolder);
  await openUsage({ dataFolder, catalogUrl: '' }, (error) => t.fail(String(error))).close();
  const client = new pg.Client({ connectionString: await newDatabase(t, undefined, 'ordinate_template') });
  await client.connect();
  t.teardown(() => client.end());
  for (const path of sqlNames('catalog/postgres').filter((name) => !UNPREPARED.has(name))) {
    const columns = await columnsOf(client, translate(catalogText(path)));
    t.strictSame(rowsOf(catalogText(path)), columns, `the rows of ${path}`);
  }
  for (const kind of ['catalog', 'usage'] as const) {
    const db = new DatabaseSync(join(dataFolder, `${kind}.sqlite`));
    t.teardown(() => db.close());
    const [expected, found]: [unknown[], unknown[]] = [[], []];
    for (const { path, fills, statement } of sqlNames(kind).flatMap((path) => templatesOf(kind, path))) {
      const sqlite = db.prepare(
        kind === 'usage' || fills !== undefined ? sqlTemplate(path, fills ?? USAGE_FILLS) : catalogText(path),
      );
      const columns = await columnsOf(client, statementOf(kind, statement));
      const twin = path.replace('/', '/postgres/');
      const names = columns.map(([name]) => name);
      expected.push([path, fills?.['table'], sqlite.columns().map(({ name }) => name), parametersOf(path)]);
      found.push([path, fills?.['table'], names, parametersOf(hasSql(twin) ? twin : path)]);
      if (kind === 'catalog' && fills === undefined)
        t.strictSame(rowsOf(catalogText(path)), columns, `the rows of ${path}`);
    }
    t.ok(found.length > 20);
    t.strictSame(found, expected);
  }
});
