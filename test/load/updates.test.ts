// A load replaces exactly the days and entities that it contains, and keeps everything else.
import fc from 'fast-check';
import t from 'tap';
import { type FactTable, filesOf, readCoverage } from '../../server/catalog/manifest.ts';
import { addDays, eachDay, lastDayOf, monthOf } from '../../server/domain/dates.ts';
import { openFileStore } from '../../server/storage/open-file-store.ts';
import { duckdb, quoted } from '../parquet.ts';
import { facts, keyword, makeWorld, PROJECT, type Row, type Tables, WORKSPACE, type World } from '../world.ts';
import { answersOf, EVERYTHING, FACT, ODD, SECOND } from './snapshots.ts';

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

/** The stored rows of a project and table, read from the files of the manifest. */
async function storedRows({ catalog, settings }: World, project: string, table: FactTable): Promise<Row[]> {
  const files = await filesOf(catalog, project, table, { from: '2000-01-01', to: '2099-12-31' });
  if (files.length === 0) return [];
  await using store = await openFileStore(settings);
  using opened = await store.open(files);
  const list = opened.paths.map(quoted).join(', ');
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
          const coverage = await readCoverage(world.catalog, project);
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
  await load({ projects: [PROJECT] }, { replace: true, confirmDelete: ['Proj2'] });
  t.match((await get('/projects')).body.projects, [{ id: 'Proj1', trackedKeywords: 2 }]);
  t.equal((await get('/projects/Proj2/keywords')).status, 404);
  t.strictSame(await readCoverage(catalog, 'Proj2'), {});
  t.match(await readCoverage(catalog, 'Beta1'), { site_daily: { rows: 1 } }, 'another workspace is not named');

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
  const ofBeta = await catalog.statements.all<{ text: string }>('notes_of_project', {
    workspace: 'beta',
    project: 'Beta1',
    from: null,
    to: null,
    clientVisible: 0,
  });
  t.match(ofBeta, [{ text: 'of beta' }], 'a workspace that is not named');
});
