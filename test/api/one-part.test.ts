// Questions that differ in one part have their own answers in any order, and equal ones follow each change.
import t from 'tap';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, type Row, type Tables, type World } from '../world.ts';

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
const member = (keyword_id: string) => ({ project_id: 'Proj1', group_id: 'Manua', keyword_id });
const group = (id: string, more: Row): Row => ({ project_id: 'Proj1', id, name: id, position: 1, ...more });
const rule = (value: number) => ({
  kind: 'rule',
  rule: { match: 'all', conditions: [{ field: 'clicks', op: 'lt', value }] },
});
const uuid = (last: number) => `5e1f0000-0000-4000-8000-00000000000${last}`;
const TABLES: Tables = {
  projects: [PROJECT, { ...PROJECT, id: 'Proj2', property: 'https://shop.example/' }],
  keywords: ['Red shoes', 'acme boots', 'boots', 'Étuis'].map((query, at) => keyword(`Kw00${at + 1}`, query)),
  groups: [group('Manua', { kind: 'manual' }), group('Rules', rule(250))],
  group_members: ['Kw001', 'Kw004'].map(member),
  site_daily: [...rowsOf('device', ['mobile'], ['desktop']), ...ofProject('Proj2', rowsOf('device', ['mobile']))],
  site_daily_image: rowsOf('device', ['mobile']),
  country_daily: rowsOf('country', ['usa'], ['gbr']),
  country_daily_image: rowsOf('country', ['usa'], ['gbr']),
  appearance_daily: rowsOf('appearance', ['VIDEO'], ['FAQ']),
  brand_daily: rowsOf('segment', ['brand'], ['non_brand']),
  page_daily: [
    ...rowsOf('url country', [page('b'), 'usa'], [page('a'), 'gbr'], [page('é'), 'usa'], [page('a'), 'usa']),
    ...ofProject('Proj2', rowsOf('url country', [page('a'), 'usa'])),
  ],
  query_daily: [
    ...rowsOf('query country', ['red shoes', 'usa'], ['acme boots', 'gbr'], ['ACME', 'usa'], ['boots', 'usa']),
    ...ofProject('Proj2', rowsOf('query country', ['boots', 'usa'])),
  ],
  keyword_daily: rowsOf('keyword_id device', ['Kw003', 'mobile'], ['Kw001', 'desktop'], ['Kw001', 'mobile']),
  keyword_page_daily: rowsOf('keyword_id url', ['Kw003', page('b')], ['Kw001', page('a')], ['Kw002', page('a')]),
  site_hourly: facts(
    'date hour',
    ...[17, 11, 20].map((hour) => ['2026-03-05', `2026-03-05T${hour}:00:00Z`, 38 - hour, 82 + hour, 5]),
  ),
  alerts: [1, 2, 3].map((at) => ({
    ...{ project_id: 'Proj1', id: uuid(at), type: 'keyword_drop', kind: 'Keyword drop', severity: 'critical' },
    ...{ title: 'Fell', body: '', created_at: `2026-03-0${at}T00:00:00Z` },
    ...(at === 1 ? { resolved_at: '2026-03-02T00:00:00Z' } : {}),
  })),
  notes: [4, 5].map((at) => ({
    ...{ workspace_id: 'acme', id: uuid(at), scope: 'workspace', date: `2026-03-0${at}`, category: 'other', text: 'N' },
    ...{ author: 'Ann', created_at: '2026-03-01T00:00:00Z', updated_at: '2026-03-01T00:00:00Z' },
    client_visible: at === 4,
  })),
};

const RANGES = ['2026-03-01 2026-03-06', '2026-03-02 2026-03-05', '2026-03-01 2026-03-05', '2026-02-01 2026-03-06'].map(
  (days) => `from=${days.replace(' ', '&to=')}`,
);
const COMPARED = ['previous', '2026-02-09..2026-02-14', '2026-02-05..2026-02-10'].map((days) => `compare=${days}`);
const LISTS = [
  ...['filter=clicks:gte:190', 'filter=clicks:gte:250', 'sort=clicks', 'sort=-position'],
  ...COMPARED,
  ...['filter=clicks:gte:190&compare=previous', 'limit=1', 'limit=1&offset=1', 'quality=1'],
];
/** Parts that each change the answer of an endpoint to a range. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  site: [
    ...COMPARED,
    ...['device=mobile', 'device=desktop', 'country=usa', 'country=gbr', 'interval=week', 'interval=month'],
    ...['quality=1', 'type=image', 'type=image&country=usa', 'device=mobile&compare=previous'],
  ],
  keywords: [
    ...LISTS,
    ...['device=mobile', 'device=desktop', 'daily=1', 'daily=1&device=mobile', 'daily=1&interval=month'],
    ...['group=Manua', 'group=Rules', 'device=mobile&compare=previous'],
  ],
  pages: [...LISTS, 'country=usa', 'country=gbr', 'country=usa&sort=clicks'],
  queries: [...LISTS, 'country=usa', 'filter=branded:eq:true', 'filter=tracked:eq:true', 'sort=branded,query'],
  breakdowns: [...COMPARED, 'quality=1', 'type=image'],
  surfaces: COMPARED,
  explain: ['query', 'page', 'keyword', 'country', 'device', 'brand'].flatMap((by) =>
    COMPARED.slice(0, 2).map((compare) => `${compare}&by=${by}`),
  ),
};
const QUESTIONS = [
  {},
  { range: { from: '2026-03-01', to: '2026-03-05' } },
  { range: { from: '2026-02-01', to: '2026-03-06' } },
  { metrics: ['clicks'] },
  ...[{ limit: 1 }, { limit: 1, offset: 1 }, { sort: ['clicks'] }],
  ...['page', 'keyword', 'group', 'brand', 'date'].map((name) => ({ dimensions: [name] })),
  { filters: [['contains', 'query', ['boots']]] },
  { filters: [['not', ['contains', 'query', ['boots']]]] },
  { compare: 'previous' },
].map((more) => {
  const asked = { range: { from: '2026-03-01', to: '2026-03-06' }, dimensions: ['query'], ...more };
  return `/query?q=${encodeURIComponent(JSON.stringify(asked))}`;
});
const OTHERS = [
  ...['/hours?from=2026-03-05&to=2026-03-05', '/hours?from=2026-03-05&to=2026-03-06', '/groups', '/page-groups'],
  ...['/alerts', '/alerts?status=open', '/alerts?status=resolved&since=2026-03-01', '/alerts?limit=1&status=all'],
  ...['/notes', '/notes?from=2026-03-05', '/notes?to=2026-03-03', '/notes?clientVisible=1'],
  ...['a', 'b'].flatMap((name) => ['2026-03-01', '2026-03-02'].map((day) => `/effects?page=${page(name)}&date=${day}`)),
  ...['/findings?to=2026-03-06', '/findings?to=2026-03-05'],
];
const PATHS: readonly string[] = [
  ...Object.entries(PARTS).flatMap(([name, parts]) => parts.map((part) => `/${name}?${RANGES[0]}&${part}`)),
  ...['site', 'keywords', 'pages', 'queries', 'breakdowns', 'surfaces'].flatMap((name) =>
    RANGES.map((range) => `/${name}?${range}`),
  ),
  ...QUESTIONS,
  ...OTHERS,
]
  .map((path) => `/projects/Proj1${path}`)
  .concat(['site', 'pages', 'queries'].map((name) => `/projects/Proj2/${name}?${RANGES[0]}`))
  .concat(
    ['', '&device=mobile', '&daily=1', '&sort=clicks', '&limit=1'].map((part) => `/portfolio?${RANGES[0]}${part}`),
  );

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
/** Questions with other answers in another world. */
const differing = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] =>
  [...one].filter(([path, answer]) => other.get(path) !== answer).map(([path]) => path);

const world = await makeWorld(t, TABLES, clock);

t.test('each part changes the answer, whatever was asked before', async (t) => {
  const forwards = await answers(world);
  const backwards = await answers(await makeWorld(t, TABLES, clock), PATHS.toReversed());
  t.strictSame(differing(forwards, backwards), [], 'the order of questions does not matter');
  const first = new Map([...forwards].toReversed().map(([path, answer]) => [answer, path]));
  t.strictSame(
    [...forwards].filter(([path, answer]) => !answer.startsWith('200 ') || first.get(answer) !== path),
    [],
    'no two questions have one answer',
  );
});

/** Loads that change answers, of what the contract suite does not ask. */
const CHANGES: Readonly<Record<string, Tables>> = {
  'days of pages, queries, keywords and the property': {
    page_daily: facts('date url country', ['2026-03-05', page('z'), 'usa', 90, 400, 7]),
    query_daily: facts('date query country', ['2026-03-05', 'boots', 'usa', 99, 500, 0]),
    keyword_daily: facts('date keyword_id device', ['2026-03-05', 'Kw002', 'mobile', 77, 300, 9]),
    site_daily: facts('date device', ['2026-03-06', 'desktop', 5, 5000, 0]),
  },
  'brand terms, keywords and groups': {
    projects: [{ ...PROJECT, brand_terms: ['shoes', 'É'] }],
    keywords: [
      keyword('Kw001', 'Red shoes', { archived: true }),
      keyword('Kw005', 'ACME'),
      keyword('Kw003', 'Boots', { intent: 'commercial' }),
    ],
    groups: [group('Rules', rule(100))],
    group_members: [member('Kw002')],
  },
  'the last synced day': {
    projects: [
      { ...PROJECT, brand_terms: ['shoes', 'É'], synced_through: '2026-03-05', provisional_after: '2026-03-04' },
    ],
  },
};
const ASKED = PATHS.filter((path) => /(query|explain|effects|findings|hours|surfaces)\?/.test(path));

/** What is stored after a load: of entities the last row of a key, of facts the days of the load. */
function after(before: Tables, load: Tables): Tables {
  const merged: Record<string, readonly Row[]> = { ...before };
  for (const [table, rows] of Object.entries(load)) {
    const columns = 'date' in rows[0]! ? ['project_id', 'date'] : ['project_id', 'id', 'group_id', 'keyword_id'];
    const keyOf = (row: Row): string => JSON.stringify(columns.map((name) => row[name]));
    const replaced = new Set(rows.map(keyOf));
    merged[table] = [...(before[table] ?? []).filter((row) => !replaced.has(keyOf(row))), ...rows];
  }
  return merged;
}

t.test('equal questions are answered from what was loaded last', async (t) => {
  let stored = TABLES;
  let known = await answers(world, ASKED);
  for (const [name, load] of Object.entries(CHANGES)) {
    await world.load(load);
    stored = after(stored, load);
    const found = await answers(world, ASKED);
    t.strictSame(differing(found, await answers(await makeWorld(t, stored, clock), ASKED)), [], name);
    t.not(differing(found, known).length, 0, name);
    known = found;
  }
});
