// The keywords endpoint gives totals and days of each tracked keyword, by device, group and page.
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, type Row, refusedFor, WORKSPACE } from '../world.ts';

const NONE = { clicks: 0, impressions: 0, ctr: null, position: null };

/** Queries in the order of their UTF-8 bytes; UTF-16 would put the astral one before the full-width one. */
const KEYWORDS = [
  keyword('kwZoo', 'Zoo shop', { source: 'suggested', tracked_since: '2025-06-01T10:20:30.456789Z' }),
  keyword('kwBuy', 'buy red shoes', { source: 'manual' }),
  keyword('kwHow', 'how to tie shoes'),
  keyword('kwSho', 'shoes'),
  keyword('kwEcl', 'éclair'),
  keyword('kwFul', '\uff21 full width'),
  keyword('kwSna', '\u{1f40d} snake', { intent: 'navigational' }),
  keyword('kwArc', 'archived shoes', { archived: true }),
];

const DAILY = facts(
  'keyword_id date device',
  ['kwBuy', '2026-03-01', 'desktop', 1, 8, 4],
  ['kwBuy', '2026-03-01', 'mobile', 1, 8, 60],
  ['kwBuy', '2026-03-03', 'mobile', 0, 0, 0],
  ['kwBuy', '2026-02-01', 'desktop', 5, 10, 0],
  ['kwHow', '2026-03-02', 'desktop', 0, 1000, 9400],
  ['kwHow', '2026-03-02', 'tablet', 3, 1, 0],
  ['kwZoo', '2026-03-02', 'desktop', 2, 3, 0],
  ['kwArc', '2026-03-02', 'desktop', 100, 100, 0],
);

const rule = (match: 'all' | 'any', ...conditions: (readonly [string, string, string | number])[]): Row => ({
  match,
  conditions: conditions.map(([field, op, value]) => ({ field, op, value })),
});

let position = 0;
const group = (id: string, kind: 'folder' | 'manual' | 'rule', more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: `group ${id}`,
  kind,
  position: position++,
  ...more,
});

/** Every field and operator: the condition, and the ids that match in March 2026, in order. */
const CONDITIONS: readonly (readonly [readonly [string, string, string | number], string])[] = [
  [['query', 'contains', 'SHOES'], 'kwBuy kwHow kwSho'],
  [['query', 'not_contains', 'SHO'], 'kwEcl kwFul kwSna'],
  [['query', 'equals', 'zoo SHOP'], 'kwZoo'],
  [['query', 'not_equals', 'ÉCLAIR'], 'kwZoo kwBuy kwHow kwSho kwFul kwSna'],
  [['query', 'starts_with', 'Buy '], 'kwBuy'],
  [['query', 'ends_with', 'SHOES'], 'kwBuy kwHow kwSho'],
  [['query', 'matches', '^(zoo|É|.\\s)'], 'kwZoo kwEcl kwFul kwSna'],
  [['intent', 'equals', 'transactional'], 'kwZoo kwBuy'],
  [['intent', 'not_equals', 'Transactional'], 'kwHow kwSho kwEcl kwFul kwSna'],
  [['intent', 'equals', 'navigational'], 'kwSna'],
  [['source', 'equals', 'suggested'], 'kwZoo'],
  [['source', 'not_equals', 'import'], 'kwZoo kwBuy'],
  [['clicks', 'eq', 2], 'kwZoo kwBuy'],
  [['clicks', 'neq', 2], 'kwHow kwSho kwEcl kwFul kwSna'],
  [['clicks', 'gt', 2], 'kwHow'],
  [['clicks', 'gte', 2], 'kwZoo kwBuy kwHow'],
  [['clicks', 'lt', 2], 'kwSho kwEcl kwFul kwSna'],
  [['clicks', 'lte', 0], 'kwSho kwEcl kwFul kwSna'],
  [['impressions', 'gte', 16], 'kwBuy kwHow'],
  [['impressions', 'eq', 0], 'kwSho kwEcl kwFul kwSna'],
  // a keyword without impressions has no ctr and no position: nothing on them matches, `neq` neither
  [['ctr', 'eq', 0.125], 'kwBuy'],
  [['ctr', 'neq', 0.125], 'kwZoo kwHow'],
  [['ctr', 'lt', 0.5], 'kwBuy kwHow'],
  // 2 / 3, which is shown as 0.6667
  [['ctr', 'lt', 0.6667], 'kwZoo kwBuy kwHow'],
  [['ctr', 'gte', 0.6667], ''],
  [['position', 'lte', 5], 'kwZoo kwBuy'],
  // 64 / 16 + 1
  [['position', 'eq', 5], 'kwBuy'],
  // 9400 / 1001 + 1 is 10.3906…, which is shown as 10.4
  [['position', 'gt', 10.39], 'kwHow'],
  [['position', 'gte', 10.4], ''],
  [['position', 'neq', 5], 'kwZoo kwHow'],
  [['position', 'lt', 1], ''],
];
const conditionGroup = (index: number): string => `con${10 + index}`;

const GROUPS = [
  group('manuA', 'manual'),
  group('manuB', 'manual', { parent_id: 'foldB' }),
  group('empty', 'manual'),
  // a folder below a folder, its parent defined after it
  group('foldB', 'folder', { parent_id: 'foldA' }),
  group('foldA', 'folder'),
  group('hollo', 'folder'),
  group('ruleB', 'rule', { parent_id: 'foldB', rule: rule('any', ['query', 'contains', 'buy']) }),
  group('ruleC', 'rule', { parent_id: 'foldA', rule: rule('all', ['position', 'lte', 5], ['clicks', 'gte', 2]) }),
  group('both1', 'rule', { rule: rule('all', ['query', 'contains', 'shoes'], ['query', 'contains', 'buy']) }),
  group('eithr', 'rule', { rule: rule('any', ['query', 'contains', 'tie'], ['query', 'contains', 'zoo']) }),
  group('top03', 'rule', { rule: rule('all', ['position', 'lte', 3]) }),
  ...CONDITIONS.map(([condition], index) => group(conditionGroup(index), 'rule', { rule: rule('all', condition) })),
];

const members = (id: string, ...keywords: string[]): Row[] =>
  keywords.map((keyword_id) => ({ project_id: 'Proj1', group_id: id, keyword_id }));

const world = await makeWorld(t, {
  workspaces: [WORKSPACE, { id: 'brief', name: 'Brief', plan: 'starter', keyword_history_days: 10 }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Brie1', workspace_id: 'brief' },
    { ...PROJECT, id: 'Brie2', workspace_id: 'brief', synced_through: null, provisional_after: null },
  ],
  keywords: [
    ...KEYWORDS,
    ...ofProject('Brie1', [keyword('kwOne', 'one'), keyword('kwTwo', 'two')]),
    ...ofProject('Brie2', [keyword('kwOne', 'one')]),
  ],
  keyword_daily: [
    ...DAILY,
    ...ofProject(
      'Brie1',
      facts(
        'keyword_id date device',
        ['kwOne', '2026-02-28', 'mobile', 100, 100, 0],
        ['kwOne', '2026-03-01', 'mobile', 1, 2, 0],
      ),
    ),
    ...ofProject('Brie2', facts('keyword_id date device', ['kwOne', '2026-03-10', 'mobile', 100, 100, 0])),
  ],
  groups: [...GROUPS, ...ofProject('Brie1', [group('manuZ', 'manual')])],
  group_members: [
    ...members('manuA', 'kwSho', 'kwBuy', 'kwArc'),
    ...members('manuB', 'kwBuy', 'kwSna'),
    ...members('empty', 'kwArc'),
  ],
});
const { ask, catalog, get } = world;
const { key: briefKey } = await createKey(catalog, { workspace: 'brief', name: 'test', by: null, at: 0 });
const askBrief = (path: string) => get(path, { authorization: `Bearer ${briefKey}` });

const MARCH = 'from=2026-03-01&to=2026-03-10';

async function idsOf(query: string): Promise<string> {
  const { status, body } = await ask(`/keywords?${query}`);
  if (status !== 200) return `${status} ${body.error.message}`;
  return (body.keywords as { id: string }[]).map(({ id }) => id).join(' ');
}

t.test('every keyword with its totals, by the bytes of its query; archived ones are left out', async (t) => {
  const { status, body } = await ask('/keywords?from=2026-03-01&to=2026-03-05');
  t.equal(status, 200);
  const since = '2025-01-05T00:00:00.000Z';
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    range: { from: '2026-03-01', to: '2026-03-05', device: 'all', clamped: false, provisionalAfter: '2026-03-07' },
    paging: { total: 7, limit: 1000, offset: 0 },
    keywords: [
      {
        id: 'kwZoo',
        query: 'Zoo shop',
        source: 'suggested',
        trackedSince: '2025-06-01T10:20:30.456Z',
        intent: 'transactional',
        groupIds: [],
        metrics: { clicks: 2, impressions: 3, ctr: 0.6667, position: 1 },
      },
      {
        id: 'kwBuy',
        query: 'buy red shoes',
        source: 'manual',
        trackedSince: since,
        intent: 'transactional',
        groupIds: ['manuA', 'manuB'],
        metrics: { clicks: 2, impressions: 16, ctr: 0.125, position: 5 },
      },
      {
        id: 'kwHow',
        query: 'how to tie shoes',
        source: 'import',
        trackedSince: since,
        intent: 'informational',
        groupIds: [],
        metrics: { clicks: 3, impressions: 1001, ctr: 0.003, position: 10.4 },
      },
      {
        id: 'kwSho',
        query: 'shoes',
        source: 'import',
        trackedSince: since,
        intent: 'unclassified',
        groupIds: ['manuA'],
        metrics: NONE,
      },
      {
        id: 'kwEcl',
        query: 'éclair',
        source: 'import',
        trackedSince: since,
        intent: 'unclassified',
        groupIds: [],
        metrics: NONE,
      },
      {
        id: 'kwFul',
        query: '\uff21 full width',
        source: 'import',
        trackedSince: since,
        intent: 'unclassified',
        groupIds: [],
        metrics: NONE,
      },
      {
        id: 'kwSna',
        query: '\u{1f40d} snake',
        source: 'import',
        trackedSince: since,
        intent: 'navigational',
        groupIds: ['manuB'],
        metrics: NONE,
      },
    ],
  });
});

t.test('daily: one entry for each stored day of the requested device', async (t) => {
  const daily = async (query: string) => {
    const { body } = await ask(`/keywords?from=2026-03-01&${query}`);
    type Found = { id: string; daily?: unknown };
    return Object.fromEntries((body.keywords as Found[]).map((found) => [found.id, found.daily]));
  };
  for (const on of ['1', 'true']) {
    t.match(await daily(`daily=${on}`), {
      kwBuy: [
        { date: '2026-03-01', clicks: 2, impressions: 16, ctr: 0.125, position: 5 },
        { date: '2026-03-03', clicks: 0, impressions: 0, ctr: null, position: null },
      ],
      kwHow: [{ date: '2026-03-02', clicks: 3, impressions: 1001, ctr: 0.003, position: 10.4 }],
      kwSho: [],
    });
  }
  t.strictSame((await daily('daily=1&device=desktop'))['kwBuy'], [
    { date: '2026-03-01', clicks: 1, impressions: 8, ctr: 0.125, position: 1.5 },
  ]);
  t.strictSame((await daily('daily=1&device=tablet'))['kwBuy'], []);
  for (const off of ['0', 'false']) t.equal((await daily(`daily=${off}`))['kwBuy'], undefined);
  const page = await ask('/keywords?from=2026-03-01&daily=1&limit=1&offset=2');
  t.match(page.body.keywords, [{ id: 'kwHow', daily: [{ date: '2026-03-02', impressions: 1001 }] }]);
});

t.test('one device', async (t) => {
  const { body } = await ask(`/keywords?${MARCH}&device=mobile`);
  t.equal(body.range.device, 'mobile');
  t.match(body.keywords, [
    { id: 'kwZoo', metrics: NONE },
    { id: 'kwBuy', metrics: { clicks: 1, impressions: 8, ctr: 0.125, position: 8.5 } },
    { id: 'kwHow', metrics: NONE },
  ]);
});

t.test('paging', async (t) => {
  t.equal(await idsOf('limit=3'), 'kwZoo kwBuy kwHow');
  t.equal(await idsOf('limit=3&offset=3'), 'kwSho kwEcl kwFul');
  t.equal(await idsOf('limit=3&offset=6'), 'kwSna');
  t.equal(await idsOf('limit=5000&offset=7'), '');
  const past = await ask('/keywords?limit=3&offset=1000000000');
  t.equal(past.status, 200);
  t.strictSame(past.body.paging, { total: 7, limit: 3, offset: 1_000_000_000 });
  t.strictSame(past.body.keywords, []);
  const { body } = await ask('/keywords?group=manuA&limit=1&offset=1');
  t.strictSame(body.paging, { total: 2, limit: 1, offset: 1 });
  t.match(body.keywords, [{ id: 'kwSho' }]);
});

t.test('a manual group: its members that are not archived', async (t) => {
  t.equal(await idsOf('group=manuA'), 'kwBuy kwSho');
  t.equal(await idsOf('group=empty'), '');
});

t.test('a rule group: every field and operator', async (t) => {
  for (const [index, [condition, ids]] of CONDITIONS.entries()) {
    t.equal(await idsOf(`${MARCH}&group=${conditionGroup(index)}`), ids, condition.join(' '));
  }
});

t.test('all and any', async (t) => {
  t.equal(await idsOf(`${MARCH}&group=both1`), 'kwBuy');
  t.equal(await idsOf(`${MARCH}&group=eithr`), 'kwZoo kwHow');
});

t.test('a rule is evaluated on the requested range and device', async (t) => {
  t.equal(await idsOf(`${MARCH}&group=top03`), 'kwZoo');
  t.equal(await idsOf(`${MARCH}&group=top03&device=desktop`), 'kwZoo kwBuy');
  t.equal(await idsOf(`${MARCH}&group=top03&device=mobile`), '');
  t.equal(await idsOf('from=2026-03-01&to=2026-03-01&group=top03'), '');
  t.equal(await idsOf('from=2026-02-01&to=2026-02-28&group=top03'), 'kwBuy');
});

t.test('a folder: all groups below it, each keyword once', async (t) => {
  t.equal(await idsOf(`${MARCH}&group=foldB`), 'kwBuy kwSna');
  // kwBuy is in all three groups below it
  t.equal(await idsOf(`${MARCH}&group=foldA`), 'kwZoo kwBuy kwSna');
  t.equal(await idsOf('group=hollo'), '');
  const { body } = await ask(`/keywords?${MARCH}&group=foldA&limit=2&daily=1`);
  t.strictSame(body.paging, { total: 3, limit: 2, offset: 0 });
  t.match(body.keywords, [
    { id: 'kwZoo', metrics: { clicks: 2, impressions: 3 }, daily: [{ date: '2026-03-02' }] },
    { id: 'kwBuy', metrics: { clicks: 2, impressions: 16 }, daily: [{ date: '2026-03-01' }, { date: '2026-03-03' }] },
  ]);
});

t.test('an unknown group is 404, also if the request has other errors', async (t) => {
  for (const query of ['group=nosuc', 'group=NOSUCHGROUP', 'group=nosuc&limit=0&from=never', 'group=MANUA']) {
    const { status, body } = await ask(`/keywords?${query}`);
    t.equal(status, 404, query);
    t.equal(body.error.code, 'not_found', query);
  }
  refusedFor(t, await ask('/keywords?group='), 'group', 'empty');
  refusedFor(t, await ask('/keywords?group=manuA&group=manuA'), 'group', 'repeated');
  // of another project of the same kind
  t.equal((await askBrief('/projects/Brie1/keywords?group=manuA')).status, 404);
});

t.test("a range is clamped to the plan's keyword history", async (t) => {
  // ten days to 2026-03-10
  const range = async (query: string): Promise<Row> =>
    (await askBrief(`/projects/Brie1/keywords?${query}`)).body.range as Row;
  const clamped = {
    from: '2026-03-01',
    to: '2026-03-10',
    device: 'all',
    clamped: true,
    provisionalAfter: '2026-03-07',
  };
  t.strictSame(await range(''), clamped);
  t.strictSame(await range('period=16m'), clamped);
  t.strictSame(await range('from=2026-02-28'), clamped);
  t.strictSame(await range('from=2026-03-01'), { ...clamped, clamped: false });
  t.strictSame(await range('from=2026-02-01&to=2026-03-01'), { ...clamped, to: '2026-03-01' });
  t.match(await range('to=2026-04-05'), { from: '2026-03-09', to: '2026-04-05', clamped: false });
  const { body } = await askBrief('/projects/Brie1/keywords?daily=1');
  t.match(body.keywords, [
    { id: 'kwOne', metrics: { clicks: 1, impressions: 2 }, daily: [{ date: '2026-03-01' }] },
    { id: 'kwTwo', metrics: NONE, daily: [] },
  ]);
});

t.test('a range completely before the history is rejected', async (t) => {
  refusedFor(t, await askBrief('/projects/Brie1/keywords?to=2026-02-28'), 'to');
  refusedFor(t, await askBrief('/projects/Brie1/keywords?from=2026-01-01&to=2026-02-28'), 'to');
  refusedFor(t, await askBrief('/projects/Brie1/keywords?to=2026-02-28&period=5d'), 'to');
});

t.test('before the first sync the history ends yesterday and nothing is stored', async (t) => {
  const { status, body } = await askBrief('/projects/Brie2/keywords?daily=true');
  t.equal(status, 200);
  t.strictSame(body.range, {
    from: '2026-03-05',
    to: '2026-03-14',
    device: 'all',
    clamped: true,
    provisionalAfter: null,
  });
  t.match(body.keywords, [{ id: 'kwOne', metrics: NONE, daily: [] }]);
});

t.test('a load is seen at once: keywords, members and the plan', async (t) => {
  const found = async (): Promise<[string, readonly string[]][]> => {
    const { body } = await askBrief('/projects/Brie1/keywords');
    return (body.keywords as { id: string; groupIds: string[] }[]).map(({ id, groupIds }) => [id, groupIds]);
  };
  t.strictSame(await found(), [
    ['kwOne', []],
    ['kwTwo', []],
  ]);
  t.equal((await askBrief('/projects/Brie1/keywords?group=manuZ')).body.paging.total, 0);
  await world.load({ group_members: [{ project_id: 'Brie1', group_id: 'manuZ', keyword_id: 'kwTwo' }] });
  t.strictSame(await found(), [
    ['kwOne', []],
    ['kwTwo', ['manuZ']],
  ]);
  t.equal((await askBrief('/projects/Brie1/keywords?group=manuZ')).body.paging.total, 1);
  await world.load({
    keywords: ofProject('Brie1', [keyword('kwOne', 'one', { archived: true })]),
    workspaces: [{ id: 'brief', name: 'Brief', plan: 'starter', keyword_history_days: 20 }],
  });
  t.strictSame(await found(), [['kwTwo', ['manuZ']]]);
  t.equal((await askBrief('/projects/Brie1/keywords')).body.range.from, '2026-02-19');
});

t.test('a project without keywords', async (t) => {
  await world.load({ projects: [{ ...PROJECT, id: 'NoKey' }] });
  const { status, body } = await get('/projects/NoKey/keywords?daily=1');
  t.equal(status, 200);
  t.strictSame(body.paging, { total: 0, limit: 1000, offset: 0 });
  t.strictSame(body.keywords, []);
});

t.test('invalid parameters', async (t) => {
  for (const limit of ['0', '5001', '-1', '10.5', '1e3', 'x', '']) {
    refusedFor(t, await ask(`/keywords?limit=${limit}`), 'limit', limit);
  }
  for (const offset of ['-1', '0.5', 'x', '']) {
    refusedFor(t, await ask(`/keywords?offset=${offset}`), 'offset', offset);
  }
  for (const daily of ['2', 'yes', 'TRUE', '']) {
    refusedFor(t, await ask(`/keywords?daily=${daily}`), 'daily', daily);
  }
  refusedFor(t, await ask('/keywords?device=watch'), 'device');
  refusedFor(t, await ask('/keywords?from=2026-03-01&period=1d'), 'period');
  refusedFor(t, await ask('/keywords?from=2026-03-02&to=2026-03-01'), 'from');
  refusedFor(t, await ask('/keywords?from=2024-11-09'), 'from', '487 days, before any clamping');
});
