import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type FactTable, filesOf, readCoverage } from '../../server/catalog/manifest.ts';
import { addDays, eachDay, lastDayOf, monthOf } from '../../server/domain/dates.ts';
import { type LoadSummary, loadSnapshot } from '../../server/load/load.ts';
import { LoadRejected, type Problem } from '../../server/load/problems.ts';
import { duckdb, quoted, writeParquet, writeParquetRows } from '../parquet.ts';
import {
  facts,
  keyword,
  makeWorld,
  PROJECT,
  type Row,
  type Tables,
  temporaryFolder,
  WORKSPACE,
  type World,
} from '../world.ts';
import { problemsOf } from './refused.ts';

t.setTimeout(120_000);

const SECOND: Row = { ...PROJECT, id: 'Proj2', domain: 'blog.example', property: 'https://blog.example/' };
const ODD = 'shoes, "red"\nor #blue; ünïcode 👟';

/** Rows of every table, some of them odd. */
const EVERYTHING: Tables = {
  workspaces: [WORKSPACE],
  projects: [
    { ...PROJECT, country: 'usa', language: 'en', brand_terms: ['acme', 'ac, "me"'] },
    { ...SECOND, created_at: '2025-06-07T08:09:10.123Z', sync_status: 'warning', history_backfilling: true },
  ],
  keywords: [
    keyword('Kw001', 'buy shoes', { source: 'manual', intent: 'commercial' }),
    keyword('Kw002', ODD, { tracked_since: '2025-07-08T09:10:11.5Z' }),
    keyword('Kw003', 'old', { archived: true }),
    keyword('Kw001', 'blog', { project_id: 'Proj2' }),
  ],
  groups: [
    { project_id: 'Proj1', id: 'Gr001', name: 'All', kind: 'folder', position: 1, pinned: true },
    { project_id: 'Proj1', id: 'Gr002', name: 'Some', kind: 'manual', parent_id: 'Gr001', position: 2 },
    {
      project_id: 'Proj1',
      id: 'Gr003',
      name: 'Near, the "top"',
      kind: 'rule',
      parent_id: 'Gr001',
      position: 3,
      rule: {
        match: 'all',
        conditions: [
          { field: 'query', op: 'contains', value: 'shoes' },
          { field: 'position', op: 'lte', value: 10.5 },
        ],
      },
    },
  ],
  group_members: [
    { project_id: 'Proj1', group_id: 'Gr002', keyword_id: 'Kw001' },
    { project_id: 'Proj1', group_id: 'Gr002', keyword_id: 'Kw002' },
  ],
  page_groups: [
    {
      project_id: 'Proj1',
      id: 'Pg001',
      name: 'Blog',
      position: 1,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/blog' }] },
      pinned_urls: ['/a,b', '/"c"'],
    },
  ],
  alerts: [
    {
      id: '0a1b2c3d-0000-4000-8000-000000000001',
      project_id: 'Proj1',
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'warning',
      title: 'Fell, by 3',
      body: 'Line 1\nline "2"',
      date: '2026-03-02',
      keyword_id: 'Kw001',
      url: 'https://app.example/k?a=1,2',
      created_at: '2026-03-03T04:05:06.789Z',
      resolved_at: '2026-03-04T00:00:00Z',
    },
  ],
  notes: [
    {
      id: '0a1b2c3d-0000-4000-8000-000000000002',
      workspace_id: 'acme',
      scope: 'workspace',
      date: '2026-01-01',
      category: 'other',
      text: 'New year',
      author: 'Ann',
      created_at: '2026-01-01T10:00:00Z',
      updated_at: '2026-01-01T10:00:00Z',
    },
    {
      id: '0a1b2c3d-0000-4000-8000-000000000003',
      workspace_id: 'acme',
      project_id: 'Proj1',
      scope: 'group',
      date: '2026-02-01',
      end_date: '2026-02-03',
      category: 'launch',
      text: 'a "b",\nc',
      client_visible: true,
      author: 'Bob',
      group_id: 'Gr002',
      created_at: '2026-02-01T10:00:00Z',
      updated_at: '2026-02-02T10:00:00Z',
    },
  ],
  site_daily: [
    ...facts('date device', ['2026-02-28', 'desktop', 3, 100, 900], ['2026-03-01', 'mobile', 1, 60, 120]),
    { project_id: 'Proj2', date: '2026-03-02', device: 'tablet', clicks: 7, impressions: 9, sum_position: 0 },
  ],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-01', 'desktop', 2, 10, 15],
    ['Kw002', '2026-03-02', 'mobile', 0, 4, 80],
  ),
  country_daily: facts('date country', ['2026-03-01', 'usa', 2, 50, 90], ['2026-03-02', 'zzz', 0, 2, 2]),
  country_monthly: facts('month country', ['2025-12-01', 'usa', 31, 310, 620], ['2026-01-01', 'other', 1, 62, 0]),
  appearance_daily: facts('date appearance', ['2026-03-01', 'PRODUCT_SNIPPETS', 1, 9, 9]),
  brand_daily: facts('date segment', ['2026-03-01', 'brand', 1, 5, 2], ['2026-03-01', 'non_brand', 1, 7, 30]),
  page_daily: facts(
    'date url country',
    ['2026-03-01', 'https://shop.example/a,b?c="d"', 'usa', 2, 50, 90],
    ['2026-02-03', 'https://shop.example/', 'deu', 1, 5, 9],
  ),
  query_daily: facts(
    'date query country',
    ['2026-03-01', ODD, 'usa', 2, 50, 90],
    ['2026-03-02', '# acme', 'usa', 1, 5, 9],
  ),
};

const PATHS = [
  '/projects',
  ...['Proj1', 'Proj2'].flatMap((project) =>
    [
      '/keywords?period=12m&daily=1',
      '/groups',
      '/page-groups',
      '/site?period=12m',
      '/site?period=12m&country=usa',
      '/breakdowns?period=12m',
      '/pages?period=12m',
      '/queries?period=12m',
      '/alerts',
      '/notes',
    ].map((path) => `/projects/${project}${path}`),
  ),
];

/** What the whole API says. */
async function answersOf({ get }: World): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of PATHS) {
    const { status, body } = await get(path);
    // Lists are made by the clock.
    if (body.source) body.source.fetchedAt = null;
    answers[path] = { status, body };
  }
  return answers;
}

/** Writes files, by path, into a new folder. */
function writeFiles(t: Test, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = join(temporaryFolder(t), 'snapshot');
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function loadFolder(
  { settings, catalog }: World,
  folder: string,
  options: { replace?: boolean; dryRun?: boolean } = {},
): Promise<LoadSummary> {
  return loadSnapshot({ settings, catalog }, { folder, ...options });
}

const places = (problems: readonly Problem[]): string[] =>
  problems.map(({ table, column }) => `${table}.${column}`).sort();

function csv(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const field = (value: unknown): string => {
    if (value === null || value === undefined) return '';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((values) => `${values.map(field).join(',')}\n`)
    .join('');
}

const ndjson = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

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
  const expected = await answersOf(await makeWorld(t, EVERYTHING));
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
    const world = await makeWorld(t, { keywords: [keyword('Kw009', 'to be replaced')] });
    const summary = await loadFolder(world, folder, { replace: true });
    t.strictSame(await answersOf(world), expected, choices.join(', '));
    const counts = Object.entries(summary.tables).map(([table, { rows }]) => [table, rows]);
    t.strictSame(
      Object.fromEntries(counts),
      Object.fromEntries(Object.entries(EVERYTHING).map(([table, rows]) => [table, rows.length])),
    );
  }
});

t.test('columns are matched by name', async (t) => {
  const world = await makeWorld(t);
  const folder = writeFiles(t, {
    'site_daily.csv':
      'sum_position,note,device,impressions,project_id,clicks,date,spare\n900,x,desktop,100,Proj1,3,2026-03-01,\n',
    'country_daily/a.csv': 'project_id,date,country,clicks,impressions,sum_position\nProj1,2026-03-01,usa,1,2,3\n',
    'country_daily/b.csv': 'sum_position,impressions,clicks,country,date,project_id\n30,20,10,deu,2026-03-01,Proj1\n',
  });
  const { warnings } = await loadFolder(world, folder);
  t.equal(warnings.length, 1);
  t.match(warnings[0], /site_daily.*\bnote\b.*\bspare\b/, 'extra columns are named');
  const { body } = await world.ask('/breakdowns');
  t.strictSame(body.devices, [{ device: 'desktop', clicks: 3, impressions: 100, ctr: 0.03, position: 10 }]);
  t.strictSame(body.countries, [
    { country: 'deu', clicks: 10, impressions: 20, ctr: 0.5, position: 2.5 },
    { country: 'usa', clicks: 1, impressions: 2, ctr: 0.5, position: 2.5 },
  ]);

  const before = await answersOf(world);
  const short = writeFiles(t, {
    'site_daily.csv': 'project_id,date,clicks,impressions\nProj1,2026-03-01,1,2\n',
    'brand_daily.ndjson': ndjson([
      { project_id: 'Proj1', segment: 'brand', clicks: 1, impressions: 2, sum_position: 0 },
    ]),
    'keywords.csv': 'project_id,id,tracked_since\nProj1,Kw001,2025-01-01\n',
  });
  const problems = await problemsOf(loadFolder(world, short));
  t.strictSame(places(problems), [
    'brand_daily.date',
    'keywords.query',
    'site_daily.device',
    'site_daily.sum_position',
  ]);
  for (const { message } of problems) t.match(message, /missing/);
  t.strictSame(await answersOf(world), before);
});

t.test('csv: quotes, newlines, empty fields, line ends, byte order mark', async (t) => {
  const world = await makeWorld(t);
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
  const world = await makeWorld(t);
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

t.test('defaults of optional columns, left out or null', async (t) => {
  const { get, load } = await makeWorld(t);
  const bare = { workspace_id: 'acme', domain: 'd.example', property: 'sc-domain:d.example' };
  const nulls = {
    country: null,
    language: null,
    brand_terms: null,
    sync_status: null,
    last_synced_at: null,
    synced_through: null,
    provisional_after: null,
    history_backfilling: null,
    setup_finished: null,
  };
  await load({
    projects: [
      { ...bare, id: 'Bare1', created_at: '2026-01-01T00:00:00Z' },
      { ...bare, ...nulls, id: 'Bare2', created_at: '2026-01-02T00:00:00Z' },
      { ...bare, id: 'Bare3', created_at: '2026-01-03T00:00:00Z', synced_through: '2026-03-01' },
      { ...bare, id: 'Bare4', created_at: '2026-01-04T00:00:00Z', setup_finished: false },
    ],
    keywords: [
      { project_id: 'Bare1', id: 'Kw001', query: 'how to tie shoes', tracked_since: '2026-01-01' },
      { project_id: 'Bare1', id: 'Kw002', query: 'xyz', tracked_since: '2026-01-01', source: null, intent: null },
    ],
    groups: [{ project_id: 'Bare1', id: 'Gr001', name: 'G', kind: 'manual', position: 0 }],
    page_groups: [{ project_id: 'Bare1', id: 'Pg001', name: 'P', position: 0, rule: { match: 'any', conditions: [] } }],
    notes: [
      {
        id: '0a1b2c3d-0000-4000-8000-000000000001',
        workspace_id: 'acme',
        project_id: 'Bare1',
        scope: 'project',
        date: '2026-02-01',
        category: 'other',
        text: 'T',
        author: 'A',
        created_at: '2026-02-01',
        updated_at: '2026-02-01',
      },
    ],
    query_daily: [
      {
        project_id: 'Bare3',
        date: '2026-02-28',
        query: 'a',
        country: 'usa',
        clicks: 1,
        impressions: 1,
        sum_position: 0,
      },
    ],
  });
  const { projects } = (await get('/projects')).body;
  const never = {
    country: null,
    language: null,
    syncStatus: 'pending',
    lastSyncedAt: null,
    syncedThrough: null,
    historyBackfilling: false,
  };
  t.match(projects, [
    { id: 'Proj1' },
    { id: 'Bare1', ...never, trackedKeywords: 2 },
    { id: 'Bare2', ...never, trackedKeywords: 0 },
    { id: 'Bare3', syncStatus: 'ok', syncedThrough: '2026-03-01' },
  ]);
  t.equal(projects.length, 4);
  t.equal((await get('/projects/Bare4/groups')).status, 404);
  t.match((await get('/projects/Bare1/keywords')).body.keywords, [
    { id: 'Kw001', source: 'import', intent: 'informational' },
    { id: 'Kw002', source: 'import', intent: 'unclassified' },
  ]);
  t.match((await get('/projects/Bare1/groups')).body.groups, [{ parentId: null, pinned: false, rule: null }]);
  t.match((await get('/projects/Bare1/page-groups')).body.pageGroups, [{ pinnedUrls: [] }]);
  t.match((await get('/projects/Bare1/notes')).body.notes, [
    { endDate: null, clientVisible: false, group: null, keyword: null, page: null },
  ]);
  t.match((await get('/projects/Bare3/queries')).body.queries, [{ query: 'a', branded: false }]);
});

/** A value as it is written in a file. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

const FACT = { project_id: 'Proj1', date: '2026-03-01', clicks: 1, impressions: 2, sum_position: 3 };

/** A right row of each table, and by column values that are wrong in it. */
const WRONG: readonly (readonly [table: string, right: Row, wrong: Readonly<Record<string, readonly unknown[]>>])[] = [
  ['workspaces', { ...WORKSPACE, id: 'more' }, { keyword_history_days: [0, -1, 1.5, 'all', null] }],
  [
    'projects',
    { ...PROJECT, id: 'Proj9' },
    {
      id: ['abc', 'abcdef', 'ab-12', null],
      country: ['US', 'USA', 'usa1'],
      language: ['eng'],
      brand_terms: [{ a: 1 }, 'acme'],
      sync_status: ['done'],
      synced_through: ['2026-02-30'],
      history_backfilling: ['perhaps'],
      created_at: ['soon', '2026-02-30T00:00:00Z', null],
    },
  ],
  ['keywords', keyword('Kw009', 'q'), { source: ['robot'], intent: ['buying'], tracked_since: [null], archived: [2] }],
  [
    'groups',
    { project_id: 'Proj1', id: 'Gr009', name: 'G', kind: 'rule', position: 1, rule: { match: 'all', conditions: [] } },
    { kind: ['smart', null], position: [1.5, 'first'], pinned: ['perhaps'], rule: ['{broken'] },
  ],
  [
    'page_groups',
    { project_id: 'Proj1', id: 'Pg009', name: 'P', position: 1, rule: { match: 'all', conditions: [] } },
    { rule: [null], pinned_urls: ['/blog'] },
  ],
  ['alerts', EVERYTHING['alerts']![0]!, { id: ['7', null], severity: ['fatal'], date: ['2026-13-01', '2025-02-29'] }],
  ['notes', EVERYTHING['notes']![0]!, { scope: ['galaxy'], date: ['2025-02-29', null], category: ['gossip'] }],
  [
    'site_daily',
    { ...FACT, device: 'desktop' },
    {
      date: ['2026-02-30', '10/03/2026', '2026-03-01T12:00:00', 'today', null],
      device: ['tv', 'DESKTOP', null],
      clicks: [-1, 1.5, 'many', '0x10', null],
      impressions: ['9007199254740993', '99999999999999999999'],
      sum_position: [-0.5],
    },
  ],
  ['country_daily', { ...FACT, country: 'usa' }, { country: ['us', 'USA', 'other', null] }],
  [
    'country_monthly',
    { ...FACT, date: undefined, month: '2026-02-01', country: 'usa' },
    { month: ['2026-02-02', '2026-02-30', null], country: ['Other', 'rest'] },
  ],
  ['appearance_daily', { ...FACT, appearance: 'VIDEO' }, { appearance: ['video', 'TWO WORDS', null] }],
  ['brand_daily', { ...FACT, segment: 'brand' }, { segment: ['anonymous', null] }],
  ['page_daily', { ...FACT, url: 'https://a.example/', country: 'usa' }, { url: ['/path', 'shop.example/', null] }],
  ['query_daily', { ...FACT, query: 'q', country: 'usa' }, { query: [null], date: ['2026-02-30'] }],
];

t.test('values that do not cast: all of them are told at once, by table and column, with the first rows', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const before = await answersOf(world);
  for (const [format, write] of [
    ['ndjson', ndjson],
    ['csv', csv],
  ] as const) {
    const files = WRONG.map(([table, right, wrong]) => {
      const rows = Object.entries(wrong).flatMap(([column, values]) =>
        values.map((value) => ({ ...right, [column]: value })),
      );
      return [`${table}.${format}`, write([right, ...rows])];
    });
    const problems = await problemsOf(
      loadFolder(world, writeFiles(t, Object.fromEntries(files) as Record<string, string>)),
    );
    for (const [table, , wrong] of WRONG) {
      for (const [column, values] of Object.entries(wrong)) {
        const found = problems.find((problem) => problem.table === table && problem.column === column);
        t.match(found?.message, new RegExp(`^${values.length} rows? `), `${format}: ${table}.${column}`);
        t.equal(found?.rows.length, Math.min(values.length, 3));
        const texts = values.map(asText);
        const shown = found?.rows.map((row) => asText((row as Row)[column]));
        t.ok(
          shown?.every((text) => texts.includes(text)),
          `the rows hold ${shown?.join(' ')}`,
        );
      }
    }
    const expected = WRONG.flatMap(([table, , wrong]) => Object.keys(wrong).map((column) => `${table}.${column}`));
    t.strictSame(places(problems), expected.sort(), `${format}: no other problems`);
  }
  t.strictSame(await answersOf(world), before, 'what was being served is untouched');
});

t.test('Parquet: other types of the same values are read, values that would be changed are refused', async (t) => {
  const world = await makeWorld(t);
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

t.test('duplicates, dangling references and other rules over rows are told at once', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const before = await answersOf(world);
  const note = EVERYTHING['notes']![1]!;
  const alert = EVERYTHING['alerts']![0]!;
  const uuid = (number: number): string => `0a1b2c3d-0000-4000-8000-00000000010${number}`;
  const folder = { project_id: 'Proj1', name: 'F', kind: 'folder', position: 1 };
  const rule = { match: 'all', conditions: [] };
  const tables: Tables = {
    projects: [{ ...PROJECT, id: 'Proj3', workspace_id: 'nowhere' }],
    keywords: [
      keyword('Kw010', 'nobody', { project_id: 'Nope1' }),
      keyword('Kw011', 'twice'),
      keyword('Kw011', 'twice again'),
      keyword('Kw012', 'same'),
      keyword('Kw013', 'same'),
      keyword('Kw014', 'same', { archived: true }),
      // Kw001 of the catalog has this query already.
      keyword('Kw015', 'buy shoes'),
    ],
    groups: [
      { ...folder, id: 'Gr010', parent_id: 'Nope1' },
      { ...folder, id: 'Gr011', parent_id: 'Gr002' },
      { ...folder, id: 'Gr012', parent_id: 'Gr013' },
      { ...folder, id: 'Gr013', parent_id: 'Gr012' },
      { ...folder, id: 'Gr014', kind: 'manual', rule },
      { ...folder, id: 'Gr015', kind: 'rule' },
    ],
    group_members: [
      { project_id: 'Proj1', group_id: 'Gr001', keyword_id: 'Kw001' },
      { project_id: 'Proj1', group_id: 'Gr002', keyword_id: 'Nope1' },
    ],
    page_groups: [
      { project_id: 'Nope1', id: 'Pg010', name: 'P', position: 1, rule },
      { project_id: 'Proj1', id: 'Pg011', name: 'P', position: 1, rule },
      { project_id: 'Proj1', id: 'Pg011', name: 'P', position: 2, rule },
    ],
    alerts: [{ ...alert, id: uuid(1), keyword_id: 'Nope1' }],
    notes: [
      { ...note, id: uuid(2), date: '2026-02-02', end_date: '2026-02-01' },
      { ...note, id: uuid(3), group_id: 'Nope1' },
      { ...note, id: uuid(4), project_id: null, group_id: null },
      { ...note, id: uuid(5), workspace_id: 'nowhere' },
      { ...note, id: uuid(6), scope: 'keyword', group_id: null, keyword_id: 'Nope1' },
    ],
    site_daily: [
      { ...FACT, device: 'desktop' },
      { ...FACT, device: 'desktop', clicks: 2 },
      { ...FACT, device: 'desktop', project_id: 'Nope1' },
    ],
    keyword_daily: [{ ...FACT, keyword_id: 'Nope1', device: 'desktop' }],
    country_monthly: Array.from({ length: 22 }, (_, index) => ({
      ...FACT,
      month: '2026-02-01',
      country: index === 21 ? 'other' : `aa${String.fromCharCode(97 + index)}`,
    })),
    query_daily: [
      { ...FACT, query: 'q', country: 'usa' },
      { ...FACT, query: 'q', country: 'usa' },
    ],
  };
  const problems = await problemsOf(world.load(tables));
  t.strictSame(places(problems), [
    'alerts.keyword_id',
    'country_monthly.country',
    'group_members.group_id',
    'group_members.keyword_id',
    'groups.parent_id',
    'groups.parent_id',
    'groups.rule',
    'keyword_daily.keyword_id',
    'keywords.project_id',
    'keywords.project_id, id',
    'keywords.query',
    'notes.end_date',
    'notes.group_id',
    'notes.keyword_id',
    'notes.project_id',
    'notes.workspace_id',
    'page_groups.project_id',
    'page_groups.project_id, id',
    'projects.workspace_id',
    'query_daily.project_id, query, date, country',
    'site_daily.project_id',
    'site_daily.project_id, date, device',
  ]);
  const of = (place: string) => problems.filter(({ table, column }) => `${table}.${column}` === place);
  t.match(of('site_daily.project_id, date, device'), [
    { message: /^1 key /, rows: [{ project_id: 'Proj1', date: '2026-03-01', device: 'desktop', rows: 2 }] },
  ]);
  t.match(of('site_daily.project_id'), [{ rows: [{ project_id: 'Nope1' }] }]);
  t.match(of('keywords.query'), [
    {
      message: /^2 /,
      rows: [
        { query: 'buy shoes', ids: ['Kw001', 'Kw015'] },
        { query: 'same', ids: ['Kw012', 'Kw013'] },
      ],
    },
  ]);
  const parents = of('groups.parent_id').map(({ rows }) => rows.map((row) => (row as Row)['id']));
  t.strictSame(new Set(parents.map(String)), new Set(['Gr010,Gr011', 'Gr012,Gr013']));
  t.match(of('groups.rule'), [{ rows: [{ id: 'Gr014' }, { id: 'Gr015' }] }]);
  t.strictSame(await answersOf(world), before, 'what was being served is untouched');

  const other = await problemsOf(
    world.load({ workspaces: [{ ...WORKSPACE, id: 'beta' }], projects: [{ ...PROJECT, workspace_id: 'beta' }] }),
  );
  t.match(other, [{ table: 'projects', column: 'id', rows: [{ id: 'Proj1', taken_by: 'acme' }] }]);
});

t.test('what a rule cannot have is named', async (t) => {
  const world = await makeWorld(t);
  const refused = async (condition: unknown): Promise<string> => {
    const groups = [
      {
        project_id: 'Proj1',
        id: 'Gr001',
        name: 'G',
        kind: 'rule',
        position: 1,
        rule: { match: 'all', conditions: [condition] },
      },
    ];
    const problems = await problemsOf(world.load({ groups }));
    t.strictSame(places(problems), ['groups.rule']);
    return new LoadRejected(problems).message;
  };
  t.match(await refused({ field: 'backlinks', op: 'gt', value: 1 }), /Gr001.*unknown field.*backlinks/s);
  t.match(await refused({ field: 'query', op: 'resembles', value: 'x' }), /unknown operator.*resembles/);
  t.match(await refused({ field: 'query', op: 'lte', value: 'x' }), /unknown operator.*lte/);
  t.match(await refused({ field: 'position', op: 'contains', value: 1 }), /unknown operator.*contains/);
  t.match(await refused({ field: 'position', op: 'lte', value: 'ten' }), /ten/);
  t.match(await refused({ field: 'query', op: 'matches', value: '(' }), /regular expression/);

  const pageGroups = (rule: unknown) =>
    problemsOf(world.load({ page_groups: [{ project_id: 'Proj1', id: 'Pg001', name: 'P', position: 1, rule }] }));
  t.match(await pageGroups({ match: 'any', conditions: [{ op: 'gte', value: 1 }] }), [
    { table: 'page_groups', column: 'rule', rows: [{ id: 'Pg001', problem: /gte/ }] },
  ]);
  t.match(await pageGroups({ match: 'some', conditions: [] }), [{ rows: [{ problem: /some/ }] }]);
  t.match(await pageGroups([]), [{ rows: [{ problem: /./ }] }]);
});

t.test('what is in the folder', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
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
  const world = await makeWorld(t, EVERYTHING);
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
  const world = await makeWorld(t, EVERYTHING);
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

t.test('a dry run checks and changes nothing', async (t) => {
  const world = await makeWorld(t);
  const before = await answersOf(world);
  const folder = writeFiles(
    t,
    Object.fromEntries(Object.entries(EVERYTHING).map(([table, rows]) => [`${table}.csv`, csv(rows)])),
  );
  const dry = await loadFolder(world, folder, { dryRun: true });
  t.equal(dry.loaded, false);
  t.strictSame(await answersOf(world), before);
  const problems = await problemsOf(
    loadFolder(world, writeFiles(t, { 'keywords.csv': csv([keyword('bad id', 'x')]) }), { dryRun: true }),
  );
  t.strictSame(places(problems), ['keywords.id']);

  const wet = await loadFolder(world, folder);
  t.equal(wet.loaded, true);
  t.strictSame(dry.tables, wet.tables, 'it says what the load would bring');
  t.match(wet.tables['site_daily'], { rows: 3, projects: 2, firstDay: '2026-02-28', lastDay: '2026-03-02' });
  t.strictSame(wet.projects, ['Proj1', 'Proj2']);

  const after = await answersOf(world);
  t.strictNotSame(after, before);
  await loadFolder(world, folder);
  t.strictSame(await answersOf(world), after, 'the same snapshot twice gives the same state');
  await loadFolder(world, folder, { replace: true });
  t.strictSame(await answersOf(world), after, 'and with --replace');
});

t.test('facts beyond the synced day are warned of', async (t) => {
  const { load } = await makeWorld(t);
  const { warnings } = await load({ site_daily: facts('date device', ['2026-03-14', 'desktop', 1, 1, 1]) });
  t.match(warnings, [/Proj1.*2026-03-14.*2026-03-10/]);
});

/** The stored rows of a project and table, read from the files of the manifest. */
async function storedRows({ catalog, dataFolder }: World, project: string, table: FactTable): Promise<Row[]> {
  const files = filesOf(catalog, project, table, { from: '2000-01-01', to: '2099-12-31' });
  if (files.length === 0) return [];
  const list = files.map((file) => quoted(join(dataFolder, file))).join(', ');
  const rows = await duckdb(`select * from read_parquet([${list}], hive_partitioning = false)`);
  return rows.map((row) => ({ ...row, ...measures(row) }));
}

function measures(row: Row): Row {
  const [clicks, impressions, sum_position] = [row['clicks'], row['impressions'], row['sum_position']].map(Number);
  return { clicks, impressions, sum_position };
}

const inOrder = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();

const NO_MEASURES = { clicks: 0, impressions: 0, sum_position: 0 };

t.test('random loads leave what a plain model says: a span of days is replaced whole', async (t) => {
  const FIRST = '2025-11-20';
  const MODELLED = ['site_daily', 'keyword_daily', 'country_monthly'] as const;
  const count = fc.nat({ max: 50 });
  const row = fc.record({
    project: fc.constantFrom('A', 'B'),
    day: fc.nat({ max: 20 }),
    kind: fc.nat({ max: 1 }),
    clicks: count,
    impressions: count,
    sum_position: count,
  });
  /** Few rows in a window of days that starts anywhere; days are spread by `stride`, so that months stay empty. */
  const load = fc.record({
    start: fc.nat({ max: 60 }),
    stride: fc.integer({ min: 1, max: 3 }),
    tables: fc.array(fc.constantFrom(...MODELLED), { minLength: 1, maxLength: 3 }),
    rows: fc.array(row, { minLength: 1, maxLength: 6 }),
  });

  const world = await makeWorld(t);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(load, { minLength: 2, maxLength: 4 }), async (loads) => {
      run += 1;
      const id = (project: string): string => `${project}${String(run).padStart(4, '0')}`;
      const model = new Map<string, Map<string, Row>>();
      for (const [turn, { start, stride, tables, rows }] of loads.entries()) {
        const snapshot: Record<string, Row[]> = {};
        for (const table of new Set(tables)) {
          const carried = new Map<string, Row>();
          for (const { project, day: offset, kind, ...more } of rows) {
            const day = addDays(FIRST, start + offset * stride);
            const date = table === 'country_monthly' ? `${monthOf(day)}-01` : day;
            const keys = {
              site_daily: { date, device: ['desktop', 'mobile'][kind] },
              keyword_daily: { keyword_id: ['Kw001', 'Kw002'][kind], date, device: 'desktop' },
              country_monthly: { month: date, country: ['usa', 'other'][kind] },
            }[table];
            carried.set(`${project} ${JSON.stringify(keys)}`, { project_id: id(project), ...keys, ...more });
          }
          snapshot[table] = [...carried.values()];

          for (const project of ['A', 'B'].map(id)) {
            const mine = snapshot[table].filter((carriedRow) => carriedRow['project_id'] === project);
            if (mine.length === 0) continue;
            const dayOf = (one: Row): string => (one['date'] ?? one['month']) as string;
            const days = mine.map(dayOf).sort();
            const stored = model.get(`${project} ${table}`) ?? new Map<string, Row>();
            for (const [key, old] of stored) {
              if (dayOf(old) >= days[0]! && dayOf(old) <= days.at(-1)!) stored.delete(key);
            }
            for (const { project_id: _, ...one } of mine) stored.set(JSON.stringify({ ...one, ...NO_MEASURES }), one);
            model.set(`${project} ${table}`, stored);
          }
        }
        if (turn === 0) {
          snapshot['projects'] = ['A', 'B'].map((project) => ({ ...PROJECT, id: id(project) }));
          snapshot['keywords'] = ['A', 'B'].flatMap((project) => [
            keyword('Kw001', 'one', { project_id: id(project) }),
            keyword('Kw002', 'two', { project_id: id(project) }),
          ]);
        }
        await world.load(snapshot);

        for (const project of ['A', 'B'].map(id)) {
          const coverage = readCoverage(world.catalog, project);
          for (const table of MODELLED) {
            const rowsOfModel = [...(model.get(`${project} ${table}`)?.values() ?? [])];
            const stored = await storedRows(world, project, table);
            if (JSON.stringify(inOrder(stored)) !== JSON.stringify(inOrder(rowsOfModel))) {
              throw new Error(`${project} ${table}: ${inOrder(stored).join()} is not ${inOrder(rowsOfModel).join()}`);
            }
            const days = rowsOfModel.map((one) => (one['date'] ?? one['month']) as string).sort();
            const last = days.at(-1);
            const expected =
              last === undefined
                ? undefined
                : {
                    firstDay: days[0],
                    lastDay: table === 'country_monthly' ? lastDayOf(monthOf(last)) : last,
                    rows: rowsOfModel.length,
                  };
            const covered = coverage[table];
            if (
              covered?.firstDay !== expected?.firstDay ||
              covered?.lastDay !== expected?.lastDay ||
              covered?.rows !== expected?.rows
            ) {
              throw new Error(`${project} ${table} covers ${JSON.stringify(covered)}, not ${JSON.stringify(expected)}`);
            }
          }
        }
      }
      for (const project of ['A', 'B'].map(id)) {
        const { body } = await world.get(`/projects/${project}/site?from=2025-11-01&to=2026-03-10`);
        const rowsOfModel = [...(model.get(`${project} site_daily`)?.values() ?? [])];
        const clicksOf = new Map<string, number>();
        for (const one of rowsOfModel) {
          const date = one['date'] as string;
          clicksOf.set(date, (clicksOf.get(date) ?? 0) + Number(one['clicks']));
        }
        const [first] = [...clicksOf.keys()].sort();
        const expected = first === undefined ? [] : eachDay(first, '2026-03-10').map((day) => clicksOf.get(day) ?? 0);
        const answered = (body.daily as { clicks: number }[]).map(({ clicks }) => clicks);
        if (answered.join() !== expected.join()) {
          throw new Error(`${project} answers ${answered.join()}, not ${expected.join()}`);
        }
      }
    }),
    { numRuns: 5 },
  );
  t.pass(`${run} histories of loads`);
});

t.test(
  'a span is replaced whole: edge months merged, months in the middle emptied, days outside untouched',
  async (t) => {
    const { ask, load } = await makeWorld(t, {
      site_daily: facts(
        'date device',
        ['2025-11-10', 'desktop', 1, 1, 0],
        ['2025-11-20', 'desktop', 2, 2, 0],
        ['2025-12-15', 'desktop', 4, 4, 0],
        ['2026-01-15', 'desktop', 8, 8, 0],
        ['2026-02-05', 'desktop', 16, 16, 0],
        ['2026-02-06', 'mobile', 32, 32, 0],
      ),
      country_monthly: facts(
        'month country',
        ['2025-11-01', 'usa', 30, 30, 0],
        ['2025-12-01', 'usa', 31, 31, 0],
        ['2026-01-01', 'usa', 62, 62, 0],
        ['2026-02-01', 'deu', 28, 28, 0],
      ),
    });
    await load({
      site_daily: facts('date device', ['2025-11-20', 'mobile', 64, 64, 0], ['2026-02-05', 'mobile', 128, 128, 0]),
      country_monthly: facts('month country', ['2025-12-01', 'deu', 310, 310, 0], ['2026-01-01', 'deu', 31, 31, 0]),
    });
    const { body } = await ask('/site?from=2025-11-01&to=2026-03-10');
    const days = (body.daily as { date: string; clicks: number }[]).filter(({ clicks }) => clicks > 0);
    t.strictSame(
      days.map(({ date, clicks }) => [date, clicks]),
      [
        ['2025-11-10', 1],
        ['2025-11-20', 64],
        ['2026-02-05', 128],
        ['2026-02-06', 32],
      ],
    );
    const usa = await ask('/site?from=2025-11-01&to=2026-02-28&country=usa');
    // Days begin with the first one that the site has: 21 of November are left.
    t.match(usa.body, { range: { countryMonthlyThrough: '2026-02-28' }, totals: { clicks: 21 } });
    const deu = await ask('/site?from=2025-11-01&to=2026-02-28&country=deu');
    t.match(deu.body.totals, { clicks: 310 + 31 + 28 });
  },
);

const BETA = {
  workspaces: [{ ...WORKSPACE, id: 'beta', name: 'Beta' }],
  projects: [{ ...SECOND, id: 'Beta1', workspace_id: 'beta' }],
};

t.test('entities are updated by key; what is absent stays', async (t) => {
  const world = await makeWorld(t, EVERYTHING);
  const before = await answersOf(world);
  const { ask, load } = world;
  await load({
    workspaces: [{ ...WORKSPACE, keyword_history_days: 30 }],
    keywords: [keyword('Kw001', 'sell shoes'), keyword('Kw004', 'new')],
    groups: [{ project_id: 'Proj1', id: 'Gr002', name: 'Renamed', kind: 'manual', position: 7 }],
  });
  const queries = ((await ask('/keywords')).body.keywords as { query: string }[]).map(({ query }) => query);
  t.strictSame(queries, ['new', 'sell shoes', ODD]);
  t.match((await ask('/groups')).body.groups, [
    { id: 'Gr001' },
    { id: 'Gr003' },
    { id: 'Gr002', name: 'Renamed', parentId: null, keywordIds: ['Kw001', 'Kw002'] },
  ]);
  t.match((await world.get('/projects')).body.projects[0], { keywordHistoryFrom: '2026-02-09', trackedKeywords: 3 });
  const after = await answersOf(world);
  for (const path of ['/alerts', '/page-groups', '/site?period=12m', '/queries?period=12m']) {
    const whole = `/projects/Proj1${path}`;
    t.strictSame(after[whole], before[whole], path);
  }
});

t.test('--replace: the rows are the complete set of each project that a table names', async (t) => {
  const { ask, get, load } = await makeWorld(t, EVERYTHING);
  await load({ group_members: [EVERYTHING['group_members']![1]!] }, { replace: true });
  t.match((await ask('/groups')).body.groups[1], { id: 'Gr002', keywordIds: ['Kw002'] });

  // Kw001 of Proj1 is in an alert, which goes along; Proj2 is not named.
  await load(
    {
      keywords: [keyword('Kw002', 'kept'), keyword('Kw005', 'new')],
      alerts: [{ ...EVERYTHING['alerts']![0]!, keyword_id: null }],
    },
    { replace: true },
  );
  const queriesOf = async (project: string) =>
    ((await get(`/projects/${project}/keywords`)).body.keywords as { query: string }[]).map(({ query }) => query);
  t.strictSame(await queriesOf('Proj1'), ['kept', 'new']);
  t.strictSame(await queriesOf('Proj2'), ['blog']);
  t.equal((await ask('/groups')).body.groups.length, 3, 'a table that the snapshot does not have stays');

  await load({ groups: EVERYTHING['groups']!.slice(0, 2) }, { replace: true });
  const ids = ((await ask('/groups')).body.groups as { id: string }[]).map(({ id }) => id);
  t.strictSame(ids, ['Gr001', 'Gr002']);
});

t.test('--replace: projects of a named workspace that are absent go with all they have', async (t) => {
  const { catalog, get, load } = await makeWorld(t, EVERYTHING);
  const beta: Tables = {
    ...BETA,
    keywords: [keyword('Kw001', 'beta', { project_id: 'Beta1' })],
    site_daily: [{ ...FACT, project_id: 'Beta1', device: 'desktop' }],
  };
  await load(beta);
  await load({
    alerts: [{ ...EVERYTHING['alerts']![0]!, id: '0a1b2c3d-0000-4000-8000-000000000009', project_id: 'Proj2' }],
  });
  await load({ projects: [PROJECT] }, { replace: true });
  t.match((await get('/projects')).body.projects, [{ id: 'Proj1', trackedKeywords: 2 }]);
  t.equal((await get('/projects/Proj2/keywords')).status, 404);
  t.strictSame(readCoverage(catalog, 'Proj2'), {});
  t.match(readCoverage(catalog, 'Beta1'), { site_daily: { rows: 1 } }, 'another workspace is not named');

  await load({ projects: [SECOND] });
  t.match((await get('/projects/Proj2/keywords')).body.keywords, []);
  t.match((await get('/projects/Proj2/alerts')).body.alerts, []);
  t.match((await get('/projects/Proj2/site')).body.daily, []);
});

t.test('--replace: notes of a project, and of a workspace', async (t) => {
  const [ofWorkspace, ofGroup] = EVERYTHING['notes']!;
  const uuid = (number: number): string => `0a1b2c3d-0000-4000-8000-00000000010${number}`;
  const { catalog, get, load } = await makeWorld(t, EVERYTHING);
  await load({
    ...BETA,
    notes: [
      { ...ofGroup, id: uuid(1), scope: 'project', group_id: null, text: 'second' },
      { ...ofWorkspace, id: uuid(2), workspace_id: 'beta', text: 'of beta' },
    ],
  });
  await load({ notes: [{ ...ofGroup, id: uuid(3), text: 'the only one' }] }, { replace: true });
  const textsOf = async (): Promise<string[]> =>
    ((await get('/projects/Proj1/notes')).body.notes as { text: string }[]).map(({ text }) => text);
  t.notOk((await textsOf()).includes('a "b",\nc'));
  t.notOk((await textsOf()).includes('second'));
  t.ok((await textsOf()).includes('the only one'));

  await load({ notes: [{ ...ofWorkspace, id: uuid(4), text: 'of the workspace' }] }, { replace: true });
  t.notOk((await textsOf()).includes('New year'));
  t.ok((await textsOf()).includes('of the workspace'));
  const ofBeta = catalog.all<{ text: string }>('notes_of_project', {
    workspace: 'beta',
    project: 'Beta1',
    from: null,
    to: null,
    clientVisible: 0,
  });
  t.match(ofBeta, [{ text: 'of beta' }], 'a workspace that is not named');
});
