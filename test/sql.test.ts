// Every SQL file is one documented statement that its database can prepare, and lookups use an index.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { sqliteIn } from '../server/catalog/location.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { openUsage } from '../server/catalog/open-usage.ts';
import { Engine } from '../server/facts/duckdb/engine.ts';
import { ENTITIES } from '../server/load/tables.ts';
import { sqlNames, sqlTemplate, sqlText } from '../server/runtime/sql.ts';
import { templateFills, USAGE_FILLS } from './template-fills.ts';
import { temporaryFolder } from './world.ts';

const root = join(import.meta.dirname, '../sql');
const FILES = globSync('**/*.sql', { cwd: root }).sort();

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

t.test('every file starts with a comment', async (t) => {
  t.ok(FILES.length > 100, 'all of sql/ is checked');
  const texts = FILES.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
  const silent = texts.filter(([, text]) => !/^-- \S.{8,}/.test(comment(text)));
  t.strictSame(silent, [], 'no file without a comment');
  const ragged = texts.filter(([, text]) => !text.endsWith('\n') || text.endsWith('\n\n'));
  t.strictSame(ragged, [], 'every file ends with one line break');
});

t.test('every file holds exactly one statement, migrations apart', async (t) => {
  const files = FILES.filter((name) => !name.includes('/migrations/'));
  const statements = (file: string): string[] =>
    bare(readFileSync(join(root, file), 'utf8'))
      .split(';')
      .filter((statement) => statement.trim() !== '');
  t.strictSame(
    files.filter((file) => statements(file).length !== 1),
    [],
  );
});

t.test('the comment names every parameter and no other', async (t) => {
  const wrong: string[] = [];
  for (const file of FILES.filter((name) => /^(catalog|facts|alerts|lists|trino|usage)\/[^/]+$/.test(name))) {
    const text = readFileSync(join(root, file), 'utf8');
    const used = new Set(bare(text).match(/\$\w+/g));
    const documented = new Set(comment(text).match(/\$\w+/g));
    for (const name of used.difference(documented)) wrong.push(`${file}: ${name} is not in the comment`);
    for (const name of documented.difference(used)) wrong.push(`${file}: ${name} is only in the comment`);
  }
  t.strictSame(wrong, []);
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
  const read = FILES.map((file) => sql.sqlText(file.slice(0, -'.sql'.length)));
  t.strictSame(
    read,
    FILES.map((file) => readFileSync(join(root, file), 'utf8')),
  );
  const migrations = FILES.filter((file) => file.startsWith('catalog/migrations/'));
  t.strictSame(sql.sqlNames('catalog/migrations').length, migrations.length);
  t.throws(() => sql.sqlText('catalog/nothing'), /no sql\/catalog\/nothing\.sql/);
});

t.test('every statement of the catalog prepares', async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  const db = new DatabaseSync(join(folder, 'catalog.sqlite'));
  t.teardown(() => db.close());
  for (const name of sqlNames('catalog')) {
    const text = sqlText(name);
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

t.test('reads of the catalog find their rows by an index', async (t) => {
  const folder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(folder))).close();
  const db = new DatabaseSync(join(folder, 'catalog.sqlite'));
  t.teardown(() => db.close());
  // what a request reads
  for (const name of [
    'access_by_hash',
    'alerts_of_project',
    'coverage',
    'fact_files',
    'group_exists',
    'groups_of_project',
    'keyword_groups_of_project',
    'keywords_of_project',
    'list_get',
    'notes_of_project',
    'page_groups_of_project',
    'project',
    'projects_of_workspace',
  ]) {
    const plan = db.prepare(`explain query plan ${sqlText(`catalog/${name}`)}`).all() as { detail: string }[];
    const scans = plan.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT)/.test(detail));
    t.strictSame(scans, [], name);
  }
});

t.test('every statement about usage prepares', async (t) => {
  const folder = temporaryFolder(t);
  await openUsage(sqliteIn(folder), (error) => t.fail(String(error))).close();
  const db = new DatabaseSync(join(folder, 'usage.sqlite'));
  t.teardown(() => db.close());
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
