// A project created again has no old data, and a load affects only the projects that it names.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { facts, keyword, makeWorld, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

const OTHER = { ...WORKSPACE, id: 'other', name: 'Other' };
const id = '5e1f0000-0000-4000-8000-000000000001';

t.test('a project that is made again has nothing of its former life, for another workspace least of all', async (t) => {
  const world = await makeWorld(t, {
    workspaces: [WORKSPACE, OTHER],
    keywords: [keyword('Kw001', 'secret of acme')],
    site_daily: facts('date device', ['2026-03-09', 'mobile', 77, 100, 0]),
  });
  const key = (await createKey(world.catalog, { workspace: 'other', name: 'other', by: null, at: 0 })).key;
  const asOther = (path: string) => world.get(`/projects/Proj1${path}`, { authorization: `Bearer ${key}` });
  t.equal((await world.ask('/site')).body.totals.clicks, 77);
  t.equal((await world.ask('/keywords')).body.keywords.length, 1);

  await world.load(
    { workspaces: [WORKSPACE], projects: [{ ...PROJECT, id: 'Proj9' }] },
    { replace: true, confirmDelete: ['Proj1'] },
  );
  t.equal((await world.ask('/site')).status, 404);
  await world.load({ projects: [{ ...PROJECT, workspace_id: 'other', domain: 'b.example' }] });
  await world.load({ site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 100, 0]) });
  t.match((await asOther('/site')).body, { project: { domain: 'b.example' }, totals: { clicks: 1 } });
  t.strictSame((await asOther('/keywords')).body.keywords, []);
});

t.test('a load cannot take alerts and notes away from projects that it does not name', async (t) => {
  const alert = {
    id,
    project_id: 'Proj1',
    type: 'rule',
    kind: 'Rule',
    severity: 'info',
    title: 'title',
    body: '',
    created_at: '2026-03-01T00:00:00Z',
  };
  const note = {
    id,
    workspace_id: 'acme',
    project_id: 'Proj1',
    scope: 'project',
    date: '2026-03-01',
    category: 'other',
    text: 'text',
    author: 'Editorial team',
    created_at: '2026-03-01T00:00:00Z',
    updated_at: '2026-03-01T00:00:00Z',
  };
  const world = await makeWorld(t, {
    workspaces: [WORKSPACE, OTHER],
    projects: [PROJECT, { ...PROJECT, id: 'Proj2', workspace_id: 'other' }],
    alerts: [alert],
    notes: [note],
  });
  await t.rejects(world.load({ alerts: [{ ...alert, project_id: 'Proj2' }] }), {
    message: /alerts\.id.*another project/,
  });
  await t.rejects(world.load({ notes: [{ ...note, project_id: 'Proj2', workspace_id: 'other' }] }), {
    message: /notes\.id.*another workspace/,
  });
  t.equal((await world.ask('/alerts')).body.alerts.length, 1);
  t.equal((await world.ask('/notes')).body.notes.length, 1);
});

t.test('a data folder may have any name', async (t) => {
  const dataFolder = join(temporaryFolder(t), 'd[1] *?');
  mkdirSync(dataFolder);
  const settings = readSettings({ ORDINATE_DATA: dataFolder });
  const catalog = await openCatalog(sqliteIn(dataFolder));
  t.teardown(() => catalog.close());
  const tables = {
    workspaces: [WORKSPACE],
    projects: [PROJECT],
    site_daily: facts('date device', ['2026-03-09', 'mobile', 77, 100, 0]),
  };
  const summary = await loadSnapshot({ settings, catalog }, { folder: writeSnapshot(t, tables) });
  t.equal(summary.tables['site_daily']?.rows, 1);
  const wrong = writeSnapshot(t, { site_daily: facts('date device', ['2026-03-09', 'mobile', 'abc', 100, 0]) });
  await t.rejects(loadSnapshot({ settings, catalog }, { folder: wrong }), { message: /site_daily\.clicks/ });
  t.ok(existsSync(join(dataFolder, 'facts', 'site_daily', 'Proj1')));
});

t.test(
  'days out of all bounds, nested texts, and sums that grow over several loads are refused in words',
  async (t) => {
    const world = await makeWorld(t, { keywords: [keyword('Kw001', 'a')] });
    await t.rejects(
      world.load({ keyword_daily: facts('keyword_id date device', ['Kw001', '9999-12-31', 'mobile', 1, 1, 1]) }),
      {
        message: /keyword_daily\.date: 1 row .* from 1990 to tomorrow/,
      },
    );
    await t.rejects(world.load({ keywords: [keyword('Kw002', { a: 1 } as never)] }), { message: /keywords\.query/ });
    const large = 4e14;
    await world.load({ site_daily: facts('date device', ['2026-03-08', 'mobile', 0, large, 0]) });
    await t.rejects(world.load({ site_daily: facts('date device', ['2026-03-09', 'mobile', 0, large, 0]) }), {
      message: /site_daily: together with the data already loaded, the sums .* too large/,
    });
    t.equal((await world.ask('/site')).body.totals.impressions, large);
  },
);

t.test('a month without impressions has no position, whatever its sum says', async (t) => {
  const world = await makeWorld(t, {
    site_daily: facts('date device', ['2026-02-01', 'mobile', 0, 1, 0]),
    country_daily: facts('date country', ['2026-03-01', 'usa', 1, 3, 10]),
    country_monthly: facts('month country', ['2026-02-01', 'usa', 0, 0, 10]),
  });
  const { body } = await world.ask('/site?country=usa&from=2026-02-10&to=2026-03-01');
  t.equal(body.totals.position, 4.3);
});

t.test('a load that commits while a list is computed costs nobody an answer', async (t) => {
  const rows = Array.from({ length: 3000 }, (_, index) => ['2026-03-09', `query ${index}`, 'usa', 1, 2, 3] as const);
  const world = await makeWorld(t, { query_daily: facts('date query country', ...rows) });
  const asking = world.ask('/queries?period=7d&limit=1');
  await world.catalog.statements.run('revision_next');
  await world.catalog.statements.run('facts_changed', { id: 'Proj1' });
  t.match(await asking, { status: 200, body: { paging: { total: 3000 } } });
});
