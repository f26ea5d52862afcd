// A load reports all invalid values and broken references at once, and a dry run changes nothing.
import t from 'tap';
import { LoadRejected } from '../../server/domain/problems.ts';
import { sameAsRecorded } from '../recorded.ts';
import { facts, keyword, makeLazyWorld, PROJECT, type Row, type Tables, WORKSPACE, writeSnapshot } from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, csv, EVERYTHING, FACT, loadFolder, ndjson, places, SECOND, writeFiles } from './snapshots.ts';

/** A value as it is written in a file. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

const PERIOD: Row = { ...FACT, date: undefined, first_day: '2026-01-01', last_day: '2026-01-31' };
const DAYS = {
  wrong: ['1989-12-31', '2026-02-30', '10/03/2026', '2026-03-01T12:00:00', '2026-3-1', 'today', null],
  right: ['1990-01-01', '2024-02-29', '2026-03-01T00:00:00Z', '2026-03-02 00:00:00.0'],
};
/** For days that a rule compares with others. */
const OTHER_DAYS = { ...DAYS, right: [] };
const INSTANTS = {
  wrong: ['1899-12-31T23:59:59Z', '2200-01-01T00:00:00Z', '2026-02-30T00:00:00Z', 'soon', null],
  right: ['1900-01-01T00:00:00Z', '2199-12-31T23:59:59Z', '2026-03-01', '2026-03-01T01:00:00+02:00'],
};
const FLAGS = { wrong: ['perhaps', 'yes', 2], right: [true, false, 'True', 'f', 1, '0', null] };
const TEXTS = { wrong: [' ', null], right: [' x', 'null', '0'] };
const IDS = { wrong: ['abcd', 'abcdef', 'ab-12', 'abcdé', null], right: ['ABCDE', '00000', 'azAZ9'] };
const UUIDS = {
  wrong: ['7', '0a1b2c3d-0000-4000-8000-00000000000g', null],
  right: ['0A1B2C3D-0000-4000-8000-0000000000FF'],
};
const COUNTS = {
  wrong: [-1, 1.5, 'many', '0x10', '1e3', '9007199254740992', '99999999999999999999', null],
  right: [0, '450359962730000', '+5', '7.0'],
};
const ORDERS = { wrong: [1.5, 'first', 2147483648, -2147483649, null], right: [2147483647, -2147483648, 0] };
const COUNTRIES = { wrong: ['us', 'USA', 'usa1', 'other', null], right: ['zzz'] };
const URLS = {
  wrong: ['/path', 'shop.example/', 'https://', '1a://b', null],
  right: ['https://b', 'android-app://x/y'],
};
const PATHS_OR_LISTS = { wrong: [{ a: 1 }, 'acme', [1], ['a', null]], right: [[], ['a', ''], null] };
const oneOf = (...right: readonly (string | null)[]) => ({ wrong: ['robot', right[0]?.toUpperCase()], right });
/** A rule may be anything that is JSON here; what rules may be is another table. */
const RULES = { wrong: ['{broken', null], right: [] };

interface Values {
  readonly wrong: readonly unknown[];
  readonly right: readonly unknown[];
}

/** Rows of each table and, by column, values that are wrong, and those nearest to them that are right. */
const VALUES: readonly (readonly [table: string, row: Row, values: Readonly<Record<string, Values>>])[] = [
  [
    'workspaces',
    WORKSPACE,
    {
      id: TEXTS,
      plan: TEXTS,
      name: TEXTS,
      keyword_history_days: { wrong: [0, -1, 1.5, 'all', 365001, null], right: [1, 365000] },
    },
  ],
  [
    'projects',
    PROJECT,
    {
      id: IDS,
      domain: TEXTS,
      property: TEXTS,
      country: { wrong: ['US', 'USA', 'usa1'], right: ['zzz', null] },
      language: { wrong: ['eng', 'EN', 'e'], right: ['zz', null] },
      brand_terms: PATHS_OR_LISTS,
      brand_words: PATHS_OR_LISTS,
      sync_status: oneOf('ok', 'pending', 'warning', 'failed', null),
      last_synced_at: { wrong: ['1899-12-31T23:59:59Z', 'soon'], right: ['1900-01-01T00:00:00Z', null] },
      synced_through: { wrong: ['1989-12-31', '2026-02-30'], right: ['1990-01-01', null] },
      provisional_after: { wrong: ['1989-12-31', '2026-02-30'], right: ['1990-01-01', null] },
      history_backfilling: FLAGS,
      setup_finished: FLAGS,
      created_at: INSTANTS,
    },
  ],
  [
    'keywords',
    keyword('Kw009', 'q'),
    {
      id: IDS,
      query: TEXTS,
      source: oneOf('import', 'manual', 'suggested', null),
      intent: oneOf('commercial', 'informational', 'navigational', 'transactional', 'unclassified', null),
      tracked_since: INSTANTS,
      archived: FLAGS,
      target_url: { wrong: ['/path', 'https://'], right: ['https://b', null] },
      tags: PATHS_OR_LISTS,
    },
  ],
  [
    'groups',
    { project_id: 'Proj1', id: 'Gr009', name: 'G', kind: 'manual', position: 1 },
    {
      id: IDS,
      name: TEXTS,
      kind: { wrong: ['smart', 'Folder', null], right: ['folder', 'manual'] },
      position: ORDERS,
      pinned: FLAGS,
      rule: { wrong: ['{broken'], right: [null] },
    },
  ],
  [
    'page_groups',
    { project_id: 'Proj1', id: 'Pg009', name: 'P', position: 1, rule: { match: 'all', conditions: [] } },
    { id: IDS, name: TEXTS, position: ORDERS, rule: RULES, pinned_urls: PATHS_OR_LISTS },
  ],
  [
    'alerts',
    EVERYTHING['alerts']![0]!,
    {
      id: UUIDS,
      type: TEXTS,
      title: { wrong: [], right: [] },
      severity: oneOf('info', 'warning', 'critical'),
      date: { wrong: ['2026-13-01', '2025-02-29', '0999-12-31'], right: ['1000-01-01', '2199-12-31', null] },
      created_at: INSTANTS,
      resolved_at: { wrong: ['soon'], right: [null] },
    },
  ],
  [
    'alert_rules',
    {
      ...{ project_id: 'Proj1', id: '0a1b2c3d-0000-4000-8000-000000000009', name: 'R' },
      rule: { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 },
    },
    { id: UUIDS, name: TEXTS, rule: RULES, severity: oneOf('info', 'warning', 'critical', null), enabled: FLAGS },
  ],
  [
    'notes',
    { ...EVERYTHING['notes']![0]!, project_id: 'Proj1' },
    {
      id: UUIDS,
      scope: oneOf('workspace', 'project', 'group', 'keyword', 'page'),
      date: { wrong: ['2025-02-29', null], right: ['1000-01-01'] },
      category: oneOf('launch', 'content', 'technical', 'migration', 'campaign', 'other'),
      client_visible: FLAGS,
      created_at: INSTANTS,
      updated_at: INSTANTS,
    },
  ],
  [
    'site_daily',
    { ...FACT, device: 'desktop' },
    {
      date: DAYS,
      device: { wrong: ['tv', 'DESKTOP', null], right: ['desktop', 'mobile', 'tablet', 'unknown'] },
      clicks: COUNTS,
      impressions: COUNTS,
      sum_position: COUNTS,
    },
  ],
  ['site_hourly', { ...FACT, hour: '2026-03-01T08:00:00Z' }, { date: OTHER_DAYS, hour: { ...INSTANTS, right: [] } }],
  [
    'keyword_daily',
    { ...FACT, keyword_id: 'Kw001', device: 'mobile' },
    {
      keyword_id: { ...IDS, right: [] },
      date: DAYS,
      device: { wrong: ['tv', 'unknown', null], right: ['desktop', 'mobile', 'tablet'] },
      clicks: COUNTS,
    },
  ],
  [
    'keyword_page_daily',
    { ...FACT, keyword_id: 'Kw001', url: 'https://a.example/' },
    { keyword_id: { ...IDS, right: [] }, date: DAYS, url: URLS, impressions: COUNTS },
  ],
  ['country_daily', { ...FACT, country: 'usa' }, { date: DAYS, country: COUNTRIES, sum_position: COUNTS }],
  [
    'country_monthly',
    { ...FACT, date: undefined, month: '2026-02-01', country: 'usa' },
    {
      month: { wrong: ['1989-12-01', '2026-02-02', '2026-01-31', '2026-02-30', null], right: ['1990-01-01'] },
      country: { wrong: ['us', 'Other', 'rest', null], right: ['zzz', 'other'] },
      clicks: COUNTS,
    },
  ],
  [
    'appearance_daily',
    { ...FACT, appearance: 'VIDEO' },
    { date: DAYS, appearance: { wrong: ['video', 'TWO WORDS', '_A', '1A', null], right: ['A', 'A1_B'] } },
  ],
  [
    'brand_daily',
    { ...FACT, segment: 'brand' },
    { date: DAYS, segment: { wrong: ['anonymous', 'BRAND', null], right: ['brand', 'non_brand', 'unknown'] } },
  ],
  ['page_daily', { ...FACT, url: 'https://a.example/', country: 'usa' }, { date: DAYS, url: URLS, country: COUNTRIES }],
  ['query_daily', { ...FACT, query: 'q', country: 'usa' }, { date: DAYS, query: TEXTS, country: COUNTRIES }],
  [
    'page_period',
    { ...PERIOD, url: 'https://a.example/' },
    { first_day: OTHER_DAYS, last_day: OTHER_DAYS, url: URLS, clicks: COUNTS },
  ],
  ['query_period', { ...PERIOD, query: 'q' }, { first_day: OTHER_DAYS, last_day: OTHER_DAYS, query: TEXTS }],
];
const uuid = (number: number): string => `0a1b2c3d-0000-4000-8000-0000000001${String(number).padStart(2, '0')}`;
const BETA: Row = { ...PROJECT, id: 'Beta1', workspace_id: 'beta' };
const folder = (id: string, more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: 'F',
  kind: 'folder',
  position: 1,
  ...more,
});
const RULE = { match: 'all', conditions: [] };
const ALERT = { type: 'x', kind: 'X', severity: 'info', title: 'T', body: '', created_at: '2026-03-02T00:00:00Z' };
const TIMES = { created_at: '2026-03-02T00:00:00Z', updated_at: '2026-03-02T00:00:00Z' };
const NOTE = { workspace_id: 'acme', date: '2026-03-02', category: 'other', text: 'x', author: 'a', ...TIMES };
const USER_RULE = { scope: 'keyword', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
const userRule = (number: number, project: string, rule: Row): Row => ({
  id: uuid(number),
  project_id: project,
  name: 'R',
  rule: { ...USER_RULE, ...rule },
});

/** Other projects have what Proj1 lacks, under ids that its rows name. */
const STORED: Tables = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'beta' }],
  projects: [PROJECT, SECOND, BETA, { ...BETA, id: 'Beta2' }],
  keywords: [
    keyword('Kw001', 'buy shoes'),
    keyword('Kw002', 'old', { archived: true }),
    keyword('Their', 'theirs', { project_id: 'Proj2' }),
  ],
  groups: [
    folder('Fold1'),
    folder('Manu1', { kind: 'manual', parent_id: 'Fold1' }),
    folder('Rule1', { kind: 'rule', rule: RULE }),
    folder('Theif', { project_id: 'Proj2' }),
    folder('Theim', { project_id: 'Proj2', kind: 'manual' }),
  ],
  page_groups: [{ project_id: 'Proj2', id: 'Theip', name: 'P', position: 1, rule: RULE }],
  alerts: [80, 90].map((number) => ({ ...ALERT, id: uuid(number), project_id: 'Proj2' })),
  alert_rules: [81, 91].map((number) => userRule(number, 'Proj2', { scope: 'site' })),
  notes: [
    { ...NOTE, id: uuid(82), workspace_id: 'beta', scope: 'workspace' },
    { ...NOTE, id: uuid(92), scope: 'workspace' },
  ],
  page_weekly_bing: facts('url week_end', ['https://a.example/', '2026-02-07', 1, 2, 3]),
};

const of = (project: string, rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row, project_id: project }));
const site = (date: string, device: string, clicks = 1, impressions = 2): Row => ({
  ...{ ...FACT, date, device, clicks, impressions },
});
const countries = (month: string, number: number): Row[] =>
  Array.from({ length: number }, (_, index) => ({
    ...{ ...FACT, date: undefined, month, country: `a${String.fromCharCode(97 + index)}a` },
  }));

/** Rows that are right: the nearest to those that a rule refuses, or what another project may have under the same id. */
const RIGHT: Tables = {
  workspaces: [{ ...WORKSPACE, id: 'gamma' }],
  projects: [
    { ...PROJECT, id: 'Gamm1', workspace_id: 'gamma' },
    { ...BETA, id: 'Beta2' },
  ],
  keywords: [
    keyword('Kw010', 'OLD'),
    keyword('Kw011', 'old'),
    keyword('Kw012', 'Buy Shoes'),
    keyword('Kw013', 'buy shoes', { archived: true }),
    keyword('Kw010', 'buy shoes', { project_id: 'Proj2' }),
  ],
  groups: [
    folder('Gr010', { parent_id: 'Fold1' }),
    folder('Gr011', { parent_id: 'Gr010', kind: 'rule', rule: RULE }),
    folder('Gr010', { parent_id: 'Theif', project_id: 'Proj2' }),
  ],
  group_members: [
    { project_id: 'Proj1', group_id: 'Manu1', keyword_id: 'Kw002' },
    { project_id: 'Proj2', group_id: 'Theim', keyword_id: 'Their' },
  ],
  page_groups: [
    { project_id: 'Proj1', id: 'Pg001', name: 'P', position: 1, rule: RULE },
    { project_id: 'Proj2', id: 'Pg001', name: 'P', position: 1, rule: RULE },
  ],
  alerts: [
    { ...ALERT, id: uuid(10), project_id: 'Proj1', keyword_id: 'Kw002' },
    { ...ALERT, id: uuid(80), project_id: 'Proj2', keyword_id: 'Their' },
  ],
  alert_rules: [
    userRule(11, 'Proj1', { id: 'Kw001' }),
    userRule(12, 'Proj1', { scope: 'group', id: 'Manu1' }),
    userRule(13, 'Proj2', { scope: 'page_group', id: 'Theip' }),
    userRule(81, 'Proj2', { scope: 'site' }),
  ],
  notes: [
    { ...NOTE, id: uuid(14), scope: 'project', project_id: 'Proj1', end_date: '2026-03-02' },
    { ...NOTE, id: uuid(15), scope: 'group', project_id: 'Proj1', group_id: 'Rule1' },
    { ...NOTE, id: uuid(16), scope: 'keyword', project_id: 'Proj2', keyword_id: 'Their' },
    { ...NOTE, id: uuid(17), scope: 'workspace', workspace_id: 'gamma' },
    { ...NOTE, id: uuid(82), scope: 'workspace', workspace_id: 'beta' },
  ],
  site_daily: [site('2026-03-01', 'mobile', 2, 2), ...of('Gamm1', [site('2026-03-01', 'mobile')])],
  site_hourly: facts(
    'date hour',
    ['2026-03-01', '2026-03-01T08:00:00Z', 1, 2, 3],
    ['2026-03-01', '2026-03-02T07:00:00Z', 1, 2, 3],
  ),
  keyword_daily: [
    ...facts('keyword_id date device', ['Kw002', '2026-03-01', 'mobile', 1, 2, 3]),
    ...of('Proj2', facts('keyword_id date device', ['Their', '2026-03-01', 'mobile', 1, 2, 3])),
  ],
  keyword_page_daily: of('Proj2', facts('keyword_id date url', ['Their', '2026-03-01', 'https://a.example/', 1, 2, 3])),
  country_monthly: [
    ...countries('2026-01-01', 20),
    { ...FACT, date: undefined, month: '2026-01-01', country: 'other' },
    ...of('Proj2', countries('2026-01-01', 20)),
  ],
  page_period: facts(
    'first_day last_day url',
    ['2024-10-31', '2024-10-31', 'https://a.example/', 1, 2, 3],
    ['2024-10-31', '2026-02-28', 'https://a.example/', 1, 2, 3],
  ),
  ai_page_period: [
    {
      project_id: 'Proj1',
      first_day: '2024-10-31',
      last_day: '2026-02-28',
      url: 'https://a.example/',
      ai_impressions: 1,
    },
  ],
  page_weekly_bing: [
    ...facts(
      'url week_end',
      ['https://a.example/', '2026-02-28', 1, 2, 3],
      ['https://a.example/', '2026-02-14', 1, 2, null],
    ),
    ...of('Proj2', facts('url week_end', ['https://a.example/', '2026-02-27', 1, 2, 3])),
  ],
};

/** Rows that a rule refuses. */
const REFUSED: Tables = {
  projects: [
    { ...PROJECT, id: 'Proj3', workspace_id: 'nowhere' },
    { ...BETA, workspace_id: 'acme' },
  ],
  keywords: [
    keyword('Kw020', 'nobody', { project_id: 'Nope1' }),
    keyword('Kw021', 'twice'),
    keyword('Kw021', 'twice again'),
    keyword('Kw023', 'same'),
    keyword('Kw022', 'same'),
    // A keyword of the catalog has this query already.
    keyword('Kw024', 'buy shoes'),
  ],
  groups: [
    folder('Gr020', { parent_id: 'Nope1' }),
    folder('Gr021', { parent_id: 'Manu1' }),
    folder('Gr022', { parent_id: 'Theif' }),
    folder('Gr024', { parent_id: 'Gr023' }),
    folder('Gr023', { parent_id: 'Gr024' }),
    folder('Gr025', { parent_id: 'Gr025' }),
    folder('Gr026', { kind: 'manual', rule: RULE }),
    folder('Gr027', { kind: 'rule' }),
  ],
  group_members: [
    { project_id: 'Proj1', group_id: 'Fold1', keyword_id: 'Kw001' },
    { project_id: 'Proj1', group_id: 'Theim', keyword_id: 'Kw001' },
    { project_id: 'Proj1', group_id: 'Rule1', keyword_id: 'Kw001' },
    { project_id: 'Proj1', group_id: 'Manu1', keyword_id: 'Their' },
  ],
  page_groups: [
    { project_id: 'Nope1', id: 'Pg020', name: 'P', position: 1, rule: RULE },
    { project_id: 'Proj1', id: 'Pg021', name: 'P', position: 1, rule: RULE },
    { project_id: 'Proj1', id: 'Pg021', name: 'P', position: 2, rule: RULE },
  ],
  alerts: [
    { ...ALERT, id: uuid(20), project_id: 'Proj1', keyword_id: 'Their' },
    { ...ALERT, id: uuid(90), project_id: 'Proj1' },
  ],
  alert_rules: [
    userRule(22, 'Proj1', { id: 'Their' }),
    userRule(23, 'Proj1', { scope: 'group', id: 'Theim' }),
    userRule(24, 'Proj1', { scope: 'page_group', id: 'Theip' }),
    userRule(91, 'Proj1', { scope: 'site' }),
  ],
  notes: [
    { ...NOTE, id: uuid(30), scope: 'project', project_id: 'Proj1', end_date: '2026-03-01' },
    { ...NOTE, id: uuid(31), scope: 'group', project_id: 'Proj1', group_id: 'Theim' },
    { ...NOTE, id: uuid(32), scope: 'project' },
    { ...NOTE, id: uuid(33), scope: 'workspace', workspace_id: 'nowhere' },
    { ...NOTE, id: uuid(34), scope: 'project', workspace_id: 'beta', project_id: 'Proj1' },
    { ...NOTE, id: uuid(35), scope: 'keyword', project_id: 'Proj1', keyword_id: 'Their' },
    { ...NOTE, id: uuid(92), scope: 'workspace', workspace_id: 'beta' },
  ],
  site_daily: [
    site('2026-03-02', 'tablet'),
    site('2026-03-02', 'tablet'),
    site('2026-03-02', 'mobile', 3, 2),
    ...of('Nope1', [site('2026-03-02', 'mobile')]),
    ...of(
      'Beta2',
      ['mobile', 'tablet'].map((device) => site('2026-03-02', device, 1, 9007199254740991)),
    ),
  ],
  site_hourly: facts(
    'date hour',
    ['2026-03-04', '2026-03-05T08:00:00Z', 1, 2, 3],
    ['2026-03-04', '2026-03-04T06:00:00Z', 1, 2, 3],
    ['2026-03-04', '2026-03-04T07:30:00Z', 1, 2, 3],
  ),
  keyword_daily: facts('keyword_id date device', ['Their', '2026-03-02', 'mobile', 1, 2, 3]),
  keyword_page_daily: facts('keyword_id date url', ['Their', '2026-03-02', 'https://a.example/', 1, 2, 3]),
  country_monthly: countries('2026-02-01', 21),
  page_period: facts(
    'first_day last_day url',
    ['2024-10-31', '2026-03-01', 'https://a.example/', 1, 2, 3],
    ['2024-10-31', '2024-10-30', 'https://a.example/', 1, 2, 3],
  ),
  query_period: facts('first_day last_day query', ['2024-10-31', '2026-03-01', 'a', 1, 2, 3]),
  ai_page_period: [
    {
      project_id: 'Proj1',
      first_day: '2024-10-31',
      last_day: '2026-03-01',
      url: 'https://a.example/',
      ai_impressions: 1,
    },
  ],
  citation_page_period: [
    { project_id: 'Proj1', first_day: '2024-10-31', last_day: '2026-03-01', url: 'https://a.example/', citations: 1 },
  ],
  page_weekly_bing: facts('url week_end', ['https://a.example/', '2026-02-22', 1, 2, 3]),
  query_weekly_bing: facts('query week_end', ['a', '2026-02-14', 1, 2, 3], ['a', '2026-02-13', 1, 2, 3]),
};

/** Columns that make the rows of a table different, for the n-th row. */
const DIFFERENT: Readonly<Record<string, (n: number) => Row>> = {
  workspaces: (n) => ({ id: `w${n}` }),
  projects: (n) => ({ id: `Pr${100 + n}` }),
  keywords: (n) => ({ id: `Kw${100 + n}`, query: `q${n}` }),
  groups: (n) => ({ id: `Gr${100 + n}` }),
  page_groups: (n) => ({ id: `Pg${100 + n}` }),
  ...Object.fromEntries(['alerts', 'alert_rules', 'notes'].map((table) => [table, (n: number) => ({ id: uuid(n) })])),
  country_monthly: (n) => ({ month: `${2000 + n}-01-01` }),
  page_period: (n) => ({ first_day: '1990-01-01', last_day: addDay('1990-01-01', n) }),
  query_period: (n) => ({ first_day: '1990-01-01', last_day: addDay('1990-01-01', n) }),
};
const addDay = (day: string, n: number): string =>
  new Date(Date.parse(day) + n * 86_400_000).toISOString().slice(0, 10);

t.test('values: each that is wrong is told with its column and rows, and none of those nearest to it', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
  const before = await answersOf(world);
  for (const [format, write] of [
    ['ndjson', ndjson],
    ['csv', csv],
  ] as const) {
    const rights: Record<string, string> = {};
    const files: Record<string, string> = {};
    const counts: Record<string, number> = {};
    for (const [table, row, columns] of VALUES) {
      const rows = Object.entries(columns).flatMap(([column, { right }]) =>
        right.map((value) => [column, value] as const),
      );
      const right = rows.map(([column, value], n) => ({
        ...row,
        ...(DIFFERENT[table] ?? ((n) => ({ date: addDay('2020-01-01', n) })))(n),
        [column]: value,
      }));
      const wrong = Object.entries(columns).flatMap(([column, { wrong }]) =>
        wrong.map((value) => ({ ...row, [column]: value })),
      );
      if (right.length > 0) rights[`${table}.${format}`] = write(right);
      files[`${table}.${format}`] = write([...right, ...wrong]);
      if (right.length > 0) counts[table] = right.length;
    }
    const problems = await problemsOf(loadFolder(world, writeFiles(t, files), { acceptImplausible: true }));
    const told = problems.map(({ table, column, message, rows }) => [
      `${table}.${column}`,
      Number(/^(\d+) rows? with a value that is missing or wrong; it must be /.exec(message)?.[1]),
      rows.map((row) => asText((row as Row)[column!])).sort(),
    ]);
    const expected = VALUES.flatMap(([table, , columns]) =>
      Object.entries(columns).flatMap(([column, { wrong }]) =>
        wrong.length === 0
          ? []
          : [[`${table}.${column}`, wrong.length, told.find(([name]) => name === `${table}.${column}`)?.[2]]],
      ),
    );
    const byPlace = (rows: unknown[]): unknown[] => rows.toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
    t.strictSame(byPlace(told), byPlace(expected), format);
    for (const [name, , shown] of told as [string, number, string[]][]) {
      const [table, column] = name.split('.') as [string, string];
      const texts = VALUES.find(([of]) => of === table)?.[2][column]?.wrong.map(asText) ?? [];
      t.strictSame(
        [shown.length, shown.filter((text) => !texts.includes(text))],
        [Math.min(texts.length, 3), []],
        name,
      );
    }
    t.strictSame(await answersOf(world), before, 'what was being served is untouched');
    const { tables } = await loadFolder(world, writeFiles(t, rights), { acceptImplausible: true, dryRun: true });
    t.strictSame(Object.fromEntries(Object.entries(tables).map(([table, { rows }]) => [table, rows])), counts, format);
  }
});

t.test('rules over rows: the whole text of a load that breaks each, beside rows that are right', async (t) => {
  const world = await makeLazyWorld(t, STORED);
  const before = await answersOf(world);
  const names = [...new Set([...Object.keys(RIGHT), ...Object.keys(REFUSED)])];
  const all = names.map((table) => [table, [...(REFUSED[table] ?? []), ...(RIGHT[table] ?? [])]]);
  const refused = loadFolder(world, writeSnapshot(t, Object.fromEntries(all) as Tables));
  sameAsRecorded(t, 'load-refusals.txt', `${new LoadRejected(await problemsOf(refused)).message}\n`);
  t.strictSame(await answersOf(world), before, 'what was being served is untouched');
  const { warnings } = await loadFolder(world, writeSnapshot(t, RIGHT));
  t.strictSame(warnings, [
    "Project Proj1 has 3 keywords without any row in keyword_daily: 'Buy Shoes', 'OLD', 'old'.",
    "Project Proj2 has 1 keyword without any row in keyword_daily: 'buy shoes'.",
  ]);
});

t.test('what a rule cannot have is named', async (t) => {
  const world = await makeLazyWorld(t);
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

t.test('a dry run checks and changes nothing', async (t) => {
  const world = await makeLazyWorld(t);
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
