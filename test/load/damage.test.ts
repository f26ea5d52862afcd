// Damaged files are never served, and verify finds and repairs them.
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { type ManifestRow, rollupOf } from '../../server/catalog/manifest.ts';
import { eachMonth } from '../../server/domain/dates.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { LocalFiles } from '../../server/storage/local-files.ts';
import { beforeFiles } from '../api/before-files.ts';
import { command } from '../command.ts';
import { writeParquet } from '../parquet.ts';
import { changeCatalog, localOnly } from '../stores.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type World } from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
/** Questions that read the files of a table. */
const ASKED: Readonly<Record<string, string>> = {
  site_daily: `/site?${RANGE}`,
  country_daily: `/site?${RANGE}&country=usa`,
  country_monthly: `/breakdowns?${RANGE}`,
  appearance_daily: `/breakdowns?${RANGE}`,
  brand_daily: `/breakdowns?${RANGE}`,
  keyword_daily: `/keywords?${RANGE}&daily=1&device=desktop`,
  keyword_all: `/keywords?${RANGE}&daily=1`,
  keyword_running: `/keywords?${RANGE}&device=desktop`,
  keyword_cumulative: `/keywords?${RANGE}`,
  page_daily: `/pages?${RANGE}`,
  query_daily: `/queries?${RANGE}`,
};

async function manifestOf(world: World): Promise<ManifestRow[]> {
  return (await world.catalog.statements.all<ManifestRow>('manifest_all')).filter(({ project }) => project === 'Proj1');
}

t.test('a damaged file is never answered from, and the log names it', async (t) => {
  const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
  const tables = new Set<string>();
  for (const { table, file, firstDay, lastDay } of await manifestOf(world)) {
    // No answer is made of it.
    if (table === 'keyword_page_daily') continue;
    tables.add(table);
    // A list is stored once it was made, so each file is asked for by its own days.
    const path = /page|query/.test(table)
      ? ASKED[table]!.replace(RANGE, `from=${firstDay}&to=${lastDay}`)
      : ASKED[table]!;
    const onDisk = join(world.dataFolder, file);
    const whole = readFileSync(onDisk);
    // Half of them are asked for first: a file may also be damaged while the server runs.
    const isOpen = tables.size % 2 === 0 && !/page|query/.test(table);
    const before = isOpen ? (await world.ask(path)).body : undefined;
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 3)]! ^= 1;
    writeFileSync(onDisk, flipped);
    const { status, body } = await world.ask(path);
    const refused = rollupOf(file) ? [503, 'unavailable'] : [500, 'server_error'];
    t.strictSame([status, body.error.code], refused, file);
    t.notMatch(body.error.message, /parquet|facts/);
    t.ok(
      world.log.some((line) => line.includes(file) && line.includes('SHA-256')),
      'the log names the file',
    );
    writeFileSync(onDisk, whole);
    const again = await world.ask(path);
    t.equal(again.status, 200, 'restored, it is answered from');
    if (isOpen) t.strictSame(again.body, before);
  }
  t.strictSame([...tables].sort(), Object.keys(ASKED).sort(), 'each kind of file');
});

t.test('a file that is cut or missing is a failure too, and no file is read twice to be compared', async (t) => {
  const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
  const reads: string[] = [];
  beforeFiles(t, (file) => void reads.push(file));
  await Promise.all(Array.from({ length: 3 }, () => world.ask(ASKED['site_daily']!)));
  await world.ask(`${ASKED['site_daily']!}&device=mobile`);
  t.equal(reads.length, 1);
  const path = join(world.dataFolder, reads[0]!);
  truncateSync(path, 100);
  t.equal((await world.ask(ASKED['site_daily']!)).status, 500);
  rmSync(path);
  t.equal((await world.ask(ASKED['site_daily']!)).status, 500);
  t.match(world.log.join(''), /it has 100 bytes instead of .*it is missing/s);
});

t.test('a load makes nothing of a damaged file, unless it replaces all of it', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const { file } = (await manifestOf(world)).find(({ table, part }) => table === 'query_daily' && part === '2026-03')!;
  const path = join(world.dataFolder, file);
  const bytes = readFileSync(path);
  bytes[Math.floor(bytes.length / 3)]! ^= 1;
  writeFileSync(path, bytes);
  const before = await manifestOf(world);
  const one = facts('date query country', ['2026-03-05', 'new', 'usa', 1, 2, 3]);
  await t.rejects(world.load({ query_daily: one }), { message: new RegExp(`Nothing was loaded.*${file}.*SHA-256`) });
  t.strictSame(await manifestOf(world), before);
  const all = facts('date query country', ['2026-03-01', 'new', 'usa', 4, 9, 9], ['2026-03-02', 'new', 'usa', 1, 2, 3]);
  await world.load({ query_daily: all });
  t.match((await world.ask(ASKED['query_daily']!)).body.queries, [{ clicks: 5 }]);
});

/** Puts other rows than those that are stored into a file, and makes the manifest believe that they were written so. */
async function falsify(world: World, { file }: ManifestRow, select: string): Promise<void> {
  const copy = join(world.dataFolder, 'copy.parquet');
  copyFileSync(join(world.dataFolder, file), copy);
  await writeParquet(join(world.dataFolder, file), `with stored as (from '${copy}') ${select}`);
  rmSync(copy);
  await believe(world, await new LocalFiles(world.dataFolder).seal(file));
}

const believe = (
  world: World,
  { file, bytes, sha256 }: Pick<ManifestRow, 'file' | 'bytes' | 'sha256'>,
): Promise<void> =>
  changeCatalog(world.settings, `update fact_files set bytes = ${bytes}, sha256 = '${sha256}' where file = '${file}'`);

t.test('verify finds what is wrong, and mends what can be made from the days', async (t) => {
  const world = await makeWorld(t, EVERYTHING, { environment: { ORDINATE_CACHE: '0MB' } });
  const rollups = ['keyword_all', 'keyword_running', 'keyword_cumulative'] as const;
  const answers = (): Promise<unknown[]> =>
    Promise.all(rollups.map(async (table) => (await world.ask(ASKED[table]!)).body as unknown));
  const right = await answers();
  t.match(await verify(world), { ok: true, files: 15, problems: [] });
  const manifest = await manifestOf(world);
  const rowOf = (wanted: string): ManifestRow => manifest.find(({ table }) => table === wanted)!;

  // One whose sums are wrong, one that is damaged, one file too many, and days that nothing but a load can mend.
  await falsify(world, rowOf('keyword_all'), "from stored where keyword_id = 'Kw001'");
  const running = rowOf('keyword_running').file;
  truncateSync(join(world.dataFolder, running), 50);
  // One column of one day, as if a load had not added it up.
  await falsify(
    world,
    rowOf('keyword_cumulative'),
    'select * replace (impressions_9 + 1 as impressions_9) from stored',
  );
  const orphan = 'facts/site_daily/Proj1/all-x.parquet';
  writeFileSync(join(world.dataFolder, orphan), 'x');
  const site = rowOf('site_daily').file;
  rmSync(join(world.dataFolder, site));
  const differs = 'differs from its days';
  const told = await command({ ORDINATE_DATA: world.dataFolder }, 'verify');
  const days = 'load site_daily of project Proj1 from 2026-02-28 to 2026-03-01 again';
  t.match(
    { ...told, lines: told.stdout.trim().split('\n') },
    {
      code: 1,
      lines: [
        new RegExp(`${orphan}' is unknown to the catalog`),
        new RegExp(`keyword_all.*2026-03.*${differs}`),
        /keyword_running.*is damaged/,
        new RegExp(`keyword_cumulative.*2026-03.*${differs}`),
        new RegExp(`${running}.*has 50 bytes instead of`),
        new RegExp(`${site}.*it is missing\\. .*${days}`),
        /^Not all is in order: 15 files/,
      ],
    },
  );
  const { ok, problems } = await verify(world, { repair: true });
  t.equal(ok, false, 'days that are missing cannot be made');
  t.strictSame(
    problems.map(({ kind, repaired }) => `${kind} ${repaired}`),
    ['orphan true', 'rollup true', 'rollup true', 'rollup true', 'file false'],
  );
  t.strictSame(await answers(), right);
  await world.load({ site_daily: EVERYTHING['site_daily']! });
  t.match(await verify(world), { ok: true, problems: [] });
});

t.test(
  'verify compares many files by one statement, writes nothing, and names each that differs',
  localOnly,
  async (t) => {
    const ids = ['Kw001', 'Kw002', 'Kw003'];
    const days = eachMonth('2025-12-01', '2026-03-31').flatMap((month) => [`${month}-03`, `${month}-28`]);
    const rows = facts(
      'keyword_id date device',
      ...ids.flatMap((id) => days.map((day, index) => [id, day, index % 2 ? 'mobile' : 'desktop', index % 3, 5, 7])),
    );
    const keywords = ids.map((id) => keyword(id, id));
    const world = await makeWorld(t, {
      projects: [PROJECT, { ...PROJECT, id: 'Proj2', property: 'sc-domain:other.example' }],
      keywords: [...keywords, ...ofProject('Proj2', keywords)],
      keyword_daily: [...rows, ...ofProject('Proj2', rows)],
    });
    const written = (): string[] => {
      const names = readdirSync(join(world.dataFolder, 'facts'), { recursive: true, encoding: 'utf8' });
      return names.map((name) => `${name} ${statSync(join(world.dataFolder, 'facts', name)).mtimeMs}`).sort();
    };
    const before = written();
    const steps: string[] = [];
    t.match(await verify(world, { report: (step) => steps.push(step) }), { ok: true, problems: [] });
    t.strictSame(
      steps.filter((step) => step.includes('keyword_')),
      ['keyword_all: 0 of 8', 'keyword_running: 0 of 2', 'keyword_cumulative: 0 of 8'].map((of) => `comparing ${of}`),
    );
    t.strictSame(written(), before);

    const manifest = await manifestOf(world);
    for (const [table, part, select] of [
      ['keyword_all', '2025-12', "select * replace (if(keyword_id = 'Kw002', 1, 0) + clicks as clicks) from stored"],
      ['keyword_all', '2026-01', "from stored where keyword_id <> 'Kw002'"],
      ['keyword_all', '2026-02', 'from stored union all from stored'],
      ['keyword_all', '2026-03', 'select * replace (nullif(impressions, 5) as impressions) from stored'],
      ['keyword_running', 'all', "from stored where device <> 'all' or number % 2 = 0 or date <> '2026-03-01'"],
      ['keyword_running', 'all', 'select * replace (clicks + 1 as clicks) from stored'],
      ['keyword_running', 'all', 'select * replace (number + 1 as number) from stored'],
      ['keyword_running', 'all', 'from stored union all from stored'],
      ['keyword_cumulative', '2025-12', 'select * replace (clicks_31 + 1 as clicks_31) from stored'],
      ['keyword_cumulative', '2026-01', 'select * replace (sum_position_1 + 1 as sum_position_1) from stored'],
      ['keyword_cumulative', '2026-02', 'select * replace (null::double as impressions_17) from stored'],
      ['keyword_cumulative', '2026-03', 'from stored limit 2'],
      ['keyword_cumulative', '2026-03', 'from stored union all from stored'],
      ['keyword_cumulative', '2026-01', 'select * replace (number + 1 as number) from stored'],
    ] as const) {
      const row = manifest.find((one) => one.table === table && one.part === part)!;
      const path = join(world.dataFolder, row.file);
      const whole = readFileSync(path);
      await falsify(world, row, select);
      const { problems } = await verify(world);
      t.match(problems, [{ kind: 'rollup', project: 'Proj1', table, part, message: /differs from its days/ }], select);
      t.equal(problems.length, 1, `only ${table}, ${part}`);
      writeFileSync(path, whole);
      await believe(world, row);
    }
  },
);

t.test('verify makes a journal that the catalog can be made from', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const asOlderVersion = (): void => {
    using db = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
    db.exec("update publication set number = 1, id = ''");
  };
  for (const before of [() => {}, asOlderVersion]) {
    rmSync(join(world.dataFolder, 'facts', 'journal'), { recursive: true });
    before();
    t.match(await verify(world), { ok: false, problems: [{ kind: 'journal', message: /'ordinate verify --repair'/ }] });
    t.match(await verify(world, { repair: true }), { ok: true, problems: [{ kind: 'journal', repaired: true }] });
    t.match(await verify(world), { ok: true, problems: [] });
  }
});

t.test('verify notices a flipped bit in the catalog wherever an index has the value, too', localOnly, async (t) => {
  const query = 'words of a query that are tracked';
  const world = await makeWorld(t, { keywords: [keyword('K0001', query)] });
  const path = join(world.dataFolder, 'catalog.sqlite');
  const settings = { ORDINATE_DATA: world.dataFolder };
  t.match(await command(settings, 'verify'), { code: 0 });
  await world.catalog.close();
  {
    using db = new DatabaseSync(path);
    db.exec('pragma wal_checkpoint(truncate)');
  }
  const whole = readFileSync(path);
  const places: number[] = [];
  for (let at = whole.indexOf(query); at >= 0; at = whole.indexOf(query, at + 1)) places.push(at);
  t.equal(places.length, 2, 'in its table and in an index');
  for (const place of places) {
    const flipped = Buffer.from(whole);
    flipped[place]! ^= 1;
    writeFileSync(path, flipped);
    const { code, stdout } = await command(settings, 'verify');
    t.match({ code, stdout }, { code: 1, stdout: /The catalog is damaged: .*index keywords_by_query/ });
  }
  writeFileSync(path, whole);
  t.match(await command(settings, 'verify'), { code: 0 });
});

t.test('a load makes lost rollups again', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const rollups = ['keyword_running', 'keyword_all', 'keyword_cumulative'];
  for (const { table, file } of await manifestOf(world)) {
    if (rollups.includes(table)) rmSync(join(world.dataFolder, file));
  }
  const lost = (await verify(world)).problems.filter(({ kind }) => kind === 'file');
  t.ok(lost.length >= 3 && lost.every(({ message }) => message.includes("'ordinate verify --repair' makes it again")));
  await world.load({ keyword_daily: facts('keyword_id date device', ['Kw001', '2026-03-09', 'mobile', 7, 100, 900]) });
  t.match(await verify(world), { ok: true, problems: [] });
  t.equal((await world.ask(`/keywords?${RANGE}`)).status, 200);
});
