// Every SQL file is one documented statement that its database can prepare, and lookups use an index.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { sqliteIn } from '../server/catalog/location.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { openUsage } from '../server/catalog/open-usage.ts';
import { shortIdNumber } from '../server/domain/ids.ts';
import { Engine, type Parameters } from '../server/facts/duckdb/engine.ts';
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

const MEASURES = 'bigint as clicks, 4::bigint as impressions, 6::bigint as sum_position';
const NUMBERS = ['clicks', 'impressions', 'sumPosition'];
const RANGE = { from: '2026-03-01', to: '2026-03-31' };

/** Each query: the fact table it reads with the key of one row, its parameters, and the expected row. */
const QUESTIONS: Readonly<
  Record<
    string,
    {
      key: string;
      parameters: Parameters;
      parts?: Readonly<Record<string, string>>;
      answers: Readonly<Record<string, string | number>>;
    }
  >
> = {
  site_daily: {
    key: "date '2026-03-02' as date, 'mobile' as device",
    parameters: { ...RANGE, device: 'all' },
    answers: { date: '2026-03-02', hasUnknownDevice: 0 },
  },
  site_daily_each: {
    key: "date '2026-03-02' as date, 'mobile' as device",
    parameters: { ordinals: ['7'], firsts: ['2026-03-01'], lasts: ['2026-03-02'], device: 'all' },
    answers: { ordinal: 7, day: 1, hasUnknownDevice: 0 },
  },
  brand_totals_each: {
    key: "date '2026-03-02' as date, 'brand' as segment",
    parameters: { ordinals: ['7'], firsts: ['2026-03-02'], lasts: ['2026-03-31'] },
    answers: { ordinal: 7, isUnknown: 0 },
  },
  keyword_running: {
    key: `${shortIdNumber('kwOne')} as number, date '2026-03-01' as date, 'mobile' as device`,
    parameters: { device: 'mobile', through: '2026-03-01', before: null },
    answers: { keyword: shortIdNumber('kwOne') },
  },
  keyword_cumulative: {
    key: `${shortIdNumber('kwOne')}::double as number, 2::double as clicks_2, 4::double as impressions_2, 6::double as sum_position_2, 9::double as clicks_3`,
    parameters: { clicks: 'clicks_2', impressions: 'impressions_2', sumPosition: 'sum_position_2' },
    answers: { keyword: shortIdNumber('kwOne') },
  },
  keyword_totals: {
    key: "'kwOne' as keyword_id, date '2026-03-02' as date, 'mobile' as device",
    parameters: { ...RANGE, device: 'mobile' },
    answers: { keyword: shortIdNumber('kwOne') },
  },
  keyword_days: {
    key: "'kwOne' as keyword_id, date '2026-03-02' as date, 'all' as device",
    parameters: { ...RANGE, days: 31, device: 'all', keywords: ['kwTwo', 'kwOne'] },
    answers: { cell: 31 + 1 },
  },
  day_sums: {
    key: "'kwOne' as keyword_id, date '2026-03-02' as date, 'all' as device",
    parameters: { ...RANGE, names: ['kwTwo', 'kwOne'] },
    parts: { name: 'keyword_id' },
    answers: { date: '2026-03-02' },
  },
  keyword_page_totals: {
    key: "'Kw001' as keyword_id, 'https://shop.example/' as url, date '2026-03-02' as date",
    parameters: { ...RANGE, keyword: 'Kw001', limit: 5 },
    answers: { name: 'https://shop.example/' },
  },
  country_days: {
    key: "date '2026-03-02' as date, 'usa' as country",
    parameters: { ...RANGE, country: 'usa' },
    answers: { date: '2026-03-02' },
  },
  country_months: {
    key: "date '2026-03-01' as month, 'usa' as country",
    parameters: { ...RANGE, country: null },
    answers: { month: '2026-03', country: 'usa' },
  },
  totals: {
    key: "date '2026-03-02' as date, 'non_brand' as segment",
    parameters: RANGE,
    parts: { name: 'segment' },
    answers: { name: 'non_brand' },
  },
};

/** What rows are limited to beside days. */
const LIMITS = { day_rows: { country: null }, pair_rows: { names: ['usa'] }, week_rows: {}, period_rows: {} };

t.test('queries over Parquet files', async (t) => {
  const folder = temporaryFolder(t);
  const engine = await Engine.open({
    memoryLimit: '256MB',
    threads: 1,
    temporaryFolder: join(folder, 'temporary'),
    folders: [folder],
  });
  t.teardown(() => engine.close());
  /** A file of one row with 2 clicks, 4 impressions and a sum of positions of 6. */
  const write = async (name: string, key: string): Promise<string> => {
    const target = join(folder, `${name}.parquet`);
    using session = await engine.session();
    await session.run(`copy (select 'Proj1' as project_id, ${key}, 2::${MEASURES}) to '${target}' (format parquet)`);
    return target;
  };

  const known = sqlNames('facts');
  t.ok(
    Object.keys(QUESTIONS).every((name) => known.includes(`facts/${name}`)),
    'the others are asked by their endpoint',
  );
  t.strictSame(await engine.query('facts/ping', {}), [{ answer: 1 }]);
  t.match(await engine.query('facts/memory', {}), [{ memory: Number, spilled: Number }]);
  for (const [name, { key, parameters, parts, answers }] of Object.entries(QUESTIONS)) {
    const path = [await write(name, key)];
    const files: Parameters = { files: path };
    const ask = (more: Parameters) =>
      engine.query<Record<string, unknown>>(`facts/${name}`, { ...parameters, ...files, ...more }, undefined, parts);
    const rows = await ask({});
    t.strictSame(rows, [{ ...answers, clicks: 2, impressions: 4, sumPosition: 6 }], name);
    t.strictSame(Object.keys(rows[0]!).slice(-3), NUMBERS, `${name}: the measures come last`);
    if ('from' in parameters) {
      const none = await ask({ from: '2026-04-03', to: '2026-04-04' });
      t.strictSame(none, [], `${name} in other days`);
    }
  }

  // The lists of providers are tested in test/lists/.
  t.strictSame(
    sqlNames('lists').filter((name) => !name.includes('fetched')),
    [
      'lists/best_rows',
      'lists/count_ranked_rows',
      'lists/day_rows',
      'lists/joined_rows',
      'lists/joined_sums',
      'lists/list_rows',
      'lists/list_rows_with_text_ranks',
      'lists/most_changed_rows',
      'lists/pair_rows',
      'lists/period_rows',
      'lists/rank_rows',
      'lists/read_ranked_rows',
      'lists/week_rows',
      'lists/write_ranked_rows',
    ],
  );
  for (const [name, text] of [
    ['day_rows', 'url'],
    ['day_rows', 'query'],
    ['period_rows', 'url'],
    ['period_rows', 'query'],
    ['week_rows', 'url'],
    ['pair_rows', 'url'],
  ] as const) {
    const rows = sqlTemplate(`lists/${name}`, name === 'pair_rows' ? { text, by: 'country' } : { text });
    const day = name === 'week_rows' ? 'week_end' : 'date';
    const files = [await write(`${name}-facts`, `'text' as ${text}, date '2026-03-02' as ${day}, 'usa' as country`)];
    const target = join(folder, `${name}.parquet`);
    const isPeriod = name === 'period_rows';
    const limits = LIMITS[name];
    const wanted = { files, max: 10, ...(isPeriod ? {} : { ...RANGE, ...limits }) };
    const expected = [{ text: 'text', clicks: 2, impressions: 4, sumPosition: 6 }];
    using session = await engine.session();
    await session.runFile('lists/rank_rows', wanted, { rows });
    t.strictSame(await session.rows(sqlTemplate('lists/best_rows', { rows }), wanted), [
      { text: 'text', clicks: 2, impressions: 4, sum_position: 6 },
    ]);
    t.strictSame(await session.rowsOfFile('lists/count_ranked_rows', {}), [{ rows: 1 }], name);
    t.strictSame(await session.rowsOfFile('lists/read_ranked_rows', { max: 10 }), expected, name);
    await session.runFile('lists/write_ranked_rows', { max: 10, target });
    const read = { file: target, after: 0, limit: 10 };
    t.strictSame(await engine.query('lists/list_rows', read), expected, name);
    t.strictSame(await engine.query('lists/list_rows', { ...read, after: 1 }), [], `${name} behind its end`);
    t.strictSame(await engine.query('lists/list_rows_with_text_ranks', { file: target }), [
      { ...expected[0], textRank: 1 },
    ]);
    const [row] = expected;
    const joined = { ...row, baseClicks: row!.clicks, baseImpressions: row!.impressions, baseSumPosition: 6 };
    const most = { now: target, base: target, limit: 1 };
    const parts = { rows: sqlText('lists/joined_rows') };
    t.strictSame(await engine.query('lists/most_changed_rows', most, undefined, parts), [joined]);
    if (isPeriod || name === 'week_rows') continue;
    using other = await engine.session();
    await other.runFile(
      'lists/rank_rows',
      { ...wanted, ...(name === 'pair_rows' ? { names: ['gbr'] } : { country: 'gbr' }) },
      { rows },
    );
    t.strictSame(await other.rowsOfFile('lists/count_ranked_rows', {}), [{ rows: 0 }], 'another country');
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
