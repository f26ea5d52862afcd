// Questions that differ in one part have their own answers in any order, and equal ones follow each change.
import t from 'tap';
import {
  facts,
  keyword,
  makeWorld,
  NOW,
  ofProject,
  PROJECT,
  type Row,
  type Tables,
  WORKSPACE,
  type World,
} from '../world.ts';

/** Days of three months, some of them missing. */
const DAYS = ['2026-03-05', '2026-01-15', '2026-03-02', '2026-02-26', '2026-02-10', '2026-03-06'];
let drawn = 0;
/** Rows of each day and name: no two have equal numbers. */
function rowsOf(columns: string, ...names: readonly (readonly string[])[]): Row[] {
  const rows = DAYS.flatMap((day) =>
    names.map((name) => {
      drawn++;
      return [day, ...name, 10 + ((drawn * 37) % 101), 300 + ((drawn * 91) % 577), (drawn * 53) % 1009];
    }),
  );
  return facts(`date ${columns}`, ...rows);
}
const page = (name: string) => `https://shop.example/${name}`;
const group = (id: string, more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: id,
  kind: 'manual',
  position: 1,
  ...more,
});
const rule = (value: number) => ({
  kind: 'rule',
  rule: { match: 'all', conditions: [{ field: 'clicks', op: 'gte', value }] },
});
const TABLES: Tables = {
  workspaces: [WORKSPACE],
  projects: [PROJECT, { ...PROJECT, id: 'Proj2', property: 'https://shop.example/' }],
  keywords: [
    keyword('Kw001', 'Red shoes'),
    keyword('Kw002', 'acme boots'),
    keyword('Kw003', 'boots'),
    keyword('Kw004', 'Étuis'),
  ],
  groups: [group('Manua'), group('Rules', rule(250))],
  group_members: ['Kw001', 'Kw003'].map((id) => ({ project_id: 'Proj1', group_id: 'Manua', keyword_id: id })),
  site_daily: [...rowsOf('device', ['mobile'], ['desktop']), ...ofProject('Proj2', rowsOf('device', ['mobile']))],
  site_daily_image: rowsOf('device', ['mobile']),
  country_daily: rowsOf('country', ['usa'], ['gbr']),
  appearance_daily: rowsOf('appearance', ['VIDEO'], ['FAQ']),
  brand_daily: rowsOf('segment', ['brand'], ['non_brand']),
  page_daily: [
    ...rowsOf('url country', [page('b'), 'usa'], [page('a'), 'gbr'], [page('é'), 'usa'], [page('a'), 'usa']),
    ...ofProject('Proj2', rowsOf('url country', [page('a'), 'usa'])),
  ],
  query_daily: [
    ...rowsOf(
      'query country',
      ['red shoes', 'usa'],
      ['acme boots', 'gbr'],
      ['boots', 'usa'],
      ['ACME', 'usa'],
      ['Boots', 'usa'],
    ),
    ...ofProject('Proj2', rowsOf('query country', ['boots', 'usa'])),
  ],
  keyword_daily: rowsOf(
    'keyword_id device',
    ['Kw003', 'mobile'],
    ['Kw001', 'desktop'],
    ['Kw001', 'mobile'],
    ['Kw002', 'tablet'],
  ),
  keyword_page_daily: rowsOf('keyword_id url', ['Kw003', page('b')], ['Kw001', page('a')], ['Kw002', page('a')]),
  site_hourly: facts(
    'date hour',
    ...[9, 3, 12].map((hour, at) => [
      '2026-03-05',
      `2026-03-05T${String(8 + hour).padStart(2, '0')}:00:00Z`,
      30 - hour,
      90 + at,
      5,
    ]),
  ),
};

const RANGES = [
  'from=2026-03-01&to=2026-03-06',
  'from=2026-03-02&to=2026-03-06',
  'from=2026-03-01&to=2026-03-05',
  'from=2026-02-01&to=2026-03-06',
];
const SELECTIONS = ['filter=clicks:gte:120', 'filter=clicks:gt:150', 'sort=clicks', 'sort=-impressions', 'sort=-ctr'];
const COMPARED = [
  'compare=previous',
  'compare=year',
  'compare=2026-02-09..2026-02-14',
  'compare=2026-02-08..2026-02-13',
];
const LISTS = [
  '',
  ...SELECTIONS,
  ...COMPARED,
  'filter=clicks:gte:120&compare=previous',
  'limit=1',
  'limit=1&offset=1',
  'quality=1',
];
const PARTS: Readonly<Record<string, readonly string[]>> = {
  site: [
    '',
    ...COMPARED,
    'device=mobile',
    'device=desktop',
    'country=usa',
    'country=gbr',
    'interval=week',
    'interval=month',
    'quality=1',
    'type=image',
  ],
  keywords: [
    ...LISTS,
    'device=mobile',
    'device=tablet',
    'daily=1',
    'daily=1&device=mobile',
    'group=Manua',
    'group=Rules',
    'device=mobile&compare=previous',
  ],
  pages: [...LISTS, 'country=usa', 'country=gbr', 'country=usa&sort=clicks'],
  queries: [...LISTS, 'country=usa', 'filter=branded:eq:true', 'filter=tracked:eq:true', 'sort=branded,query'],
  breakdowns: ['', ...COMPARED, 'quality=1'],
  explain: ['query', 'page', 'keyword', 'country', 'device'].map((by) => `compare=previous&by=${by}`),
};
const question = (more: object): string =>
  `/query?q=${encodeURIComponent(JSON.stringify({ range: { from: '2026-03-01', to: '2026-03-06' }, dimensions: ['query'], ...more }))}`;
const QUESTIONS = [
  {},
  { range: { from: '2026-03-01', to: '2026-03-05' } },
  { range: { from: '2026-02-01', to: '2026-03-06' } },
  { metrics: ['clicks'] },
  { limit: 1 },
  { limit: 1, offset: 1 },
  { sort: ['clicks'] },
  { dimensions: ['page'] },
  { dimensions: ['keyword'] },
  { dimensions: ['group'] },
  { dimensions: ['brand'] },
  { dimensions: ['date'] },
  { filters: [['contains', 'query', ['boots']]] },
  { filters: [['not', ['contains', 'query', ['boots']]]] },
  { compare: 'previous' },
];
const PATHS: readonly string[] = [
  ...Object.entries(PARTS).flatMap(([name, parts]) =>
    parts.map((part) => `/${name}?${RANGES[0]}${part && `&${part}`}`),
  ),
  ...['site', 'keywords', 'pages', 'queries', 'breakdowns'].flatMap((name) =>
    RANGES.slice(1).map((range) => `/${name}?${range}`),
  ),
  ...QUESTIONS.map(question),
  `/hours?from=2026-03-05&to=2026-03-05`,
  '/groups',
]
  .map((path) => `/projects/Proj1${path}`)
  .concat(['site', 'pages', 'queries'].map((name) => `/projects/Proj2/${name}?${RANGES[0]}`));

let time = NOW;
const clock = { now: () => (time += 1000) };

/** The answers to all questions, without the times at which lists were made. */
async function answers({ get }: World, paths = PATHS): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const { status, body } = await get(path);
    found.set(path, `${status} ${JSON.stringify(body).replaceAll(/"fetchedAt":"[^"]*"/g, '')}`);
  }
  return found;
}

const world = await makeWorld(t, TABLES, clock);

t.test('the answer to a question does not depend on what was asked before', async (t) => {
  const forwards = await answers(world);
  const other = await makeWorld(t, TABLES, clock);
  const backwards = await answers(other, PATHS.toReversed());
  for (const path of PATHS) {
    t.equal(forwards.get(path)!.slice(0, 4), '200 ', path);
    t.equal(forwards.get(path), backwards.get(path), path);
  }
  const { body } = await world.get(`/projects/Proj1/hours?from=2026-03-05&to=2026-03-05`);
  const hours = (body.hours as Row[]).filter(({ clicks }) => clicks !== 0).map(({ clicks }) => clicks);
  t.strictSame(hours, [27, 21, 18], 'hours come in their order');
});

/** Loads that change answers: rows of a day, and what gives rows their names, groups, days and notes. */
const CHANGES: Readonly<Record<string, Tables>> = {
  'days of pages, queries, keywords and the property': {
    page_daily: facts(
      'date url country',
      ['2026-03-05', page('z'), 'usa', 90, 400, 7],
      ['2026-03-05', page('a'), 'gbr', 1, 2, 3],
    ),
    query_daily: facts('date query country', ['2026-03-05', 'boots', 'usa', 99, 500, 0]),
    keyword_daily: facts('date keyword_id device', ['2026-03-05', 'Kw002', 'mobile', 77, 300, 9]),
    site_daily: facts('date device', ['2026-03-06', 'desktop', 5, 5000, 0]),
  },
  'brand terms': { projects: [{ ...PROJECT, brand_terms: ['shoes', 'É'] }] },
  'an archived keyword, another one, and another query of one': {
    keywords: [
      keyword('Kw001', 'Red shoes', { archived: true }),
      keyword('Kw005', 'ACME'),
      keyword('Kw003', 'Boots', { intent: 'commercial' }),
    ],
  },
  'the rule of a group and a member': {
    groups: [group('Rules', rule(100))],
    group_members: [{ project_id: 'Proj1', group_id: 'Manua', keyword_id: 'Kw002' }],
  },
  'the history of the plan and the last synced day': {
    workspaces: [{ ...WORKSPACE, keyword_history_days: 7 }],
    projects: [
      { ...PROJECT, brand_terms: ['shoes', 'É'], synced_through: '2026-03-05', provisional_after: '2026-03-04' },
    ],
  },
};

/** What is stored after a load: of entities the last row of a key, of facts the days of the load. */
function after(before: Tables, load: Tables): Tables {
  const merged: Record<string, readonly Row[]> = { ...before };
  for (const [table, rows] of Object.entries(load)) {
    const keyOf = (row: Row): string =>
      JSON.stringify(
        'date' in row
          ? [row['project_id'], row['date']]
          : [row['project_id'], row['id'], row['group_id'], row['keyword_id']],
      );
    const replaced = new Set(rows.map(keyOf));
    merged[table] = [...(before[table] ?? []).filter((row) => !replaced.has(keyOf(row))), ...rows];
  }
  return merged;
}

// With more ranges, each of these takes a second longer and says the same.
const ONCE = PATHS.filter(
  (path) => path.startsWith('/projects/Proj2') || !RANGES.slice(1).some((range) => path.includes(range)),
);
let stored = TABLES;
let known: ReadonlyMap<string, string> | undefined;
for (const [name, load] of Object.entries(CHANGES)) {
  t.test(`equal questions are answered from what was loaded last: ${name}`, async (t) => {
    known ??= await answers(world, ONCE);
    await world.load(load);
    stored = after(stored, load);
    const found = await answers(world, ONCE);
    const fresh = await answers(await makeWorld(t, stored, clock), ONCE);
    t.ok(
      ONCE.some((path) => found.get(path) !== known!.get(path)),
      'some answers are others now',
    );
    for (const path of ONCE) t.equal(found.get(path), fresh.get(path), path);
    known = found;
  });
}
