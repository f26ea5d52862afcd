// A load reports all invalid values and broken references at once, and a dry run changes nothing.
import t from 'tap';
import { LoadRejected } from '../../server/domain/problems.ts';
import { facts, keyword, makeLazyWorld, PROJECT, type Row, type Tables, WORKSPACE } from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, csv, EVERYTHING, FACT, loadFolder, ndjson, places, writeFiles } from './snapshots.ts';

/** A value as it is written in a file. */
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

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
  [
    'keyword_page_daily',
    { ...FACT, keyword_id: 'Kw001', url: 'https://a.example/' },
    { keyword_id: ['Kw', null], url: ['/path', null] },
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
  const world = await makeLazyWorld(t, EVERYTHING);
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

t.test('duplicates, dangling references and other rules over rows are told at once', async (t) => {
  const world = await makeLazyWorld(t, EVERYTHING);
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
    keyword_page_daily: [{ ...FACT, keyword_id: 'Nope1', url: 'https://a.example/' }],
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
    'keyword_page_daily.keyword_id',
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

t.test('rows that a load does not carry still have what they refer to after it', async (t) => {
  const note = {
    workspace_id: 'acme',
    project_id: 'Proj1',
    date: '2026-03-01',
    category: 'other',
    text: 'x',
    author: 'a',
    created_at: '2026-03-01T00:00:00Z',
    updated_at: '2026-03-01T00:00:00Z',
  };
  const group = { project_id: 'Proj1', position: 1 };
  const world = await makeLazyWorld(t, {
    keywords: [keyword('Kw001', 'a'), keyword('Kw002', 'b')],
    groups: [
      { ...group, id: 'Gr001', name: 'G', kind: 'manual' },
      { ...group, id: 'Gr002', name: 'H', kind: 'folder' },
    ],
    group_members: [{ project_id: 'Proj1', group_id: 'Gr001', keyword_id: 'Kw001' }],
    notes: [{ ...note, id: '6f1c2e0a-0b1d-4c7e-9a55-000000000001', scope: 'keyword', keyword_id: 'Kw001' }],
  });
  const without = world.load({ keywords: [keyword('Kw002', 'b')] }, { replace: true });
  t.strictSame(places(await problemsOf(without)), ['group_members.keyword_id', 'notes.keyword_id']);
  const another = world.load({ groups: [{ ...group, id: 'Gr001', name: 'G', kind: 'folder' }] });
  t.strictSame(places(await problemsOf(another)), ['group_members.group_id'], 'nor may a group become another kind');
  await world.load({ groups: [{ ...group, id: 'Gr001', name: 'G', kind: 'manual' }] }, { replace: true });
  t.match((await world.ask('/groups')).body.groups, [{ id: 'Gr001', keywordIds: ['Kw001'] }]);
});

t.test('facts beyond the synced day are warned of', async (t) => {
  const { load } = await makeLazyWorld(t);
  const { warnings } = await load({ site_daily: facts('date device', ['2026-03-14', 'desktop', 1, 1, 1]) });
  t.match(warnings, [/Proj1.*2026-03-14.*2026-03-10/]);
});
