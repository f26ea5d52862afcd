// A malformed or malicious snapshot is rejected by file and line, without harm to the service.
import { execFileSync } from 'node:child_process';
import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { LoadRejected } from '../../server/domain/problems.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { command } from '../command.ts';
import { writeParquet } from '../parquet.ts';
import { facts, type LazyWorld, makeLazyWorld, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { loadFolder, ndjson, places, problemsOf, writeFiles } from './snapshots.ts';

const HEADER = 'project_id,date,device,clicks,impressions,sum_position';
const ROW = 'Proj1,2026-03-01,desktop,1,10,10';
const lines = (...texts: string[]): string => texts.map((text) => `${text}\n`).join('');
const ALL_DAYS = '/site?from=2026-03-01&to=2026-03-10';
const SITE = facts('date device', ['2026-03-01', 'desktop', 3, 100, 900]);

/** What a load of a folder is refused with. */
async function messageOf(world: LazyWorld, folder: string): Promise<string> {
  return new LoadRejected(await problemsOf(loadFolder(world, folder))).message;
}

/** What a load of one file of site_daily is refused with. */
function refusalOf(t: Test, world: LazyWorld, content: string | Buffer, name = 'site_daily.csv'): Promise<string> {
  return messageOf(world, writeFiles(t, { [name]: content }));
}

t.test('what is no file: named pipes, links to nothing, links in circles, folders called like files', async (t) => {
  const world = await makeLazyWorld(t);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'site_daily'));
  const pipe = (path: string) => execFileSync('mkfifo', [join(folder, path)]);
  for (const path of ['keywords.csv', 'site_daily/part.csv', 'no-table.csv']) pipe(path);
  symlinkSync('/no/such/file', join(folder, 'groups.csv'));
  symlinkSync('alerts.csv', join(folder, 'alerts.csv'));
  symlinkSync('/no/such/file', join(folder, 'site_daily', 'gone.parquet'));
  symlinkSync('.', join(folder, 'site_daily', 'folder.csv'));
  t.strictSame((await messageOf(world, folder)).split('\n'), [
    "alerts: 'alerts.csv' is a link to a file that does not exist.",
    "groups: 'groups.csv' is a link to a file that does not exist.",
    "keywords: 'keywords.csv' is a named pipe (FIFO), not a data file.",
    "site_daily: 'site_daily/folder.csv' is a folder, not a data file.",
    "site_daily: 'site_daily/gone.parquet' is a link to a file that does not exist.",
    "site_daily: 'site_daily/part.csv' is a named pipe (FIFO), not a data file.",
  ]);

  // Next to good tables, what is no table does not matter.
  const good = writeFiles(t, { 'site_daily.csv': lines(HEADER, ROW) });
  symlinkSync('/no/such/file', join(good, 'README'));
  execFileSync('mkfifo', [join(good, 'queue.csv')]);
  t.strictSame((await loadFolder(world, good)).warnings, [
    "'README' is not a table of a snapshot and is ignored.",
    "'queue.csv' is not a table of a snapshot and is ignored.",
  ]);
});

t.test('names that look like patterns stand for themselves, also that of the data folder', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'd[1] *?');
  const folder = join(temporaryFolder(t), 'all[1] *?');
  const below = join(folder, 'site_daily', 'project_id=Proj1');
  mkdirSync(below, { recursive: true });
  writeFileSync(join(folder, 'workspaces.ndjson'), ndjson([WORKSPACE]));
  writeFileSync(join(folder, 'projects.ndjson'), ndjson([PROJECT]));
  // As patterns, each of these would match others, too.
  for (const [index, name] of ['a*', 'ab', 'a?', '[ab]', '{a,b}', "it's", '**', 'a b'].entries()) {
    const row = `2026-03-0${index + 1},desktop,${index + 1},10,10`;
    writeFileSync(join(below, `${name}.csv`), lines(HEADER.replace('project_id,', ''), row));
  }
  await writeParquet(
    join(below, '*.parquet'),
    "select date '2026-03-09' as date, 'desktop' as device, 9 as clicks, 10 as impressions, 10 as sum_position",
  );
  const row = { date: '2026-03-10', device: 'desktop', clicks: 10, impressions: 10, sum_position: 10 };
  writeFileSync(join(below, '?.ndjson'), ndjson([row]));
  const settings = { ORDINATE_DATA: dataFolder };
  t.match(await command(settings, 'load', folder), {
    code: 0,
    stdout: /^site_daily: 10 rows, 2026-03-01 to 2026-03-10$/m,
  });
  t.match(await command(settings, 'load', writeSnapshot(t, { site_daily: SITE })), { code: 0 });
  const out = join(temporaryFolder(t), 'out');
  await command(settings, 'export', '--workspace', 'acme', '--out', out, '--format', 'csv');
  const [file = ''] = globSync(`${out}/site_daily/**/*.csv`);
  t.strictSame(readFileSync(file, 'utf8').trim().split('\n').slice(1), [
    '2026-03-01,desktop,3,100,900',
    ...[2, 3, 4, 5, 6, 7, 8, 9].map((day) => `2026-03-0${day},desktop,${day},10,10`),
    '2026-03-10,desktop,10,10,10',
  ]);
});

t.test('texts of more than 64 kB are refused and not shown whole', async (t) => {
  const world = await makeLazyWorld(t);
  const good = { project_id: 'Proj1', date: '2026-03-01', country: 'usa', clicks: 1, impressions: 2, sum_position: 3 };
  const longest = 'x'.repeat(65_536);
  await loadFolder(world, writeFiles(t, { 'query_daily.ndjson': ndjson([{ ...good, query: longest }]) }));
  t.equal((await world.ask('/queries')).body.queries[0].query, longest, '64 kB are stored');

  const rule = { match: 'any', conditions: [{ op: 'contains', value: longest }] };
  // In bytes, not in characters.
  const name = 'é'.repeat(40_000);
  const entity = { project_id: 'Proj1', id: 'Gr001', kind: 'manual', position: 1, name: 'P' };
  const columns = [...Object.keys(good), 'url'].join(',');
  const folder = writeFiles(t, {
    'query_daily.ndjson': ndjson([{ ...good, query: `${longest}x` }]),
    'page_daily.csv': lines(columns, [...Object.values(good), `https://a.example/${longest}`].join(',')),
    'groups.ndjson': ndjson([{ ...entity, name }]),
    'page_groups.ndjson': ndjson([{ ...entity, rule }]),
  });
  const problems = await problemsOf(loadFolder(world, folder));
  t.strictSame(places(problems), ['groups.name', 'page_daily.url', 'page_groups.rule', 'query_daily.query']);
  const { message } = new LoadRejected(problems);
  t.match(message, /query_daily\.query: 1 row .* at most 64 kB.*\(65537 bytes\)/s);
  t.ok(message.length < 4000, 'what is shown is short');

  const huge = temporaryFolder(t);
  await writeParquet(
    join(huge, 'query_daily.parquet'),
    `select 'Proj1' as project_id, date '2026-03-01' as date, repeat('x', 20000000) as query, 'usa' as country,
      1 as clicks, 2 as impressions, 3 as sum_position`,
  );
  // More than the 32 MB after which DuckDB's parallel reader of CSV would leave the line out.
  const text = 'x'.repeat(34_000_000);
  const csv = `${HEADER}\n${ROW}\n${text},2026-03-01,mobile,1,10,10\n\n\n`;
  for (const [message, says] of [
    [await messageOf(world, huge), /query_daily\.query: 1 row .*64 kB.*20000000 bytes/s],
    [await refusalOf(t, world, `{"project_id":"${text}"}\n`, 'site_daily.ndjson'), /'site_daily\.ndjson'/],
    [await refusalOf(t, world, csv), /'site_daily\.csv', line 3: the line is longer than 2 MB/],
    [await refusalOf(t, world, text.slice(0, 2_000_000)), /'site_daily\.csv', line 1: the header is longer than 1 MB/],
  ] as const) {
    t.match(message, says);
    t.ok(message.length < 2000);
  }
});

t.test('of 10,000 columns those of the format are read, and few of the others are named', async (t) => {
  const world = await makeLazyWorld(t);
  const names = Array.from({ length: 10_000 }, (_, index) => `extra_${index}`);
  const values = names.map(() => '1').join(',');
  const extra = Object.fromEntries(names.map((name) => [name, 1]));
  const row = { project_id: 'Proj1', date: '2026-03-02', country: 'usa', clicks: 1, impressions: 10, sum_position: 3 };
  const { warnings, tables } = await loadFolder(
    world,
    writeFiles(t, {
      'site_daily.csv': lines(`${HEADER},${names.join(',')}`, `${ROW},${values}`),
      'country_daily.ndjson': ndjson([{ ...row, ...extra }]),
    }),
  );
  t.match(warnings.slice(0, 2), [
    /site_daily: 10,000 columns not of the format ignored: extra_0, .* and 9,990 more\.$/,
    /country_daily: 10,000 columns/,
  ]);
  t.ok(warnings.join('').length < 2000);
  t.match(tables, { site_daily: { rows: 1 }, country_daily: { rows: 1 } });
  const lacking = await refusalOf(t, world, lines(names.join(','), values));
  t.match(lacking, /the column is missing.*Found: extra_0.* and 9,990 more/);
  t.ok(lacking.length < 4000);
});

t.test('packed files are loaded whole or not at all', async (t) => {
  const world = await makeLazyWorld(t);
  const days = Array.from({ length: 28 }, (_, day) => `2026-03-${String(day + 1).padStart(2, '0')}`);
  const rows = days.map((day, index) => `Proj1,${day},desktop,${index},386,${index * 7}`);
  const text = lines(HEADER, ...rows);
  const packed = gzipSync(text);
  const [first, second] = [text.slice(0, 400), text.slice(400)].map((part) => gzipSync(part)) as [Buffer, Buffer];
  const changed = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy[at < 0 ? copy.length + at : at]! ^= 1;
    return copy;
  };
  const flagged = (bytes: Buffer, flags: number, more: string): Buffer => {
    const head = Buffer.concat([bytes.subarray(0, 10), Buffer.from(more)]);
    head[3] = flags;
    const checksum = Buffer.alloc(flags & 2 ? 2 : 0);
    if (flags & 2) checksum.writeUInt16LE(crc32(head) & 0xffff);
    return Buffer.concat([head, checksum, bytes.subarray(10)]);
  };
  const stored = gzipSync(text, { level: 0 });
  const rowsEnd = gzipSync(lines(HEADER, rows[0]!), { level: 0 });
  const json = gzipSync(ndjson([{ project_id: 'Proj1', date: '2026-03-01', device: 'desktop', clicks: 1 }]));
  const [csv, damaged, unread] = ['csv', 'the file is damaged or cut off', 'its gzip header'];
  for (const [what, bytes, ending, says] of [
    ['half of it', packed.subarray(0, Math.floor(packed.length / 2)), csv, damaged],
    ['without its last byte', packed.subarray(0, -1), csv, damaged],
    ['without checksum and length', packed.subarray(0, -8), csv, damaged],
    ['another checksum', changed(packed, -8), csv, damaged],
    ['another length', changed(packed, -4), csv, damaged],
    ['a changed digit that is not compressed', changed(stored, stored.lastIndexOf(',386,') + 1), csv, damaged],
    ['whole lines that are not compressed, without checksum', rowsEnd.subarray(0, -8), csv, damaged],
    ['another checksum in the first member', Buffer.concat([changed(first, -8), second]), csv, damaged],
    ['another checksum in the second', Buffer.concat([first, changed(second, -8)]), csv, damaged],
    ['the second without its end', Buffer.concat([first, second.subarray(0, -8)]), csv, damaged],
    ['the second with another first byte', Buffer.concat([first, changed(second, 0)]), csv, damaged],
    ['zeros between members', Buffer.concat([first, Buffer.alloc(512), second]), csv, damaged],
    ['zeros in place of the second member', Buffer.concat([first, Buffer.alloc(second.length)]), csv, damaged],
    ['text after its end', Buffer.concat([packed, Buffer.from(rows[0]!)]), csv, damaged],
    ['ndjson without checksum', json.subarray(0, -8), 'ndjson', damaged],
    ['ndjson with another length', changed(json, -1), 'jsonl', damaged],
    ['not packed at all', Buffer.from(text), csv, ''],
    ['a checksum of the header', flagged(packed, 2, ''), csv, unread],
    ['a comment', flagged(packed, 16, 'a comment\0'), csv, unread],
    ['text', flagged(packed, 1, ''), csv, unread],
    ['a checksum in the second member', Buffer.concat([first, flagged(second, 2, '')]), csv, unread],
  ] as const) {
    const message = await refusalOf(t, world, bytes, `site_daily.${ending}.gz`);
    t.match(message, `'site_daily.${ending}.gz': ${says}`, what);
    t.ok(message.length < 300, `${what}: short`);
  }
  const lacking = gzipSync(lines(HEADER, ROW, 'Proj1'));
  t.match(await refusalOf(t, world, lacking, 'site_daily.csv.gz'), /csv\.gz', line 3: 1 fields instead/);
  const many = writeFiles(t, { 'site_daily/a.csv.gz': packed, 'site_daily/b.csv.gz': changed(packed, -1) });
  t.match(await messageOf(world, many), /'site_daily\/b\.csv\.gz': the file is damaged/);
  for (const whole of [flagged(packed, 8, 'a.csv\0'), Buffer.concat([first, second])]) {
    const folder = writeFiles(t, { 'site_daily.csv.gz': whole });
    t.match((await loadFolder(world, folder, { dryRun: true })).tables, { site_daily: { rows: 28 } });
  }
});

t.test('csv: a long last line is refused, packed or not, with or without a line end', async (t) => {
  const world = await makeLazyWorld(t);
  const says = /, line 3: (the line is longer than 2 MB|more fields)/;
  // More than DuckDB's buffer of 32 MB, whose readers leave such a line out without a word.
  for (const length of [2_000_001, 33_000_000]) {
    for (const [what, text] of [
      ['one field', lines(HEADER, ROW) + 'x'.repeat(length)],
      ['a field too many', `${lines(HEADER, ROW)}${ROW},${'x'.repeat(length)}`],
      ['a column that is ignored', `${HEADER},more\r\n${ROW},\r\n${ROW.replace('01', '02')},${'x'.repeat(length)}`],
      ['lines without text after it', `${lines(HEADER, ROW)}${'x'.repeat(length)}${'\n'.repeat(300_000)}`],
    ] as const) {
      t.match(await refusalOf(t, world, text), says, `${what}, ${length}`);
      const packed = gzipSync(text, { level: 1 });
      t.match(await refusalOf(t, world, packed, 'site_daily.csv.gz'), says, `${what}, ${length}, packed`);
    }
  }
  const blank = `${lines(HEADER, ROW)}${'\n'.repeat(3_000_000)}`;
  t.equal((await loadFolder(world, writeFiles(t, { 'site_daily.csv': blank }))).tables['site_daily']?.rows, 1);
});

t.test('Parquet: other types of the same values are read, and others refused', async (t) => {
  const world = await makeLazyWorld(t);
  const folder = temporaryFolder(t);
  await writeParquet(
    join(folder, 'site_daily/timestamps-and-doubles.parquet'),
    `select 'Proj1' as project_id, timestamp '2026-03-01 00:00:00' as date, 'desktop'::enum('desktop', 'mobile') as device,
      3.0::double as clicks, 100::hugeint as impressions, 900.00::decimal(10, 2) as sum_position`,
  );
  // As Spark writes: a folder by the name of a file, and files beside the data.
  await writeParquet(
    join(folder, 'site_daily/b.parquet/part-0.parquet'),
    `select 'Proj1' as project_id, date '2026-03-02' as date, 'mobile' as device, 1::utinyint as clicks,
      60::smallint as impressions, 120::integer as sum_position`,
  );
  const group = `'Proj1' as project_id, 'Gr001' as id, 'G' as name, 1 as position`;
  const rule = `'{"match":"all","conditions":[{"field":"clicks","op":"gt","value":0.5}]}'`;
  await writeParquet(join(folder, 'groups.parquet'), `select ${group}, 'rule' as kind, ${rule} as rule`);
  await writeParquet(
    join(folder, 'page_groups.parquet'),
    `select ${group}, '{"match":"any","conditions":[]}'::json as rule, '["/a", "/c,d"]' as pinned_urls`,
  );
  for (const name of ['_SUCCESS', '.part-0.parquet.crc', '_metadata'])
    writeFileSync(join(folder, 'site_daily', name), 'x');
  await writeParquet(join(folder, 'brand_daily.parquet', 'part-0.parquet'), 'select 1 as x');
  const { warnings } = await loadFolder(world, folder);
  t.strictSame(warnings, ["'brand_daily.parquet' is not a table of a snapshot and is ignored."]);
  t.strictSame((await world.ask('/site?from=2026-03-01&to=2026-03-02')).body.daily, [
    { date: '2026-03-01', clicks: 3, impressions: 100, ctr: 0.03, position: 10 },
    { date: '2026-03-02', clicks: 1, impressions: 60, ctr: 0.0167, position: 3 },
  ]);
  const conditions = [{ field: 'clicks', op: 'gt', value: 0.5 }];
  t.match((await world.ask('/groups')).body.groups, [{ rule: { match: 'all', conditions } }]);
  t.match((await world.ask('/page-groups')).body.pageGroups, [{ pinnedUrls: ['/a', '/c,d'] }]);

  const wrong = temporaryFolder(t);
  await writeParquet(
    join(wrong, 'site_daily.parquet'),
    `select 'Proj1' as project_id, timestamp '2026-03-01 01:00:00' as date, 'desktop' as device, 1.5 as clicks,
      'nan'::double as impressions, -1::bigint as sum_position`,
  );
  t.strictSame(places(await problemsOf(loadFolder(world, wrong))), [
    'site_daily.clicks',
    'site_daily.date',
    'site_daily.impressions',
    'site_daily.sum_position',
  ]);
});

t.test('files that are broken are named, and what was being served is untouched', async (t) => {
  const world = await makeLazyWorld(t, { site_daily: SITE });
  const days = `(select unnest(generate_series(date '2025-12-01', date '2026-03-10', interval 1 day))::date as date)`;
  const rows = `select 'Proj1' as project_id, date, 'mobile' as device, (random() * 1000)::int as clicks,
    (random() * 1e6)::int as impressions, 0 as sum_position from ${days}`;
  const folder = temporaryFolder(t);
  const table = join(folder, 'site_daily');
  const parquet = join(table, 'b.parquet');
  await writeParquet(join(table, 'a.parquet'), rows.replace('mobile', 'desktop'));
  await writeParquet(parquet, rows);
  const whole = readFileSync(parquet);
  const half = Math.floor(whole.length / 2);
  for (const [what, bytes, name] of [
    ['cut in the middle', whole.subarray(0, half), 'b.parquet'],
    ['cut at the end', whole.subarray(0, -1), 'b.parquet'],
    ['only the first bytes', whole.subarray(0, 4), 'b.parquet'],
    ['empty', Buffer.alloc(0), 'b.parquet'],
    ['zeros in the data', Buffer.from(whole).fill(0, 4, half), 'b.parquet'],
    ['a broken footer', Buffer.from(whole).fill(0xff, whole.length - 60, whole.length - 8), 'b.parquet'],
    ['a text', Buffer.from(lines(HEADER, ROW)), 'b.parquet'],
    ['a cut ndjson', Buffer.from('{"project_id": "Proj1", "date": "2026-'), 'b.ndjson'],
    ['ndjson that is no object', Buffer.from('[1, 2]\n'), 'b.ndjson'],
  ] as const) {
    rmSync(parquet, { force: true });
    writeFileSync(join(table, name), bytes);
    const problems = await problemsOf(loadFolder(world, folder));
    t.strictSame([...new Set(problems.map(({ table }) => table))], ['site_daily'], what);
    rmSync(join(table, name));
  }
  t.match((await world.ask(ALL_DAYS)).body.totals, { clicks: 3 });
});

t.test('a file that changes or goes while it is read', async (t) => {
  const world = await makeLazyWorld(t);
  const { settings, catalog } = world;
  const ways: ((file: string) => void)[] = [
    (file) => appendFileSync(file, readFileSync(file, 'utf8').replace('desktop', 'mobile')),
    (file) => writeFileSync(file, readFileSync(file)),
    (file) => rmSync(file),
  ];
  for (const change of ways) {
    const folder = writeSnapshot(t, { site_daily: SITE });
    const report = (step: string): void => {
      if (step.startsWith('checking')) change(join(folder, 'site_daily.ndjson'));
    };
    t.match(await problemsOf(loadSnapshot({ settings, catalog }, { folder, report })), [
      { table: 'site_daily', message: /site_daily\.ndjson.*changed while it was being read/ },
    ]);
  }
  t.match((await world.ask(ALL_DAYS)).body.totals, { clicks: 0 });
});
