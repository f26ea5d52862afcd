// Changed rules and keywords resolve alerts without deleting them, and rules can cover groups and pages.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addDays } from '../../server/domain/dates.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import type { Row } from '../world.ts';
import { ALL_FACTS, alertsOf, DAYS, evaluate, factsOf, KEYWORDS, makeAlertWorld, START, shorten } from './world.ts';

t.test('what people change ends alerts without taking them away', async (t) => {
  const rule = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
  const stored = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', project_id: 'Proj1', name: 'Few clicks', rule };
  const world = await makeAlertWorld(t, { ...ALL_FACTS, alert_rules: [stored] });
  await evaluate(world);
  t.same(shorten(await alertsOf(world)).at(2), ['rule', null, 92, 'warning', true]);
  await world.load({
    alert_rules: [{ ...stored, rule: { ...rule, value: 50 } }],
    keywords: [
      { ...KEYWORDS[0], target_url: 'https://shop.example/sale' },
      { ...KEYWORDS[1], archived: true },
    ],
  });
  const evaluation = (await evaluate(world))!;
  t.same(evaluation.removed, []);
  const alerts = await alertsOf(world);
  const bodiesOf = (type: string, isOpen: boolean): string =>
    alerts
      .filter((alert) => alert['type'] === type && alert['isOpen'] === isOpen)
      .map(({ body }) => `${String(body)}\n`)
      .join('');
  t.match(bodiesOf('rule', false), /Resolved: the rule was changed\.\n/);
  t.match(bodiesOf('rule', true), /below the rule's 50/);
  t.match(bodiesOf('url_mismatch', false), /Resolved: another page should rank now\.\n/);
  t.match(bodiesOf('keyword_drop', false), /Resolved: the keyword is no longer tracked\.\n/);
  t.ok(bodiesOf('traffic_drop', true));
});

t.test('rules are about groups, keywords and page groups, too', async (t) => {
  const id = (place: number): string => `7d9f0c52-3a11-4b7e-9c55-00000000000${place}`;
  const rule = { metric: 'impressions', window: '1d', against: 'value', op: 'lt' };
  const ruleRow = (place: number, name: string, more: object): Row => {
    return { id: id(place), project_id: 'Proj1', name, rule: { ...rule, ...more } };
  };
  const conditions = [{ op: 'starts_with', value: '/boots' }];
  const world = await makeAlertWorld(t, {
    groups: [
      { project_id: 'Proj1', id: 'Fold1', name: 'All', kind: 'folder', position: 0 },
      { project_id: 'Proj1', id: 'Group', name: 'Worn', kind: 'manual', parent_id: 'Fold1', position: 1 },
      {
        ...{ project_id: 'Proj1', id: 'Rule1', name: 'Hats', kind: 'rule', position: 2 },
        rule: { match: 'all', conditions: [{ field: 'query', op: 'equals', value: 'hats' }] },
      },
    ],
    group_members: ['KwBbb', 'KwCcc'].map((keyword) => ({
      project_id: 'Proj1',
      group_id: 'Group',
      keyword_id: keyword,
    })),
    page_groups: [
      { project_id: 'Proj1', id: 'Pages', name: 'Boots', position: 0, rule: { match: 'any', conditions } },
      {
        ...{ project_id: 'Proj1', id: 'Picks', name: 'Picked', position: 1, pinned_urls: ['/hats'] },
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/boots/red' }] },
      },
    ],
    alert_rules: [
      ruleRow(1, 'Worn', { scope: 'group', id: 'Fold1', value: 24 }),
      ruleRow(2, 'Hats', { scope: 'group', id: 'Rule1', value: 12 }),
      ruleRow(3, 'One', { scope: 'keyword', id: 'KwCcc', value: 12 }),
      ruleRow(4, 'Boots', { scope: 'page_group', id: 'Pages', value: 5 }),
      ruleRow(6, 'Picked', { scope: 'page_group', id: 'Picks', value: 12 }),
      ruleRow(5, 'Other', { scope: 'keyword', id: 'KwBbb', value: 12 }),
    ],
  });
  const pages = Array.from({ length: DAYS }, (_, day) => {
    const row = { project_id: 'Proj1', date: addDays(START, day), country: 'usa', clicks: 0, sum_position: 0 };
    return [
      { ...row, url: 'https://shop.example/boots/red', impressions: day >= 100 ? 1 : 3 },
      { ...row, url: 'https://shop.example/boots/blue', impressions: 2 },
      { ...row, url: 'https://shop.example/hats?of=/boots', impressions: 9 },
    ];
  }).flat();
  await world.load({ ...factsOf(0, DAYS - 1), page_daily: pages });
  await evaluate(world);
  const found = (await alertsOf(world))
    .filter(({ type }) => type === 'rule')
    .map(({ title, date }) => `${String(date)} ${String(title)}`);
  t.same(found.sort(), [
    '2026-08-01 Rule "Hats": impressions of group "Hats" below 12: 0',
    '2026-08-01 Rule "One": impressions of "hats" below 12: 0',
    '2026-08-01 Rule "Worn": impressions of group "All" below 24: 12',
    '2026-08-09 Rule "Boots": impressions of page group "Boots" below 5: 3',
    '2026-08-09 Rule "Picked": impressions of page group "Picked" below 12: 10',
  ]);
});

t.test('a rebuilt catalog has the rules, and the alerts are evaluated again', async (t) => {
  const rule = { scope: 'site', metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 100 };
  const stored = { id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10', project_id: 'Proj1', name: 'Few clicks', rule };
  const world = await makeAlertWorld(t, { ...ALL_FACTS, alert_rules: [stored] });
  await evaluate(world);
  const before = await alertsOf(world);
  const copy = `${world.dataFolder}-copy`;
  cpSync(world.dataFolder, copy, { recursive: true });
  for (const name of ['catalog.sqlite', 'catalog.sqlite-wal', 'catalog.sqlite-shm'])
    rmSync(join(copy, name), { force: true });
  await rebuild(copy);
  await using catalog = await openCatalog(sqliteIn(copy));
  const rebuilt = { ...world, catalog, settings: { ...world.settings, dataFolder: copy } };
  const evaluation = (await evaluate(rebuilt))!;
  t.same(
    evaluation.opened.map(({ id }) => id).sort(),
    before.map(({ id }) => id),
    'the same, by their ids',
  );
});
