// Damaged files are never served, and verify finds and repairs them.
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type ManifestRow, rollupOf } from '../../server/catalog/fact-files.ts';
import { eachMonth } from '../../server/domain/dates.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { LocalFiles } from '../../server/storage/local-files.ts';
import { beforeFiles } from '../api/before-files.ts';
import { writeParquet } from '../parquet.ts';
import { changeCatalog, localOnly } from '../stores.ts';
import { transcripts } from '../transcript.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type World } from '../world.ts';
import { EVERYTHING } from './snapshots.ts';

transcripts('damage');

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
  return (await world.catalog.statements.all<ManifestRow>('fact-files.all')).filter(
    ({ project }) => project === 'Proj1',
  );
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
