// The rank tracker counts each keyword once, in the band of its position, and draws a group by its own keywords.
import t from 'tap';
import type { Tracker } from '../../server/dashboard/tracker.ts';
import { addDays } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, type Row } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const LAST = '2026-03-10';
const FIRST = addDays(LAST, -1);
const group = (id: string, more: Row): Row => ({
  id,
  project_id: 'Proj1',
  name: id,
  kind: 'manual',
  parent_id: null,
  position: 0,
  pinned: false,
  rule: null,
  ...more,
});
const member = (keyword_id: string): Row => ({ project_id: 'Proj1', group_id: 'Grp01', keyword_id });

const world = await makeWorld(t, {
  keywords: [
    keyword('Kw001', 'boots', { target_url: 'https://shop.example/boots#top' }),
    keyword('Kw002', 'red boots', { target_url: 'https://shop.example/red' }),
    keyword('Kw003', 'tents', { target_url: 'https://shop.example/tents' }),
    keyword('Kw004', 'nothing'),
  ],
  groups: [
    group('Fold1', { kind: 'folder' }),
    group('Grp01', { parent_id: 'Fold1' }),
    group('Rule1', {
      kind: 'rule',
      rule: JSON.stringify({ match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'tent' }] }),
    }),
  ],
  group_members: [member('Kw001'), member('Kw002')],
  // Of 10 impressions each: positions 2, 3.1 and 40; before, 12 and 40; the third keyword is shown on the last day only.
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', addDays(FIRST, -2), 'mobile', 1, 10, 110],
    ['Kw001', FIRST, 'mobile', 1, 10, 10],
    ['Kw001', LAST, 'mobile', 1, 10, 10],
    ['Kw002', FIRST, 'mobile', 1, 10, 21],
    ['Kw002', LAST, 'mobile', 1, 10, 21],
    ['Kw003', addDays(FIRST, -2), 'mobile', 1, 10, 390],
    ['Kw003', LAST, 'mobile', 1, 10, 390],
  ),
  keyword_page_daily: facts(
    'keyword_id date url',
    ['Kw001', FIRST, 'https://shop.example/boots', 1, 6, 10],
    ['Kw001', LAST, 'https://shop.example/boots#size', 0, 5, 10],
    ['Kw001', LAST, 'https://shop.example/sale', 2, 10, 10],
    ['Kw002', LAST, 'https://shop.example/sale', 1, 9, 10],
    ['Kw002', addDays(FIRST, -2), 'https://shop.example/red', 1, 99, 10],
  ),
});
const ask = await dashboardOf(world);
const read = async (more = ''): Promise<Tracker> => {
  const { status, body } = await ask(`Proj1/tracker?from=${FIRST}&to=${LAST}${more}`);
  t.equal(status, 200, JSON.stringify(body));
  return body as Tracker;
};

t.test('keywords by band, now, before and day by day', async (t) => {
  const { now, before, days, distribution } = await read('&compare=previous');
  t.strictSame(now, [1, 1, 0, 1, 0, 1]);
  t.strictSame(before, [0, 0, 1, 1, 0, 2]);
  t.strictSame(days, [FIRST, LAST]);
  t.strictSame(distribution, [
    [1, 1, 0, 0, 0],
    [1, 1, 0, 1, 0],
  ]);
  t.equal((await read()).before, null);
  t.strictSame((await read('&interval=week')).days, [FIRST], 'both days are of one week');
});

t.test('the chosen group and filter count, groups have all of their keywords', async (t) => {
  const { now, groups } = await read('&group=Fold1&filter=query:contains:red');
  t.strictSame(now, [0, 1, 0, 0, 0, 0]);
  t.strictSame(groups, [
    { id: 'Fold1', keywords: 2, positions: [2.6, 2.6] },
    { id: 'Grp01', keywords: 2, positions: [2.6, 2.6] },
    { id: 'Rule1', keywords: 1, positions: [null, 40] },
  ]);
});

t.test('the page that ranks, against the one that should', async (t) => {
  const site = 'https://shop.example';
  t.strictSame((await read()).targets, {
    Kw001: { target: `${site}/boots#top`, ranking: `${site}/boots`, isSame: true },
    Kw002: { target: `${site}/red`, ranking: `${site}/sale`, isSame: false },
    Kw003: { target: `${site}/tents`, ranking: null, isSame: false },
  });
});

t.test('what is unknown or wrong is said', async (t) => {
  t.equal((await ask('Proj1/tracker?group=Nope1')).status, 404);
  t.equal((await ask('Proj1/tracker?from=yesterday')).status, 400);
  t.equal((await ask('Other/tracker')).status, 404);
});
