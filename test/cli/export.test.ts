// An export loaded again gives the same answers, and an incomplete export is never loaded.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { command } from '../command.ts';
import { duckdb, quoted } from '../parquet.ts';
import { readTables } from '../rows.ts';
import { makeWorld, temporaryFolder, type World } from '../world.ts';

/** A row of every table, with texts that are hard to write as CSV. */
const TABLES = readTables('export');

const QUESTIONS = [
  '/projects',
  ...['Proj1', 'Proj2'].flatMap((id) =>
    [
      'keywords?period=3m&daily=1',
      'groups',
      'page-groups',
      'site?period=3m',
      'site?from=2026-01-01&country=usa',
      'breakdowns?period=3m',
      'pages?to=2026-03-10',
      'queries?to=2026-03-10',
      'queries?from=2026-01-15&to=2026-02-28',
      'alerts',
      'notes',
    ].map((path) => `/projects/${id}/${path}`),
  ),
];

async function answersOf(world: World): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const path of QUESTIONS) {
    const { status, body } = await world.get(path);
    if (body.source !== undefined) body.source.fetchedAt = '';
    answers.push([path, status, body]);
  }
  return answers;
}

const world = await makeWorld(t, TABLES);

async function exported(t: Test, ...options: readonly string[]) {
  const folder = join(temporaryFolder(t), 'a folder', 'out');
  const ended = await command({ ORDINATE_DATA: world.dataFolder }, 'export', '--out', folder, ...options);
  return { folder, ...ended };
}

/** Loads a folder into a data folder that has nothing but the default project. */
async function loaded(t: Test, folder: string, ...options: readonly string[]) {
  const other = await makeWorld(t);
  const ended = await command({ ORDINATE_DATA: other.dataFolder }, 'load', folder, '--accept-implausible', ...options);
  return { other, ...ended };
}

interface Manifest {
  workspace: string;
  projects: { id: string }[];
  files: (Record<'file' | 'table' | 'sha256', string> & Record<'rows' | 'bytes', number> & Record<string, unknown>)[];
}
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;

for (const format of ['parquet', 'csv']) {
  t.test(`what is exported as ${format} and loaded again gives equal answers`, async (t) => {
    const { folder, code, stdout, stderr } = await exported(t, '--workspace', 'acme', '--format', format);
    t.match({ code, stderr }, { code: 0, stderr: '' });
    t.match(stdout, /^site_daily: 4 rows$/m);
    const { other, ...ended } = await loaded(t, folder);
    t.match(ended, { code: 0, stderr: '' });
    t.notMatch(ended.stdout, /ignored/);
    t.strictSame(await answersOf(other), await answersOf(world));
    const hours = '/hours?from=2026-03-01&to=2026-03-01';
    t.strictSame((await other.ask(hours)).body, (await world.ask(hours)).body);
    const listed = ({ dataFolder }: World) =>
      command({ ORDINATE_DATA: dataFolder }, ...'keywords list --project Proj1 --json'.split(' '));
    t.strictSame(await listed(other), await listed(world));
    t.equal((await other.get('/projects/Fresh/site')).status, 200, 'also one before its first sync');

    const { workspace, projects, files } = manifestOf(folder);
    t.equal(workspace, 'acme');
    t.strictSame(projects.map(({ id }) => id).sort(), ['Fresh', 'Proj1', 'Proj2'], 'nothing of another workspace');
    for (const { file, bytes, sha256 } of files) {
      const content = readFileSync(join(folder, file));
      t.strictSame([content.length, createHash('sha256').update(content).digest('hex')], [bytes, sha256], file);
    }
    t.notMatch(files.map(({ file }) => readFileSync(join(folder, file), 'latin1')).join(''), 'theirs');
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    t.equal(found.length, files.length + 1, 'the manifest names all files');
  });
}

t.test('one project, some days, without inventing parts of months', async (t) => {
  for (const format of ['parquet', 'csv']) {
    const days = '--project Proj1 --from 2026-01-31 --to 2026-02-27'.split(' ');
    const { folder, stdout } = await exported(t, ...days, '--format', format);
    t.match(stdout, /Warning: country_monthly: months .* left out/);
    const { projects, files } = manifestOf(folder);
    t.match(projects, [{ id: 'Proj1' }]);
    t.equal(projects.length, 1);
    const found = files
      .filter(({ firstDay }) => firstDay)
      .map(({ table, rows, firstDay, lastDay }) => [table, rows, firstDay, lastDay]);
    t.strictSame(found, [
      ['keyword_daily', 1, '2026-01-31', '2026-01-31'],
      ['keyword_daily', 2, '2026-02-10', '2026-02-11'],
      ['site_daily', 1, '2026-02-27', '2026-02-27'],
    ]);
    t.notOk(files.some(({ file }) => file.includes('Proj2')));
    t.match((await loaded(t, folder)).stdout, /^keyword_daily: 3 rows, 2026-01-31 to 2026-02-11$/m);
  }
  const whole = await exported(t, '--project', 'Proj1', '--from', '2026-02-01', '--to', '2026-02-28', '--json');
  t.match(JSON.parse(whole.stdout), { tables: { country_monthly: 1 }, projects: ['Proj1'], warnings: [] });
});

t.test('types are those of the snapshot format', async (t) => {
  const { folder } = await exported(t, '--workspace', 'acme');
  const types = async (table: string): Promise<Record<string, unknown>> => {
    const described = await duckdb(`describe from read_parquet(${quoted(join(folder, table))})`);
    return Object.fromEntries(described.map((row) => [String(row['column_name']), row['column_type']]));
  };
  t.match(await types('projects.parquet'), {
    brand_terms: 'VARCHAR[]',
    last_synced_at: 'TIMESTAMP',
    synced_through: 'DATE',
    setup_finished: 'BOOLEAN',
  });
  t.match(await types('site_hourly/*/*.parquet'), { date: 'DATE', hour: 'TIMESTAMP', clicks: 'BIGINT' });
  t.match(await types('site_daily/*/*.parquet'), {
    project_id: 'VARCHAR',
    date: 'DATE',
    clicks: 'BIGINT',
    sum_position: 'BIGINT',
  });
});

t.test('an export that is not whole is not loaded', async (t) => {
  const { folder } = await exported(t, '--workspace', 'acme');
  const { other } = await loaded(t, folder);
  const load = () => command({ ORDINATE_DATA: other.dataFolder }, 'load', folder, '--accept-implausible');
  const file = join(folder, 'site_daily/project_id=Proj1/all.parquet');
  const content = readFileSync(file);

  appendFileSync(file, 'x');
  t.match(await load(), {
    code: 1,
    stderr:
      /site_daily: 'site_daily\/project_id=Proj1\/all.parquet' is not the exported file: it has .* bytes instead of/,
  });
  rmSync(file);
  t.match(await load(), { code: 1, stderr: /it is missing/ });
  writeFileSync(file, content);

  const manifest = join(folder, 'manifest.json');
  writeFileSync(`${manifest}.partial`, '');
  t.match(await load(), { code: 1, stderr: /did not finish/ });
  rmSync(`${manifest}.partial`);
  writeFileSync(manifest, '{"name":"an app"}');
  t.match(await load(), { code: 0, stdout: /'manifest.json' is not a table/ });
  t.strictSame(await answersOf(other), await answersOf(world));
});

t.test('damaged facts end the export, which then is no export', async (t) => {
  const broken = await makeWorld(t, TABLES);
  const [name = ''] = readdirSync(join(broken.dataFolder, 'facts/site_daily/Proj1'));
  appendFileSync(join(broken.dataFolder, 'facts/site_daily/Proj1', name), 'x');
  for (const format of ['parquet', 'csv']) {
    const folder = join(temporaryFolder(t), 'out');
    const words = ['--workspace', 'acme', '--out', folder, '--format', format];
    const run = () => command({ ORDINATE_DATA: broken.dataFolder }, 'export', ...words);
    t.match(await run(), { code: 1, stdout: '', stderr: /is damaged/ });
    t.notOk(existsSync(join(folder, 'manifest.json')));
    t.match(await run(), { code: 1, stderr: /did not finish/ });
    t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'load', folder, '--dry-run'), {
      code: 1,
      stderr: /did not finish/,
    });
  }
});
