// Rows of every list come in its stated order, in every format and over MCP, with filters, sorts, ties and pages.
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { ROUTES } from '../../server/api/api.ts';
import { putInspections } from '../../server/catalog/inspections.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { parseCsv } from '../formats/read.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, type Row, WORKSPACE } from '../world.ts';

type Numbers = readonly [clicks: number, impressions: number, sumPosition: number];

/**
 * Names and their numbers: the order of clicks, of names, of impressions and of the rows as loaded all differ. Some rows are
 * equal in clicks, some in clicks and impressions, one has no impressions.
 */
const NUMBERS: Readonly<Record<string, Numbers>> = {
  'zebra boots': [9, 30, 30],
  'mint boots': [9, 30, 10],
  'apple boots': [2, 30, 300],
  'öko boots': [9, 40, 0],
  'date boots': [2, 12, 6],
  kiwi: [20, 25, 50],
  'Boots 10': [2, 12, 24],
  'boots 9': [2, 12, 24],
  lime: [2, 12, 6],
  'fig boots': [0, 5, 40],
  'empty boots': [0, 0, 0],
  'cedar boots': [35, 350, 3500],
};
const NAMES = Object.keys(NUMBERS);
const urlOf = (name: string): string => `https://shop.example/${encodeURIComponent(name)}`;
const day = '2026-03-05';
const rowsOf = (keys: (name: string, at: number) => readonly unknown[]): readonly (readonly unknown[])[] =>
  NAMES.map((name, at) => [day, ...keys(name, at), ...NUMBERS[name]!]);

/** A project for each name: their ids, domains and ages have three other orders. */
const PROJECTS: Row[] = NAMES.map((_, at) => ({
  ...PROJECT,
  id: `P${String((at * 7) % 12).padStart(4, '0')}`,
  workspace_id: 'many',
  domain: `${(at * 5) % 12}.example`,
  created_at: `2025-01-02T03:04:${10 + ((at * 11) % 12)}Z`,
  country: null,
  property: `sc-domain:${(at * 5) % 12}.example`,
}));

const uuid = (last: number) => `5e1f0000-0000-4000-8000-0000000000${String(last).padStart(2, '0')}`;
const COUNTRIES = ['usa', 'gbr', 'fra', 'deu', 'esp', 'aut', 'che', 'nld', 'bel', 'pol', 'cze', 'dnk'];
const countryOf = (name: string): string => COUNTRIES[NAMES.indexOf(name)]!;
const appearanceOf = (name: string): string => `KIND_${COUNTRIES[NAMES.indexOf(name)]!.toUpperCase()}`;
const KEYWORD_IDS = NAMES.map((_, at) => `kw${String((at * 7) % 12).padStart(3, '0')}`);

/** Each request comes a second after the one before, so that none is over the limit. */
let time = NOW;
const TABLES = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'many' }],
  projects: [PROJECT, ...PROJECTS],
  keywords: NAMES.map((name, at) => keyword(KEYWORD_IDS[at]!, name)),
  query_daily: facts('date query country', ...rowsOf((name) => [name, 'usa'])),
  page_daily: facts('date url country', ...rowsOf((name) => [urlOf(name), 'usa'])),
  keyword_daily: facts('date keyword_id device', ...rowsOf((_, at) => [KEYWORD_IDS[at], 'mobile'])),
  country_daily: facts('date country', ...rowsOf((name) => [countryOf(name)])),
  appearance_daily: facts('date appearance', ...rowsOf((name) => [appearanceOf(name)])),
  site_daily: [
    ...facts(
      'date device',
      [day, 'tablet', 4, 50, 60],
      [day, 'mobile', 4, 50, 60],
      [day, 'desktop', 4, 60, 60],
      ['2026-03-04', 'mobile', 1, 5, 6],
    ),
    ...NAMES.flatMap((name, at) =>
      ofProject(
        String(PROJECTS[at]!['id']),
        facts('date device', [day, 'mobile', ...NUMBERS[name]!], ['2026-03-04', 'mobile', 0, 0, 0]),
      ),
    ),
  ],
  groups: ['Ccccc', 'Aaaaa', 'Bbbbb'].map((id, at) => ({
    project_id: 'Proj1',
    id,
    name: `g${at}`,
    kind: 'manual',
    position: at === 0 ? 0 : 1,
  })),
  page_groups: ['Ccccc', 'Bbbbb', 'Aaaaa'].map((id, at) => ({
    project_id: 'Proj1',
    id,
    name: `g${at}`,
    position: at === 0 ? 0 : 1,
    rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/a' }] },
  })),
  alerts: [3, 1, 2, 4].map((number) => ({
    id: uuid(number),
    project_id: 'Proj1',
    type: 'keyword_drop',
    kind: 'Keyword drop',
    severity: 'warning',
    title: 'A title',
    body: 'A body.',
    created_at: number === 4 ? '2026-03-09T00:00:00Z' : '2026-03-08T00:00:00Z',
  })),
  notes: [3, 1, 2, 4].map((number) => ({
    id: uuid(10 + number),
    workspace_id: 'acme',
    project_id: 'Proj1',
    scope: 'project',
    date: number === 4 ? '2026-03-01' : '2026-03-02',
    category: 'content',
    text: 'A text.',
    author: 'Editorial team',
    created_at: '2026-03-02T10:00:00Z',
    updated_at: '2026-03-02T10:00:00Z',
  })),
};
const world = await makeWorld(t, TABLES, { now: () => (time += 1000) });
const made = { workspace: 'many', name: 'order', by: null, at: NOW * 1000 };
const MANY = { authorization: `Bearer ${(await createKey(world.catalog, made)).key}` };
await world.app.listen({ host: '127.0.0.1', port: 0 });
const { port } = world.app.server.address() as AddressInfo;
const agent = await connectAgent(t, new URL(`http://127.0.0.1:${port}/mcp`), { authorization: `Bearer ${world.key}` });

type Headers = Readonly<Record<string, string>>;

/** A column of an answer in CSV. */
async function inCsv(path: string, field: string, headers: Headers): Promise<string[]> {
  const { statusCode, body } = await world.app.inject({ url: `/api/v1${path}`, headers });
  if (statusCode !== 200) throw new Error(`${path}: ${body}`);
  const [head = [], ...lines] = parseCsv(body);
  return lines.map((line) => line[head.indexOf(field)]!);
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const CLICKS = (name: string): number => NUMBERS[name]![0];
const IMPRESSIONS = (name: string): number => NUMBERS[name]![1];
/** Unrounded; undefined without impressions. */
const RATIO = (over: (numbers: Numbers) => number) => (name: string) =>
  NUMBERS[name]![1] === 0 ? undefined : over(NUMBERS[name]!) / NUMBERS[name]![1];
const FIELDS: Readonly<Record<string, (name: string) => number | undefined>> = {
  clicks: CLICKS,
  impressions: IMPRESSIONS,
  ctr: RATIO(([clicks]) => clicks),
  position: RATIO(([, impressions, sumPosition]) => sumPosition + impressions),
};

/** Names in the order of `sort`, then in that of their list; rows without the number come last in either direction. */
function sorted(
  names: readonly string[],
  sort: string,
  order: (a: string, b: string) => number,
  text: (name: string) => string,
): string[] {
  const compare = (key: string, a: string, b: string): number => {
    const sign = key.startsWith('-') ? -1 : 1;
    const number = FIELDS[key.replace('-', '')];
    if (number === undefined) return sign * byBytes(text(a), text(b));
    const [x, y] = [number(a), number(b)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return sign * (x - y);
  };
  const keys = sort.split(',').filter((key) => key !== '');
  return names.toSorted((a, b) => {
    for (const key of keys) {
      const found = compare(key, a, b);
      if (found !== 0) return found;
    }
    return order(a, b);
  });
}

const mostClicksFirst =
  (text: (name: string) => string) =>
  (a: string, b: string): number =>
    CLICKS(b) - CLICKS(a) || IMPRESSIONS(b) - IMPRESSIONS(a) || byBytes(text(a), text(b));

interface List {
  readonly path: string;
  readonly rows: string;
  /** The field of JSON and CSV by which a row is known, in filters and sorts too, and what it is for a name. */
  readonly field: string;
  readonly text: (name: string) => string;
  /** The order of rows, by their names, without `sort`. */
  readonly order: (a: string, b: string) => number;
  readonly headers: Headers;
  readonly tool?: true;
}

const TEAM = { authorization: `Bearer ${world.key}` };
const same = (name: string): string => name;
const domainOf = (name: string): string => String(PROJECTS[NAMES.indexOf(name)]!['domain']);
const ageOf = (name: string): string => String(PROJECTS[NAMES.indexOf(name)]!['created_at']);

const LISTS: readonly List[] = [
  {
    path: '/projects/Proj1/queries',
    rows: 'queries',
    field: 'query',
    text: same,
    order: mostClicksFirst(same),
    headers: TEAM,
    tool: true,
  },
  {
    path: '/projects/Proj1/pages',
    rows: 'pages',
    field: 'url',
    text: urlOf,
    order: mostClicksFirst(urlOf),
    headers: TEAM,
    tool: true,
  },
  {
    path: '/projects/Proj1/keywords',
    rows: 'keywords',
    field: 'query',
    text: same,
    order: byBytes,
    headers: TEAM,
    tool: true,
  },
  {
    path: '/portfolio',
    rows: 'projects',
    field: 'domain',
    text: domainOf,
    order: (a, b) => byBytes(ageOf(a), ageOf(b)),
    headers: MANY,
  },
];

/** `NAME` stands for the field of the name. */
const SORTS = [
  '',
  ...['clicks', 'impressions', 'ctr', 'position', 'NAME'].flatMap((field) => [field, `-${field}`]),
  '-clicks,NAME',
  '-clicks,-NAME',
  'impressions,-position',
];
const FILTERS: Readonly<Record<string, (name: string, text: string) => boolean>> = {
  '': () => true,
  'NAME:contains:O': (_, text) => text.toLowerCase().includes('o'),
  'clicks:lte:9': (name) => CLICKS(name) <= 9,
  'clicks:lte:20;NAME:not_contains:kiwi': (name, text) => CLICKS(name) <= 20 && !text.includes('kiwi'),
};
const RANGE = { from: '2026-03-01', to: '2026-03-08' };

for (const { path, rows, field, text, order, headers, tool } of LISTS) {
  for (const [filter, isMatch] of Object.entries(FILTERS)) {
    t.test(`${rows} ${filter}`, async (t) => {
      const names = NAMES.filter((name) => isMatch(name, text(name)));
      for (const sort of SORTS) {
        const expected = (by: string) => sorted(names, by, order, text).map(text);
        const asked = {
          ...RANGE,
          ...(filter && { filter: filter.replace('NAME', field) }),
          ...(sort && { sort: sort.replace('NAME', field) }),
        };
        const url = (more: object, format = '') =>
          `${path}${format}?${new URLSearchParams({ ...asked, ...more }).toString()}`;
        const whole = await world.get(url({}), headers);
        t.strictSame(
          whole.body[rows].map((row: Row) => row[field]),
          expected(sort),
          `sort=${sort}`,
        );
        t.strictSame(await inCsv(url({}, '.csv'), field, headers), expected(sort), `sort=${sort} in CSV`);
        const pages: unknown[] = [];
        for (let offset = 0; offset < names.length; offset += 5) {
          const { body } = await world.get(url({ limit: '5', offset: String(offset) }), headers);
          pages.push(...body[rows].map((row: Row) => row[field]));
        }
        t.strictSame(pages, expected(sort), `sort=${sort} page by page`);
        if (tool === undefined) continue;
        const { body } = await callTool(agent, 'top_rows', { project: 'Proj1', kind: rows, ...asked });
        t.strictSame(
          body[rows].map((row: Row) => row[field]),
          expected(sort || '-clicks'),
          `sort=${sort} over MCP`,
        );
      }
    });
  }
}

/** Lists without filters. Groups answer in JSON only. */
const FIXED: readonly { path: string; rows: string; field: string; expected: readonly string[]; headers?: Headers }[] =
  [
    {
      path: '/projects',
      rows: 'projects',
      field: 'id',
      expected: NAMES.toSorted((a, b) => byBytes(ageOf(a), ageOf(b))).map((name) =>
        String(PROJECTS[NAMES.indexOf(name)]!['id']),
      ),
      headers: MANY,
    },
    { path: '/projects/Proj1/groups', rows: 'groups', field: 'id', expected: ['Ccccc', 'Aaaaa', 'Bbbbb'] },
    { path: '/projects/Proj1/page-groups', rows: 'pageGroups', field: 'id', expected: ['Ccccc', 'Aaaaa', 'Bbbbb'] },
    { path: '/projects/Proj1/alerts', rows: 'alerts', field: 'id', expected: [4, 1, 2, 3].map(uuid) },
    { path: '/projects/Proj1/notes', rows: 'notes', field: 'id', expected: [14, 11, 12, 13].map(uuid) },
  ];

for (const { path, rows, field, expected, headers = TEAM } of FIXED) {
  t.test(rows, async (t) => {
    const { body } = await world.get(path, headers);
    t.strictSame(
      body[rows].map((row: Row) => row[field]),
      expected,
    );
    if (!/roups$/.test(rows)) t.strictSame(await inCsv(`${path}.csv`, field, headers), expected, 'in CSV');
  });
}

t.test('breakdowns', async (t) => {
  const query = new URLSearchParams(RANGE);
  const { body } = await world.get(`/projects/Proj1/breakdowns?${query.toString()}`);
  const shown = NAMES.filter((name) => IMPRESSIONS(name) > 0);
  const expected = {
    countries: shown.toSorted(mostClicksFirst(countryOf)).map(countryOf),
    devices: ['mobile', 'desktop', 'tablet'],
    appearances: shown
      .toSorted(
        (a, b) => IMPRESSIONS(b) - IMPRESSIONS(a) || CLICKS(b) - CLICKS(a) || byBytes(appearanceOf(a), appearanceOf(b)),
      )
      .map(appearanceOf),
  };
  for (const [rows, field] of [
    ['countries', 'country'],
    ['devices', 'device'],
    ['appearances', 'appearance'],
  ] as const) {
    t.strictSame(
      body[rows].map((row: Row) => row[field]),
      expected[rows],
      rows,
    );
  }
  const csv = await inCsv(`/projects/Proj1/breakdowns.csv?${query.toString()}`, 'value', TEAM);
  t.strictSame(csv, [...Object.values(expected).flat(), 'brand', 'nonBrand', 'anonymous'], 'in CSV');
});

t.test('rows of an explanation: largest change first', async (t) => {
  for (const [by, field, text] of [
    ['query', 'query', same],
    ['page', 'page', urlOf],
  ] as const) {
    const query = new URLSearchParams({ from: day, to: day, compare: 'previous', by });
    const { body } = await world.get(`/projects/Proj1/explain?${query.toString()}`);
    const expected = NAMES.filter((name) => IMPRESSIONS(name) > 0)
      .toSorted((a, b) => CLICKS(b) - CLICKS(a) || byBytes(text(a), text(b)))
      .map(text);
    t.strictSame(
      body.rows.map((row: Row) => row[field]),
      expected,
      by,
    );
    t.strictSame(
      (await inCsv(`/projects/Proj1/explain.csv?${query.toString()}`, field, TEAM)).slice(0, expected.length),
      expected,
      `${by} in CSV`,
    );
  }
});

t.test('the index state of pages: by address, or as sorted, then by address', async (t) => {
  const state = {
    verdict: 'PASS',
    coverageState: 'Submitted and indexed',
    robotsTxtState: null,
    indexingState: null,
    pageFetchState: null,
    googleCanonical: null,
    userCanonical: null,
    crawledAs: null,
  };
  const verdicts = ['PASS', 'NEUTRAL', 'FAIL'];
  const verdictOf = (name: string): string => verdicts[NAMES.indexOf(name) % 3]!;
  const at = (NOW - 86_400_000) * 1000;
  const results = NAMES.map((name) => ({
    url: urlOf(name),
    at,
    clicks: 1,
    isWatched: false,
    inspection: { state: { ...state, verdict: verdictOf(name) }, lastCrawlTime: null },
  }));
  const project = { id: 'Proj1', property: String(PROJECT['property']) };
  await putInspections(world.catalog, project, results, { dueAt: at, reason: null });
  const byAddress = NAMES.toSorted((a, b) => byBytes(urlOf(a), urlOf(b)));
  const byVerdict = (sign: number) => byAddress.toSorted((a, b) => sign * byBytes(verdictOf(a), verdictOf(b)));
  for (const [asked, expected] of [
    ['', byAddress],
    ['sort=-url', byAddress.toReversed()],
    ['sort=verdict', byVerdict(1)],
    ['sort=-verdict', byVerdict(-1)],
    ['sort=-since', byAddress],
    ['filter=verdict:equals:PASS', byAddress.filter((name) => verdictOf(name) === 'PASS')],
    ['filter=verdict:not_equals:PASS&sort=-verdict', byVerdict(-1).filter((name) => verdictOf(name) !== 'PASS')],
  ] as const) {
    const { body } = await world.get(`/projects/Proj1/index?${asked}`);
    const urls = expected.map(urlOf);
    t.strictSame(
      body.pages.map((row: Row) => row['url']),
      urls,
      asked,
    );
    t.strictSame(await inCsv(`/projects/Proj1/index.csv?${asked}`, 'url', TEAM), urls, `${asked} in CSV`);
  }
});

t.test('rows of questions', async (t) => {
  const search = (name: string) => name;
  for (const [sort, expected] of [
    [undefined, NAMES.toSorted(mostClicksFirst(search))],
    [['query'], NAMES.toSorted(byBytes)],
    [['-position'], sorted(NAMES, '-position', mostClicksFirst(search), search)],
  ] as const) {
    const question = { range: { from: day, to: day }, dimensions: ['query'], ...(sort && { sort }) };
    const query = new URLSearchParams({ q: JSON.stringify(question) });
    const { body } = await world.get(`/projects/Proj1/query?${query.toString()}`);
    const shown = expected.filter((name) => IMPRESSIONS(name) > 0);
    t.strictSame(
      body.rows.map((row: Row) => row['query']),
      shown,
      String(sort),
    );
    t.strictSame(
      await inCsv(`/projects/Proj1/query.csv?${query.toString()}`, 'query', TEAM),
      shown,
      `${String(sort)} in CSV`,
    );
  }
});

/** Where the order of an endpoint's rows is tested, if not here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  site: 'test/routes/site.test.ts',
  hours: 'test/routes/hours.test.ts',
  surfaces: 'test/routes/surfaces.test.ts',
  ai: 'test/routes/surfaces.test.ts',
  crawl: 'test/routes/crawl.test.ts',
  sitemaps: 'test/sync/sitemaps.test.ts',
  'index/history': 'test/sync/inspections.test.ts',
  findings: 'test/routes/findings.test.ts',
  effects: 'test/routes/effects.test.ts',
  snapshot: 'test/routes/snapshot.test.ts',
};

t.test('every endpoint is here or elsewhere', async (t) => {
  const here = [...LISTS, ...FIXED].map(({ path }) => path.replace('Proj1', ':id'));
  const more = ['breakdowns', 'explain', 'index', 'query', ...Object.keys(ELSEWHERE)].map(
    (name) => `/projects/:id/${name}`,
  );
  const one = ['/projects/:id', '/projects/:id/snapshot/:file'];
  t.strictSame(ROUTES.map(({ path }) => path).sort(), [...here, ...more, ...one].sort());
});
