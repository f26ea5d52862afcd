// A malformed or malicious snapshot is rejected by file and line, without harm to the service.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { LoadRejected } from '../../server/domain/problems.ts';
import { writeParquet } from '../parquet.ts';
import { makeWorld, temporaryFolder, type World } from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, EVERYTHING, loadFolder, ndjson, places, writeFiles } from './snapshots.ts';

const HEADER = 'project_id,date,device,clicks,impressions,sum_position';
const ROW = 'Proj1,2026-03-01,desktop,1,10,10';
const lines = (...texts: string[]): string => texts.map((text) => `${text}\n`).join('');

/** What a load of a folder is refused with. */
async function messageOf(world: World, folder: string): Promise<string> {
  return new LoadRejected(await problemsOf(loadFolder(world, folder))).message;
}

/** What a load of one file of site_daily is refused with. */
function refusalOf(t: Test, world: World, content: string | Buffer, name = 'site_daily.csv'): Promise<string> {
  return messageOf(world, writeFiles(t, { [name]: content }));
}

t.test('what is no file: named pipes, links to nothing, links in circles, folders called like files', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const before = await answersOf(world);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'site_daily'));
  const pipe = (path: string) => execFileSync('mkfifo', [join(folder, path)]);
  pipe('keywords.csv');
  pipe('site_daily/part.csv');
  pipe('no-table.csv');
  symlinkSync('/no/such/file', join(folder, 'groups.csv'));
  symlinkSync('alerts.csv', join(folder, 'alerts.csv'));
  symlinkSync('/no/such/file', join(folder, 'site_daily', 'gone.parquet'));
  symlinkSync('.', join(folder, 'site_daily', 'folder.csv'));
  const problems = await problemsOf(loadFolder(world, folder));
  t.strictSame(places(problems), [
    'alerts.null',
    'groups.null',
    'keywords.null',
    'site_daily.null',
    'site_daily.null',
    'site_daily.null',
  ]);
  const { message } = new LoadRejected(problems);
  t.match(message, /keywords: 'keywords\.csv' is a named pipe/);
  t.match(message, /groups: 'groups\.csv' is a link to a file that does not exist/);
  t.match(message, /alerts: 'alerts\.csv' is a link/);
  t.match(message, /'site_daily\/part\.csv' is a named pipe/);
  t.match(message, /'site_daily\/gone\.parquet' is a link to a file that does not exist/);
  t.match(message, /'site_daily\/folder\.csv' is a folder/);
  t.strictSame(await answersOf(world), before);

  // Next to good tables, what is no table does not matter.
  const good = writeFiles(t, { 'site_daily.csv': lines(HEADER, ROW) });
  symlinkSync('/no/such/file', join(good, 'README'));
  execFileSync('mkfifo', [join(good, 'queue.csv')]);
  t.strictSame((await loadFolder(world, good)).warnings.length, 2);
});

t.test('names that look like patterns stand for themselves', async (t) => {
  const world = await makeWorld(t);
  // As patterns, each of these would match the others, too.
  const alone = writeFiles(t, {
    'country_daily/a*.csv': `${HEADER.replace('device', 'country')}\nProj1,2026-03-01,usa,1,10,10\n`,
    'country_daily/a?.csv': `${HEADER.replace('device', 'country')}\nProj1,2026-03-02,usa,1,10,10\n`,
    'country_daily/[ab].csv': `${HEADER.replace('device', 'country')}\nProj1,2026-03-03,usa,1,10,10\n`,
    'country_daily/a.csv': `${HEADER.replace('device', 'country')}\nProj1,2026-03-04,usa,1,10,10\n`,
  });
  t.equal((await loadFolder(world, alone)).tables['country_daily']?.rows, 4);

  const folder = join(temporaryFolder(t), 'all[1] *?', 'site_daily', 'project_id=Proj1');
  mkdirSync(folder, { recursive: true });
  const header = HEADER.replace('project_id,', '');
  for (const [index, name] of ['a*', 'ab', 'a?', '[ab]', '{a,b}', "it's", '**', 'a b'].entries()) {
    const row = `2026-03-0${index + 1},desktop,${index + 1},10,10`;
    writeFileSync(join(folder, `${name}.csv`), lines(header, row));
  }
  await writeParquet(
    join(folder, '*.parquet'),
    "select date '2026-03-09' as date, 'desktop' as device, 9 as clicks, 10 as impressions, 10 as sum_position",
  );
  writeFileSync(
    join(folder, '?.ndjson'),
    ndjson([{ date: '2026-03-10', device: 'desktop', clicks: 10, impressions: 10, sum_position: 10 }]),
  );
  await loadFolder(world, join(folder, '../..'));
  const { body } = await world.ask('/site?from=2026-03-01&to=2026-03-10');
  t.strictSame(
    (body.daily as { clicks: number }[]).map(({ clicks }) => clicks),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

t.test('texts of more than 64 kB are refused and not shown whole', async (t) => {
  const world = await makeWorld(t);
  const good = { project_id: 'Proj1', date: '2026-03-01', country: 'usa', clicks: 1, impressions: 2, sum_position: 3 };
  const longest = 'x'.repeat(65_536);
  await loadFolder(world, writeFiles(t, { 'query_daily.ndjson': ndjson([{ ...good, query: longest }]) }));
  t.equal((await world.ask('/queries')).body.queries[0].query, longest, '64 kB are stored');

  const folder = writeFiles(t, {
    'query_daily.ndjson': ndjson([{ ...good, query: `${longest}x` }]),
    'page_daily.csv': `${Object.keys(good).join(',')},url\n${Object.values(good).join(',')},https://a.example/${longest}\n`,
    // In bytes, not in characters.
    'groups.ndjson': ndjson([
      { project_id: 'Proj1', id: 'Gr001', kind: 'manual', position: 1, name: 'é'.repeat(40_000) },
    ]),
    'page_groups.ndjson': ndjson([
      {
        project_id: 'Proj1',
        id: 'Pg001',
        name: 'P',
        position: 1,
        rule: { match: 'any', conditions: [{ op: 'contains', value: longest }] },
      },
    ]),
  });
  const problems = await problemsOf(loadFolder(world, folder));
  t.strictSame(places(problems), ['groups.name', 'page_daily.url', 'page_groups.rule', 'query_daily.query']);
  const { message } = new LoadRejected(problems);
  t.match(message, /query_daily\.query: 1 row .* at most 64 kB/);
  t.match(message, /\(65537 bytes\)/);
  t.ok(message.length < 4000, 'what is shown is short');

  const huge = temporaryFolder(t);
  await writeParquet(
    join(huge, 'query_daily.parquet'),
    `select 'Proj1' as project_id, date '2026-03-01' as date, repeat('x', 20000000) as query, 'usa' as country,
      1 as clicks, 2 as impressions, 3 as sum_position`,
  );
  const parquet = await messageOf(world, huge);
  t.match(parquet, /query_daily\.query: 1 row .*64 kB.*20000000 bytes/s);
  t.ok(parquet.length < 2000);
  // More than the 32 MB after which DuckDB's parallel reader of CSV would leave the line out.
  const text = 'x'.repeat(34_000_000);
  const json = await refusalOf(t, world, `{"project_id":"${text}"}\n`, 'site_daily.ndjson');
  t.match(json, /site_daily.*'site_daily\.ndjson'/);
  t.ok(json.length < 2000);
  const csv = await refusalOf(t, world, `${HEADER}\n${ROW}\n${text},2026-03-01,mobile,1,10,10\n\n\n`);
  t.match(csv, /'site_daily\.csv', line 3: the line is longer than 2 MB/);
  t.ok(csv.length < 2000);
  t.match(
    await refusalOf(t, world, text.slice(0, 2_000_000)),
    /'site_daily\.csv', line 1: the header is longer than 1 MB/,
  );
});

t.test('10,000 columns', async (t) => {
  const world = await makeWorld(t);
  const names = Array.from({ length: 10_000 }, (_, index) => `extra_${index}`);
  const values = names.map(() => '1').join(',');
  const extra = Object.fromEntries(names.map((name) => [name, 1]));
  const row = { project_id: 'Proj1', date: '2026-03-02', country: 'usa', clicks: 1, impressions: 10, sum_position: 3 };
  const folder = writeFiles(t, {
    'site_daily.csv': lines(`${HEADER},${names.join(',')}`, `${ROW},${values}`),
    'country_daily.ndjson': ndjson([{ ...row, ...extra }]),
  });
  const { warnings } = await loadFolder(world, folder);
  t.match(warnings.slice(0, 2), [
    /site_daily: 10,000 columns not of the format ignored: extra_0, .* and 9,990 more\.$/,
    /country_daily: 10,000 columns/,
  ]);
  t.ok(warnings.join('').length < 2000);
  t.match((await world.ask('/site?from=2026-03-01&to=2026-03-01')).body.totals, { clicks: 1, impressions: 10 });
  const lacking = await refusalOf(t, world, lines(names.join(','), values));
  t.match(lacking, /the column is missing.*Found: extra_0.* and 9,990 more/);
  t.ok(lacking.length < 4000);
});

t.test('csv: what cannot be read is named by file and line, with what was found', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const before = await answersOf(world);
  const cases: [what: string, content: string | Buffer, says: RegExp, name?: string][] = [
    [
      'packed',
      gzipSync(lines(HEADER, ROW, 'Proj1')),
      /'site_daily\.csv\.gz', line 3: 1 fields instead/,
      'site_daily.csv.gz',
    ],
    [
      'packed, and cut off',
      gzipSync(lines(HEADER, ROW).repeat(9)).subarray(0, 40),
      /'site_daily\.csv\.gz': the file is damaged or cut off \(unexpected end of file\)/,
      'site_daily.csv.gz',
    ],
    ['not packed at all', lines(HEADER, ROW), /'site_daily\.csv\.gz'/, 'site_daily.csv.gz'],
    ['not Parquet', 'PAR1', /'site_daily\.parquet'/, 'site_daily.parquet'],
  ];
  for (const [what, content, says, name] of cases) {
    const message = await refusalOf(t, world, content, name);
    t.match(message, says, what);
    t.match(message, `'${name ?? 'site_daily.csv'}'`, what);
    t.ok(message.length < 6 * 700, `${what}: short`);
  }
  const many = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `site_daily/part-${index}.csv`,
      lines(HEADER, index === 13 ? 'Proj1' : ROW),
    ]),
  );
  t.match(await messageOf(world, writeFiles(t, many)), /'site_daily\/part-13\.csv', line 2/);
  t.strictSame(await answersOf(world), before);
});

t.test('packed files are loaded whole or not at all', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const before = await answersOf(world);
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
  const stored = gzipSync(text, { level: 0 });
  const rowsEnd = gzipSync(lines(HEADER, rows[0]!), { level: 0 });
  const json = gzipSync(ndjson([{ project_id: 'Proj1', date: '2026-03-01', device: 'desktop', clicks: 1 }]));
  const damaged: readonly (readonly [what: string, bytes: Buffer, name?: string])[] = [
    ['half of it', packed.subarray(0, Math.floor(packed.length / 2))],
    ['without its last byte', packed.subarray(0, -1)],
    ['without checksum and length', packed.subarray(0, -8)],
    ['another checksum', changed(packed, -8)],
    ['another length', changed(packed, -4)],
    ['a changed digit that is not compressed', changed(stored, stored.lastIndexOf(',386,') + 1)],
    ['whole lines that are not compressed, without checksum', rowsEnd.subarray(0, -8)],
    ['another checksum in the first of two members', Buffer.concat([changed(first, -8), second])],
    ['another checksum in the second', Buffer.concat([first, changed(second, -8)])],
    ['the second without its end', Buffer.concat([first, second.subarray(0, -8)])],
    ['the second with another first byte', Buffer.concat([first, changed(second, 0)])],
    ['zeros between members', Buffer.concat([first, Buffer.alloc(512), second])],
    ['zeros in place of the second member', Buffer.concat([first, Buffer.alloc(second.length)])],
    ['text after its end', Buffer.concat([packed, Buffer.from(rows[0]!)])],
    ['ndjson without checksum', json.subarray(0, -8), 'site_daily.ndjson.gz'],
    ['ndjson with another length', changed(json, -1), 'site_daily.jsonl.gz'],
  ];
  for (const [what, bytes, name = 'site_daily.csv.gz'] of damaged) {
    const message = await refusalOf(t, world, bytes, name);
    t.match(message, new RegExp(`'${name.replaceAll('.', '\\.')}': the file is damaged or cut off`), what);
    t.ok(message.length < 300, `${what}: short`);
  }
  const many = writeFiles(t, { 'site_daily/a.csv.gz': packed, 'site_daily/b.csv.gz': changed(packed, -1) });
  t.match(await messageOf(world, many), /'site_daily\/b\.csv\.gz': the file is damaged/);
  const flagged = (bytes: Buffer, flags: number, more: string): Buffer => {
    const head = Buffer.concat([bytes.subarray(0, 10), Buffer.from(more)]);
    head[3] = flags;
    const checksum = Buffer.alloc(flags & 2 ? 2 : 0);
    if (flags & 2) checksum.writeUInt16LE(crc32(head) & 0xffff);
    return Buffer.concat([head, checksum, bytes.subarray(10)]);
  };
  for (const [what, bytes] of [
    ['a checksum of the header', flagged(packed, 2, '')],
    ['a comment', flagged(packed, 16, 'a comment\0')],
    ['text', flagged(packed, 1, '')],
    ['a checksum in the second member', Buffer.concat([first, flagged(second, 2, '')])],
  ] as const) {
    const message = await refusalOf(t, world, bytes, 'site_daily.csv.gz');
    t.match(message, /'site_daily\.csv\.gz': its gzip header .* are not read; pack it again: `gzip/, what);
  }
  t.strictSame(await answersOf(world), before);
  const named = flagged(packed, 8, 'a.csv\0');
  t.equal((await loadFolder(world, writeFiles(t, { 'site_daily.csv.gz': named }))).tables['site_daily']?.rows, 28);
  const whole = await loadFolder(world, writeFiles(t, { 'site_daily.csv.gz': Buffer.concat([first, second]) }));
  t.equal(whole.tables['site_daily']?.rows, 28, 'of several members');
});

t.test('csv: a long last line is refused, packed or not, with or without a line end', async (t) => {
  const world = await makeWorld(t);
  // More than DuckDB's buffer of 32 MB, whose readers leave such a line out without a word.
  for (const length of [2_000_001, 33_000_000]) {
    for (const [what, text] of [
      ['one field', lines(HEADER, ROW) + 'x'.repeat(length)],
      ['a field too many', `${lines(HEADER, ROW)}${ROW},${'x'.repeat(length)}`],
      ['a column that is ignored', `${HEADER},more\r\n${ROW},\r\n${ROW.replace('01', '02')},${'x'.repeat(length)}`],
      ['lines without text after it', `${lines(HEADER, ROW)}${'x'.repeat(length)}${'\n'.repeat(300_000)}`],
    ] as const) {
      const says = /, line 3: (the line is longer than 2 MB|more fields)/;
      t.match(await refusalOf(t, world, text), says, `${what}, ${length}`);
      const packed = gzipSync(text, { level: 1 });
      t.match(await refusalOf(t, world, packed, 'site_daily.csv.gz'), says, `${what}, ${length}, packed`);
    }
  }
  const blank = `${lines(HEADER, ROW)}${'\n'.repeat(3_000_000)}`;
  t.equal((await loadFolder(world, writeFiles(t, { 'site_daily.csv': blank }))).tables['site_daily']?.rows, 1);
});
