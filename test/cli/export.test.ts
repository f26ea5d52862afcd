// An export loaded again gives the same answers, and an incomplete export is never loaded.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { command } from '../command.ts';
import { duckdb, quoted } from '../parquet.ts';
import {
  facts,
  keyword,
  makeWorld,
  ofProject,
  PROJECT,
  type Row,
  temporaryFolder,
  WORKSPACE,
  type World,
} from '../world.ts';

const uuid = (last: number) => `5e1f0000-0000-4000-8000-00000000000${last}`;
const TIMES = { created_at: '2026-03-02T10:00:00.123456Z', updated_at: '2026-03-02T10:00:00Z' };
const SECOND = {
  ...PROJECT,
  id: 'Proj2',
  domain: 'b.example',
  property: 'https://b.example/',
  country: 'deu',
  language: 'de',
};
const SITE = facts('date device', ['2026-02-27', 'mobile', 3, 100, 900], ['2026-03-01', 'unknown', 1, 10, 30]);

const PERIODS = facts(
  'first_day last_day query',
  ['2026-01-01', '2026-01-31', 'red', 1, 3, 5],
  ['2026-01-15', '2026-02-28', 'blue, big', 1, 3, 5],
);

/** A row of every table, with texts that are hard to write as CSV. */
const TABLES: Readonly<Record<string, Row[]>> = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other', name: 'Other' }],
  projects: [
    { ...PROJECT, brand_terms: ['acme', 'a "b", c'] },
    SECOND,
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
    {
      id: 'Fresh',
      workspace_id: 'acme',
      domain: 'f.example',
      property: 'sc-domain:f.example',
      created_at: '2026-03-01T00:00:00Z',
    },
  ],
  keywords: [
    keyword('kwOne', 'red "shoes", big'),
    keyword('kwTwo', '=1+1', { archived: true, target_url: 'https://shop.example/a,b' }),
    { ...keyword('kwOne', 'schuhe'), project_id: 'Proj2' },
    { ...keyword('kwOne', 'theirs'), project_id: 'Other' },
  ],
  groups: [
    { project_id: 'Proj1', id: 'Fold1', name: 'Line one\nline two', kind: 'folder', position: 0, pinned: true },
    { project_id: 'Proj1', id: 'Manu1', name: 'Manual', kind: 'manual', parent_id: 'Fold1', position: 1 },
    {
      project_id: 'Proj1',
      id: 'Rule1',
      name: 'Rule',
      kind: 'rule',
      position: 2,
      rule: { match: 'all', conditions: [{ field: 'query', op: 'matches', value: 'a|"b",c' }] },
    },
  ],
  group_members: [{ project_id: 'Proj1', group_id: 'Manu1', keyword_id: 'kwOne' }],
  page_groups: [
    {
      project_id: 'Proj1',
      id: 'Pages',
      name: 'Pages',
      position: 0,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/a' }] },
      pinned_urls: ['/b', '/c"d'],
    },
  ],
  alerts: [
    {
      id: uuid(1),
      project_id: 'Proj1',
      type: 'x',
      kind: 'X',
      severity: 'info',
      title: 'T',
      body: '',
      ...TIMES,
      updated_at: undefined,
    },
  ],
  alert_rules: [
    {
      id: uuid(2),
      project_id: 'Proj1',
      name: 'Rule',
      rule: { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 },
      enabled: false,
    },
  ],
  notes: [
    {
      id: uuid(3),
      workspace_id: 'acme',
      scope: 'workspace',
      date: '2026-03-01',
      category: 'other',
      text: 'ours',
      author: 'A',
      ...TIMES,
    },
    {
      id: uuid(4),
      workspace_id: 'other',
      scope: 'workspace',
      date: '2026-03-01',
      category: 'other',
      text: 'theirs',
      author: 'A',
      ...TIMES,
    },
    {
      id: uuid(5),
      workspace_id: 'acme',
      project_id: 'Proj1',
      scope: 'page',
      page: '/',
      date: '2026-03-01',
      end_date: '2026-03-02',
      category: 'other',
      text: 'p',
      author: 'A',
      client_visible: true,
      ...TIMES,
    },
  ],
  site_daily: [...SITE, ...ofProject('Proj2', SITE), ...ofProject('Other', SITE)],
  site_hourly: facts('date hour', ['2026-03-01', '2026-03-01T20:00:00Z', 1, 2, 3]),
  keyword_daily: facts(
    'keyword_id date device',
    ['kwOne', '2026-01-31', 'mobile', 1, 3, 5],
    ['kwOne', '2026-02-10', 'tablet', 1, 3, 5],
    ['kwTwo', '2026-02-11', 'mobile', 1, 3, 5],
    ['kwOne', '2026-03-01', 'mobile', 2, 4, 6],
  ),
  keyword_page_daily: facts('keyword_id date url', ['kwOne', '2026-03-01', 'https://shop.example/a,b', 2, 4, 6]),
  country_daily: facts('date country', ['2026-03-01', 'usa', 3, 100, 900]),
  country_monthly: facts('month country', ['2026-01-01', 'usa', 3, 100, 900], ['2026-02-01', 'other', 1, 3, 0]),
  appearance_daily: facts('date appearance', ['2026-03-01', 'VIDEO', 3, 100, 900]),
  brand_daily: facts('date segment', ['2026-03-01', 'brand', 1, 3, 5]),
  page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/"x"', 'usa', 1, 3, 5]),
  query_period: [...PERIODS, ...ofProject('Proj2', PERIODS)],
  page_period: facts('first_day last_day url', ['2026-02-01', '2026-02-28', 'https://shop.example/a', 1, 3, 5]),
  query_daily: facts(
    'date query country',
    ['2026-02-28', ' red shoes', 'usa', 1, 3, 5],
    ['2026-03-01', '"quoted', 'fra', 0, 7, 1],
  ),
};

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
  readonly workspace: string;
  readonly projects: readonly { readonly id: string }[];
  readonly files: readonly {
    readonly file: string;
    readonly table: string;
    readonly rows: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly firstDay?: string;
    readonly lastDay?: string;
  }[];
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
    const listed = await command(
      { ORDINATE_DATA: other.dataFolder },
      'keywords',
      'list',
      '--project',
      'Proj1',
      '--json',
    );
    const before = await command(
      { ORDINATE_DATA: world.dataFolder },
      'keywords',
      'list',
      '--project',
      'Proj1',
      '--json',
    );
    t.equal(listed.stdout, before.stdout);
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
    const { folder, stdout } = await exported(
      t,
      '--project',
      'Proj1',
      '--from',
      '2026-01-31',
      '--to',
      '2026-02-27',
      '--format',
      format,
    );
    t.match(stdout, /Warning: country_monthly: months .* left out/);
    const { projects, files } = manifestOf(folder);
    t.strictSame(
      projects.map(({ id }) => id),
      ['Proj1'],
    );
    const days = files
      .filter(({ firstDay }) => firstDay)
      .map(({ table, rows, firstDay, lastDay }) => [table, rows, firstDay, lastDay]);
    t.strictSame(days, [
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
  const before = await answersOf(other);
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
  t.match(await load(), { code: 0 });

  const manifest = join(folder, 'manifest.json');
  writeFileSync(`${manifest}.partial`, '');
  t.match(await load(), { code: 1, stderr: /did not finish/ });
  rmSync(`${manifest}.partial`);
  writeFileSync(manifest, '{"name":"an app"}');
  t.match(await load(), { code: 0, stdout: /'manifest.json' is not a table/ });
  t.strictSame(await answersOf(other), before);
});

t.test('damaged facts end the export, which then is no export', async (t) => {
  const broken = await makeWorld(t, TABLES);
  const [name = ''] = readdirSync(join(broken.dataFolder, 'facts/site_daily/Proj1'));
  appendFileSync(join(broken.dataFolder, 'facts/site_daily/Proj1', name), 'x');
  for (const format of ['parquet', 'csv']) {
    const folder = join(temporaryFolder(t), 'out');
    const run = () =>
      command(
        { ORDINATE_DATA: broken.dataFolder },
        'export',
        '--workspace',
        'acme',
        '--out',
        folder,
        '--format',
        format,
      );
    t.match(await run(), { code: 1, stdout: '', stderr: /is damaged/ });
    t.notOk(existsSync(join(folder, 'manifest.json')));
    t.match(await run(), { code: 1, stderr: /did not finish/ });
    t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'load', folder, '--dry-run'), {
      code: 1,
      stderr: /did not finish/,
    });
  }
});
