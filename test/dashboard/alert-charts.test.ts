// The chart of an alert shows the days around it, with what was usual and the limit.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { putEvaluatedAlert } from '../../server/catalog/alerts.ts';
import type { AlertChart } from '../../server/dashboard/alert-chart.ts';
import type { AlertRule } from '../../server/domain/alert-rules.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, NOW, PROJECT, WORKSPACE } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const LAST = '2026-03-10';
const DAYS = eachDay(addDays(LAST, -99), LAST);
const DROP = addDays(LAST, -9);

/** The keyword is at position 4, from some day on at 14; the site has 100 clicks a day, then 30. */
const world = await makeWorld(t, {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, { ...PROJECT, id: 'Proj2', workspace_id: 'other' }],
  keywords: [keyword('Kw001', 'walking boots')],
  site_daily: facts('date device', ...DAYS.map((day) => [day, 'mobile', day < DROP ? 100 : 30, 1000, 4000])),
  keyword_daily: facts(
    'keyword_id date device',
    ...DAYS.map((day) => ['Kw001', day, 'mobile', 5, 100, day < DROP ? 300 : 1300]),
  ),
  alerts: (['traffic_drop', 'keyword_drop'] as const).map((type, at) => ({
    ...{ id: `00000000-0000-4000-8000-00000000000${at + 1}`, project_id: 'Proj1', type, kind: 'Drop', title: 'Fell' },
    ...{ severity: 'warning', body: 'Fell.', date: '2026-03-07', keyword_id: at === 1 ? 'Kw001' : null, url: null },
    ...{ created_at: '2026-03-08T00:00:00Z', resolved_at: null },
  })),
});
const ask = await dashboardOf(world);

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
