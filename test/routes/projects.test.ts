// The projects endpoint lists the finished projects of the key's workspace and no others.
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { keyword, makeWorld, ofProject, PROJECT, WORKSPACE } from '../world.ts';

const { get, catalog } = await makeWorld(t, {
  workspaces: [
    WORKSPACE,
    { id: 'other', name: 'Other', plan: 'solo', keyword_history_days: 1 },
    { id: 'empty', name: 'Empty', plan: 'solo', keyword_history_days: 30 },
  ],
  projects: [
    PROJECT,
    // same instant: by id, capitals first
    { ...PROJECT, id: 'bbbbb', created_at: '2025-05-05T00:00:00Z', country: 'usa', language: 'en' },
    { ...PROJECT, id: 'ZZZZZ', created_at: '2025-05-05T00:00:00Z', sync_status: 'failed', history_backfilling: true },
    {
      id: 'Fresh',
      workspace_id: 'acme',
      domain: 'fresh.example',
      property: 'https://fresh.example/',
      created_at: '2024-12-31T23:59:59.999Z',
    },
    { ...PROJECT, id: 'Draft', setup_finished: false, created_at: '2020-01-01T00:00:00Z' },
    { ...PROJECT, id: 'Their', workspace_id: 'other' },
  ],
  keywords: [
    keyword('kwOne', 'one'),
    keyword('kwTwo', 'two'),
    keyword('kwArc', 'three', { archived: true }),
    ...ofProject('Draft', [keyword('kwOne', 'one')]),
  ],
});
const keyOf = async (workspace: string) => ({
  authorization: `Bearer ${(await createKey(catalog, { workspace, name: 'test', by: null, at: 0 })).key}`,
});

t.test('the finished projects of the workspace, oldest first', async (t) => {
  const { status, body } = await get('/projects?limit=1');
  t.equal(status, 200);
  const project = {
    domain: 'shop.example',
    property: 'sc-domain:shop.example',
    country: null,
    language: null,
    syncStatus: 'ok',
    lastSyncedAt: '2026-03-11T04:05:06.789Z',
    syncedThrough: '2026-03-10',
    keywordHistoryFrom: '2024-11-10',
    historyBackfilling: false,
    trackedKeywords: 0,
  };
  t.strictSame(body, {
    projects: [
      {
        ...project,
        id: 'Fresh',
        domain: 'fresh.example',
        property: 'https://fresh.example/',
        syncStatus: 'pending',
        lastSyncedAt: null,
        syncedThrough: null,
        // 486 days to yesterday
        keywordHistoryFrom: '2024-11-14',
      },
      { ...project, id: 'Proj1', trackedKeywords: 2 },
      { ...project, id: 'ZZZZZ', syncStatus: 'failed', historyBackfilling: true },
      { ...project, id: 'bbbbb', country: 'usa', language: 'en' },
    ],
  });
});

t.test("a key reads its own workspace's projects, with their plan's history", async (t) => {
  const { body } = await get('/projects', await keyOf('other'));
  t.match(body.projects, [{ id: 'Their', keywordHistoryFrom: '2026-03-10' }]);
  t.equal(body.projects.length, 1);
  t.strictSame((await get('/projects', await keyOf('empty'))).body, { projects: [] });
});

t.test('a project that is unfinished, of another workspace or unknown is not found', async (t) => {
  const resources = 'keywords groups page-groups site breakdowns pages queries alerts notes'.split(' ');
  for (const id of [
    'Draft',
    'Their',
    'nosuc',
    'proj1',
    'P',
    '..',
    '%20',
    `${'x'.repeat(200)}`,
    'Proj1%2F',
    '%27%3B--',
  ]) {
    for (const resource of id.length === 5 ? resources : ['site']) {
      // a wrong parameter makes no difference
      const { status, body } = await get(`/projects/${id}/${resource}?from=never&limit=0&status=x`);
      t.equal(status, 404, `${id} ${resource}`);
      t.equal(body.error.code, 'not_found');
    }
  }
  t.equal((await get('/projects/Their/site', await keyOf('other'))).status, 200);
  for (const path of ['/projects/', '/projects/Proj1/', '/projects//site', '/projects/Proj1/site/']) {
    t.equal((await get(path)).status, 404, path);
  }
});

t.test('one project, as the list has it', async (t) => {
  const { projects } = (await get('/projects')).body;
  for (const project of projects) t.strictSame((await get(`/projects/${project.id}`)).body, { project });
  for (const id of ['Draft', 'Their', 'nosuc']) t.equal((await get(`/projects/${id}`)).status, 404, id);
  t.equal((await get('/projects/Their', await keyOf('other'))).body.project.id, 'Their');
});
