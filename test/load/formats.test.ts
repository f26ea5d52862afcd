// A snapshot gives the same answers in every supported file format and folder layout.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { LoadRejected } from '../../server/domain/problems.ts';
import { writeParquet, writeParquetRows } from '../parquet.ts';
import { keyword, makeLazyWorld, PROJECT, type Row, temporaryFolder } from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, csv, EVERYTHING, loadFolder, ndjson, places, writeFiles } from './snapshots.ts';

const FORMATS: Readonly<Record<string, (file: string, rows: readonly Row[]) => void | Promise<void>>> = {
  csv: (file, rows) => writeFileSync(file, csv(rows)),
  'csv.gz': (file, rows) => writeFileSync(file, gzipSync(csv(rows))),
  ndjson: (file, rows) => writeFileSync(file, ndjson(rows)),
  jsonl: (file, rows) => writeFileSync(file, ndjson(rows)),
  parquet: (file, rows) => writeParquetRows(file, rows, rows.some((row) => row['rule']) ? { rule: 'JSON' } : {}),
};

/** Where the rows of a table go: paths without ending, each with its rows. */
const LAYOUTS: Readonly<Record<string, (table: string, rows: readonly Row[]) => [string, readonly Row[]][]>> = {
  file: (table, rows) => [[table, rows]],
  // One file for each row, some deeper than others.
  nested: (table, rows) => rows.map((row, index) => [`${table}/${'deep/er/'.repeat(index)}part-${index}`, [row]]),
  // Columns named in folders are not in the files. Days have no month of their own: for them the folder says nothing.
  hive: (table, rows) =>
    rows.map((row, index) => {
      const { project_id: project, ...rest } = row;
      const { month, ...others } = rest as { month?: string };
      const day = month ?? (row['date'] as string | undefined);
      const folders = [
        ...(project === undefined ? [] : [`project_id=${project as string}`]),
        ...(day === undefined ? [] : [`month=${day.slice(0, 7)}`]),
      ];
      return [[table, ...folders, `part-${index}`].join('/'), [others]];
    }),
};

t.test('every table, in every format and as file, folder and Hive folders, gives the same answers', async (t) => {
  const expected = await answersOf(await makeLazyWorld(t, EVERYTHING));
  const site = expected['/projects/Proj1/site?period=12m'] as { body: { totals: unknown } };
  t.strictSame(site.body.totals, { clicks: 4, impressions: 160, ctr: 0.025, position: 7.4 });

  const formats = Object.keys(FORMATS);
  const layouts = Object.keys(LAYOUTS);
  // Five loads: every table comes in each of the five formats, and in each of the three layouts.
  for (const turn of formats.keys()) {
    const folder = temporaryFolder(t);
    const choices: string[] = [];
    for (const [index, [table, rows]] of Object.entries(EVERYTHING).entries()) {
      const format = formats[(index + turn) % formats.length]!;
      const layout = layouts[(index + 2 * turn) % layouts.length]!;
      choices.push(`${table} ${format} ${layout}`);
      // A column that is null in the rows of one file and left out of those of another.
      for (const [path, part] of LAYOUTS[layout]!(table, rows)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        await FORMATS[format]!(join(folder, `${path}.${format}`), part);
      }
    }
    const world = await makeLazyWorld(t, { keywords: [keyword('Kw009', 'to be replaced')] });
    const summary = await loadFolder(world, folder, { replace: true });
    t.strictSame(await answersOf(world), expected, choices.join(', '));
    const counts = Object.entries(summary.tables).map(([table, { rows }]) => [table, rows]);
    t.strictSame(
      Object.fromEntries(counts),
      Object.fromEntries(Object.entries(EVERYTHING).map(([table, rows]) => [table, rows.length])),
    );
  }
});

t.test('csv: quotes, newlines, empty fields, line ends, byte order mark', async (t) => {
  const world = await makeLazyWorld(t);
  const folder = writeFiles(t, {
    // Queries come first: a line that starts with # is no comment, and one with blanks keeps them.
    'query_daily.csv': [
      '\uFEFFquery,project_id,date,country,clicks,impressions,sum_position',
      '#hashtag,Proj1,2026-03-01,usa,9,10,0',
      '"a ""quoted"" text, with a comma",Proj1,2026-03-01,usa,8,10,0',
      '"two\r\nlines",Proj1,2026-03-01,usa,7,10,0',
      "it's,Proj1,2026-03-01,usa,6,10,0",
      'back\\slash,Proj1,2026-03-01,usa,5,10,0',
      ' blanks ,Proj1,2026-03-01,usa,4,10,0',
      'null,Proj1,2026-03-01,usa,3,10,0',
      'a;b|c\td,Proj1,2026-03-01,usa,2,10,0',
      '007,Proj1,2026-03-01,usa,1,10,0',
      '',
    ].join('\r\n'),
    'alerts.csv': [
      'id,project_id,type,kind,severity,title,body,date,keyword_id,url,created_at,resolved_at',
      '0a1b2c3d-0000-4000-8000-000000000001,Proj1,rule,Rule,info,,"",,,"",2026-03-03T04:05:06Z,',
      '',
    ].join('\n'),
  });
  await loadFolder(world, folder);
  const { body } = await world.ask('/queries');
  const queries = (body.queries as { query: string }[]).map(({ query }) => query);
  t.strictSame(queries, [
    '#hashtag',
    'a "quoted" text, with a comma',
    'two\r\nlines',
    "it's",
    'back\\slash',
    ' blanks ',
    'null',
    'a;b|c\td',
    '007',
  ]);
  const { alerts } = (await world.ask('/alerts')).body;
  t.match(alerts[0], { title: '', body: '', resolvedAt: null });
  t.equal(alerts[0].date ?? null, null);
  t.equal(alerts[0].keywordId ?? null, null);
  t.equal(alerts[0].url ?? null, null);

  const before = await answersOf(world);
  const header = 'project_id,date,device,clicks,impressions,sum_position\n';
  const good = 'Proj1,2026-03-01,desktop,1,1,1\n';
  for (const [what, text] of [
    ['a line with too few fields', `${header}${good}Proj1,2026-03-02,desktop,1\n`],
    ['a line with too many fields', `${header}${good}Proj1,2026-03-02,desktop,1,1,1,1,1\n`],
    ['a quote that does not end', `${header}${good}Proj1,2026-03-02,"desktop,1,1,1\n`],
    ['not UTF-8', Buffer.concat([Buffer.from(header + good), Buffer.from([0x50, 0xff, 0xfe, 0x2c, 0x0a])])],
  ] as const) {
    const problems = await problemsOf(loadFolder(world, writeFiles(t, { 'site_daily.csv': text })));
    t.strictSame([...new Set(problems.map(({ table }) => table))], ['site_daily'], what);
  }
  t.strictSame(await answersOf(world), before);
});

t.test('lists and JSON in each format', async (t) => {
  const asTexts = (row: Row): Row => ({ ...row, rule: JSON.stringify(row['rule']) });
  const writers: Readonly<Record<string, (path: string, row: Row) => void | Promise<void>>> = {
    'ndjson with values': (path, row) => writeFileSync(`${path}.ndjson`, ndjson([row])),
    'ndjson with JSON texts': (path, row) => writeFileSync(`${path}.ndjson`, ndjson([asTexts(row)])),
    csv: (path, row) => writeFileSync(`${path}.csv`, csv([row])),
    'Parquet with structs and lists': (path, row) => writeParquetRows(`${path}.parquet`, [row]),
    'Parquet with JSON': (path, row) => writeParquetRows(`${path}.parquet`, [row], { rule: 'JSON' }),
    'Parquet with texts': (path, row) => writeParquetRows(`${path}.parquet`, [asTexts(row)], { rule: 'VARCHAR' }),
  };
  const world = await makeLazyWorld(t);
  for (const [index, [what, write]] of Object.entries(writers).entries()) {
    const rule = { match: 'all', conditions: [{ field: 'clicks', op: 'gt', value: index + 0.5 }] };
    const pageRule = { match: 'any', conditions: [{ op: 'contains', value: `"${what}", y` }] };
    const pinned = ['/a', `/${what}, "c"`];
    const folder = temporaryFolder(t);
    const ids = { project_id: 'Proj1', id: 'Gr001', name: what, position: 1 };
    await write(join(folder, 'groups'), { ...ids, kind: 'rule', rule });
    await write(join(folder, 'page_groups'), { ...ids, rule: pageRule, pinned_urls: pinned });
    await loadFolder(world, folder);
    t.match((await world.ask('/groups')).body.groups, [{ name: what, rule }], what);
    const { pageGroups } = (await world.ask('/page-groups')).body;
    t.strictSame(pageGroups, [{ id: 'Gr001', name: what, position: 1, rule: pageRule, pinnedUrls: pinned }], what);
  }
});

t.test('Parquet: other types of the same values are read, values that would be changed are refused', async (t) => {
  const world = await makeLazyWorld(t);
  const folder = temporaryFolder(t);
  await writeParquet(
    join(folder, 'site_daily/timestamps-and-doubles.parquet'),
    `select 'Proj1' as project_id, timestamp '2026-03-01 00:00:00' as date, 'desktop'::enum('desktop', 'mobile') as device,
      3.0::double as clicks, 100::hugeint as impressions, 900.00::decimal(10, 2) as sum_position`,
  );
  await writeParquet(
    join(folder, 'site_daily/small-integers.parquet'),
    `select 'Proj1' as project_id, date '2026-03-02' as date, 'mobile' as device, 1::utinyint as clicks,
      60::smallint as impressions, 120::integer as sum_position`,
  );
  // Writers of tables leave other files beside their data.
  for (const name of ['_SUCCESS', '.part-0.parquet.crc', '_metadata'])
    writeFileSync(join(folder, 'site_daily', name), 'x');
  const { warnings } = await loadFolder(world, folder);
  t.strictSame(warnings, []);
  const { body } = await world.ask('/site?from=2026-03-01&to=2026-03-02');
  t.strictSame(body.daily, [
    { date: '2026-03-01', clicks: 3, impressions: 100, ctr: 0.03, position: 10 },
    { date: '2026-03-02', clicks: 1, impressions: 60, ctr: 0.0167, position: 3 },
  ]);

  const wrong = temporaryFolder(t);
  await writeParquet(
    join(wrong, 'site_daily.parquet'),
    `select 'Proj1' as project_id, timestamp '2026-03-01 01:00:00' as date, 'desktop' as device, 1.5 as clicks,
      'nan'::double as impressions, -1::bigint as sum_position`,
  );
  const problems = await problemsOf(loadFolder(world, wrong));
  t.strictSame(places(problems), [
    'site_daily.clicks',
    'site_daily.date',
    'site_daily.impressions',
    'site_daily.sum_position',
  ]);
});

t.test('what is in the folder', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const before = await answersOf(world);
  const header = 'project_id,date,device,clicks,impressions,sum_position\n';
  const refused = async (folder: string): Promise<string> =>
    new LoadRejected(await problemsOf(loadFolder(world, folder))).message;

  t.match(await refused('/no/such/folder'), /no folder.*\/no\/such\/folder/);
  t.match(await refused(import.meta.filename), /not a folder/);
  t.match(await refused(writeFiles(t, {})), /no table.*site_daily/);
  t.match(await refused(writeFiles(t, { 'site_dayly.csv': header })), /no table.*site_daily/);
  t.match(await refused(writeFiles(t, { 'site_daily/notes.txt': 'x' })), /site_daily.*no data file/);
  const twice = await refused(
    writeFiles(t, { 'site_daily.csv': header, 'site_daily.parquet': 'x', 'keywords.csv': 'a', 'keywords/a.csv': 'a' }),
  );
  t.match(twice, /site_daily.*'site_daily\.csv'.*'site_daily\.parquet'/);
  t.match(twice, /keywords.*'keywords'.*'keywords\.csv'/);
  t.strictSame(await answersOf(world), before);

  const typo = writeFiles(t, {
    'site_daily.csv': `${header}Proj1,2026-03-01,mobile,2,60,120\n`,
    'keyword.csv': 'id\n',
    'site_daily.xlsx': 'x',
    'README.md': 'x',
  });
  const { warnings } = await loadFolder(world, typo);
  t.equal(warnings.length, 3);
  for (const name of ['keyword.csv', 'site_daily.xlsx', 'README.md']) {
    t.ok(
      warnings.some((warning) => warning.includes(`'${name}'`)),
      name,
    );
  }
  const { body } = await world.ask('/site?from=2026-03-01&to=2026-03-01');
  t.match(body.totals, { clicks: 2 });
});

t.test('a table without rows changes nothing', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const before = await answersOf(world);
  const folder = writeFiles(t, {
    'site_daily.csv': 'project_id,date,device,clicks,impressions,sum_position\n',
    'keywords.csv': 'project_id,id,query,tracked_since\n',
  });
  await writeParquet(
    join(folder, 'brand_daily.parquet'),
    "select '' as project_id, current_date as date, '' as segment, 0 as clicks, 0 as impressions, 0 as sum_position where false",
  );
  const { tables } = await loadFolder(world, folder, { replace: true });
  t.match(tables, { site_daily: { rows: 0 }, keywords: { rows: 0 }, brand_daily: { rows: 0 } });
  t.strictSame(await answersOf(world), before);
  // Rows name the columns of ndjson: a file without rows lacks none.
  await loadFolder(world, writeFiles(t, { 'keywords.ndjson': '', 'site_daily/part-0.jsonl': '' }));
  t.strictSame(await answersOf(world), before);
});

t.test('folders above the snapshot are not part of it', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const folder = join(temporaryFolder(t), 'country=fra', 'project_id=Proj2', 'snapshot');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'projects.ndjson'), ndjson([PROJECT]));
  await loadFolder(world, folder);
  t.equal((await world.get('/projects')).body.projects[0].country, null);
  writeFileSync(
    join(folder, 'site_daily.csv'),
    'date,device,clicks,impressions,sum_position\n2026-03-01,desktop,1,1,1\n',
  );
  t.strictSame(places(await problemsOf(loadFolder(world, folder))), ['site_daily.project_id']);
});
