// The dashboard's own routes describe keywords, alerts and stored data correctly.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { putEvaluatedAlert } from '../../server/catalog/evaluations.ts';
import { createSession } from '../../server/catalog/sessions.ts';
import type { AlertChart } from '../../server/dashboard/alert-chart.ts';
import type { AlertRule } from '../../server/domain/alert-rules.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, NOW, PROJECT, WORKSPACE } from '../world.ts';

const LAST = '2026-03-10';
const DAYS = eachDay(addDays(LAST, -99), LAST);
const DROP = addDays(LAST, -9);

/** The keyword is at position 4, from some day on at 14; the site has 100 clicks a day, then 30. */
const world = await makeWorld(t, {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Proj2', workspace_id: 'other' },
    { ...PROJECT, id: 'Empty', synced_through: null, last_synced_at: null, provisional_after: null },
  ],
  keywords: [keyword('Kw001', 'walking boots')],
  site_daily: facts('date device', ...DAYS.map((day) => [day, 'mobile', day < DROP ? 100 : 30, 1000, 4000])),
  keyword_daily: facts(
    'keyword_id date device',
    ...DAYS.map((day) => ['Kw001', day, 'mobile', 5, 100, day < DROP ? 300 : 1300]),
  ),
  keyword_page_daily: facts(
    'keyword_id date url',
    ['Kw001', '2026-03-08', 'https://shop.example/a', 4, 60, 200],
    ['Kw001', '2026-03-09', 'https://shop.example/b', 1, 40, 100],
    ['Kw001', '2026-03-09', 'https://shop.example/a', 1, 10, 0],
  ),
  site_daily_bing: facts('date device', ['2026-03-09', 'unknown', 1, 10, 0]),
  query_weekly_bing: facts('query week_end', ['boots', '2026-02-26', 1, 10, 0], ['boots', '2026-03-05', 1, 10, 0]),
  alerts: [
    {
      id: '00000000-0000-4000-8000-000000000001',
      project_id: 'Proj1',
      type: 'traffic_drop',
      kind: 'Traffic drop',
      severity: 'warning',
      title: 'Clicks fell',
      body: 'Clicks fell.',
      date: '2026-03-07',
      keyword_id: null,
      url: null,
      created_at: '2026-03-08T00:00:00Z',
      resolved_at: null,
    },
    {
      id: '00000000-0000-4000-8000-000000000002',
      project_id: 'Proj1',
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'warning',
      title: 'A keyword fell',
      body: 'A keyword fell.',
      date: '2026-03-07',
      keyword_id: 'Kw001',
      url: null,
      created_at: '2026-03-08T00:00:00Z',
      resolved_at: null,
    },
  ],
});
const [{ id: keyId }] = (await world.catalog.statements.all<{ id: string }>('keys_of_workspace', {
  workspace: 'acme',
})) as [{ id: string }];
const { token } = await createSession(world.catalog, {
  workspace: 'acme',
  who: { keyId, email: null },
  at: NOW * 1000,
});

async function ask(path: string) {
  const headers = { 'sec-fetch-site': 'same-origin', host: 'localhost', cookie: `ordinate=${token}` };
  const { statusCode, body } = await world.app.inject({
    url: `/app/api/${path.startsWith('../') ? path.slice(3) : `projects/${path}`}`,
    headers,
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  return { status: statusCode, body: JSON.parse(body) as any };
}

t.test('a keyword, and the pages that ranked for it', async (t) => {
  const { status, body } = await ask('Proj1/keywords/Kw001?from=2026-03-08&to=2026-03-09');
  t.equal(status, 200);
  t.match(body, {
    range: { from: '2026-03-08', to: '2026-03-09', clamped: false },
    keyword: { id: 'Kw001', query: 'walking boots', groupIds: [] },
  });
  t.strictSame(body.pages, [
    { url: 'https://shop.example/a', clicks: 5, impressions: 70, ctr: 0.0714, position: 3.9 },
    { url: 'https://shop.example/b', clicks: 1, impressions: 40, ctr: 0.025, position: 3.5 },
  ]);
  t.equal((await ask('Proj1/keywords/Kw001?from=never')).status, 400);
  for (const path of ['Proj1/keywords/Kw002', 'Proj2/keywords/Kw001', 'nosuc/keywords/Kw001']) {
    t.equal((await ask(path)).status, 404, path);
  }
});

t.test('an alert: the weeks around it, with what was usual and the margin', async (t) => {
  const traffic = (await ask('Proj1/alerts/00000000-0000-4000-8000-000000000001/chart')).body;
  t.equal(traffic.metric, 'clicks');
  t.strictSame(traffic.levels, [
    { name: 'Usual week', value: 700 },
    { name: 'Opens below (80%)', value: 560 },
  ]);
  const last = traffic.points.find(({ date }: { date: string }) => date === '2026-03-07');
  t.equal(last.value, 7 * 30);
  t.equal(traffic.points.at(-1).date, LAST, 'as far as there is data');

  const fallen = (await ask('Proj1/alerts/00000000-0000-4000-8000-000000000002/chart')).body;
  t.equal(fallen.metric, 'position');
  t.strictSame(fallen.levels, [
    { name: 'Usual position', value: 4 },
    { name: 'Opens above', value: 5.5 },
  ]);
  t.equal(fallen.points.at(-1).value, 14);
  t.equal((await ask('Proj1/alerts/00000000-0000-4000-8000-000000000009/chart')).status, 404);
  t.equal((await ask('Proj2/alerts/00000000-0000-4000-8000-000000000001/chart')).status, 404);
});

t.test('an alert of a rule: its own metric and window, with the limit when it opened', async (t) => {
  const chartOf = async (rule: AlertRule) => {
    const id = randomUUID();
    await world.catalog.transaction((tx) =>
      putEvaluatedAlert(tx, 'Proj1', {
        ...{ id, type: 'rule', subject: id, basis: JSON.stringify(rule), kind: 'Alert rule', severity: 'info' },
        ...{ title: 'By rule', body: '', date: DROP, keywordId: null, url: null, createdAt: NOW * 1000 },
        resolvedAt: null,
      }),
    );
    const { body } = await ask(`Proj1/alerts/${id}/chart`);
    return body as AlertChart;
  };
  const fixed = await chartOf({
    ...{ scope: 'site', metric: 'ctr', window: '3d', against: 'value', op: 'lt', value: 4, unit: 'percent' },
    resolve_at: 8,
  });
  t.match(fixed, { date: DROP, metric: 'ctr', window: 3 });
  t.strictSame(fixed.levels, [
    { name: 'Opens below', value: 0.04 },
    { name: 'Resolves at', value: 0.08 },
  ]);
  t.equal(fixed.points.at(-1)?.value, 0.03);
  t.equal(fixed.points.at(-1)?.date, LAST);
  const relative = await chartOf({
    ...{ scope: 'keyword', id: 'Kw001', metric: 'position', window: '1d', against: 'previous', op: 'rises_by' },
    ...{ value: 50, unit: 'percent' },
  });
  t.match(relative, { metric: 'position', window: 1 });
  t.strictSame(relative.levels, [
    { name: 'Limit when it opened', value: 6 },
    { name: 'Days before', value: 4 },
  ]);
  t.equal(relative.points.at(-1)?.value, 14);
});

t.test('the last final day, and how many alerts there are', async (t) => {
  t.match(await ask('Proj1/summary'), { status: 200, body: { finalThrough: '2026-03-07', alerts: { resolved: 0 } } });
  t.match((await ask('Empty/summary')).body, { finalThrough: null, alerts: { open: 0, resolved: 0 } });
  t.equal((await ask('Proj2/summary')).status, 404);
});

t.test('the data: which days of which tables are stored', async (t) => {
  const { body } = await ask('Proj1/data');
  t.strictSame(body.calendar, { from: DAYS[0], to: LAST });
  const byTable = Object.fromEntries(body.tables.map((table: { table: string }) => [table.table, table]));
  t.strictSame(byTable['site_daily'].runs, [
    { from: DAYS[0], to: '2026-03-07', state: 'final' },
    { from: '2026-03-08', to: LAST, state: 'provisional' },
  ]);
  t.strictSame(byTable['keyword_page_daily'].runs, [
    { from: DAYS[0], to: '2026-03-07', state: 'absent' },
    { from: '2026-03-08', to: '2026-03-09', state: 'provisional' },
    { from: LAST, to: LAST, state: 'absent' },
  ]);
  t.strictSame(byTable['query_weekly_bing'].runs, [
    { from: DAYS[0], to: '2026-02-19', state: 'absent' },
    { from: '2026-02-20', to: '2026-03-05', state: 'final' },
    { from: '2026-03-06', to: LAST, state: 'absent' },
  ]);
  t.match(byTable['query_weekly_bing'], { firstDay: '2026-02-20', lastDay: '2026-03-05' });
  t.match(byTable['site_daily_bing'].runs[1], { state: 'final' }, 'Bing does not say which days may change');
  t.equal(body.sync, undefined, 'a project without a connection is not synced');
  t.equal((await ask('Proj2/data')).status, 404);
  const empty = await ask('Empty/data');
  t.strictSame([empty.status, empty.body.calendar, empty.body.tables], [200, null, []], 'before the first day');
});
