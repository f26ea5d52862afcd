// One more line of a chart has the days of what it is about: brand or not, a query, a page, or the keywords of a group.
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, type Row, WORKSPACE } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const LAST = '2026-03-10';
const FIRST = addDays(LAST, -1);
const BOOTS = 'https://shop.example/boots';
const group = (id: string, rule: object | null): Row => {
  const kind = rule === null ? 'manual' : 'rule';
  const common = { project_id: 'Proj1', parent_id: null, position: 0, pinned: false };
  return { id, name: `Group ${id}`, kind, rule: rule && JSON.stringify(rule), ...common };
};

const world = await makeWorld(t, {
  keywords: [keyword('Kw001', 'boots'), keyword('Kw002', 'tents')],
  groups: [
    group('Grp01', null),
    group('Rule1', { match: 'all', conditions: [{ field: 'clicks', op: 'gte', value: 4 }] }),
  ],
  group_members: [
    { project_id: 'Proj1', group_id: 'Grp01', keyword_id: 'Kw001' },
    { project_id: 'Proj1', group_id: 'Grp01', keyword_id: 'Kw002' },
  ],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', FIRST, 'mobile', 1, 10, 10],
    ['Kw001', LAST, 'mobile', 2, 20, 20],
    ['Kw002', LAST, 'mobile', 5, 50, 150],
  ),
  brand_daily: facts(
    'date segment',
    [FIRST, 'brand', 8, 80, 10],
    [LAST, 'brand', 9, 90, 10],
    [LAST, 'non_brand', 1, 10, 90],
  ),
  query_daily: facts('query date country', ['boots', LAST, 'gbr', 3, 30, 60], ['boots', LAST, 'usa', 1, 10, 20]),
  page_daily: facts('url date country', [BOOTS, LAST, 'gbr', 6, 60, 0]),
});
const ask = await dashboardOf(world);
const RANGE = `from=${FIRST}&to=${LAST}`;

async function clicks(of: string, text?: string, more = '') {
  const name = text === undefined ? '' : `&text=${encodeURIComponent(text)}`;
  const { status, body } = await ask(`Proj1/line?of=${of}${name}&${RANGE}${more}`);
  t.equal(status, 200, JSON.stringify(body));
  const { daily } = body as { daily: { date: string; clicks: number }[] };
  return daily.map((day) => [day.date, day.clicks]);
}

t.test('each subject has its days; those without a row are left out', async (t) => {
  t.strictSame(await clicks('brand'), [
    [FIRST, 8],
    [LAST, 9],
  ]);
  t.strictSame(await clicks('non_brand'), [[LAST, 1]]);
  t.strictSame(await clicks('query', 'boots'), [[LAST, 4]], 'of the archive');
  t.strictSame(await clicks('query', 'Tents'), [[LAST, 5]], 'of the keyword');
  t.strictSame(await clicks('query', 'unknown'), []);
  t.strictSame(await clicks('page', BOOTS), [[LAST, 6]]);
  t.strictSame(await clicks('group', 'Grp01'), [
    [FIRST, 1],
    [LAST, 7],
  ]);
  t.strictSame(await clicks('group', 'Rule1'), [[LAST, 5]], 'a rule on numbers of these days');
  t.strictSame(await clicks('brand', undefined, '&interval=week'), [[FIRST, 17]]);
});

t.test('a keyword has no days before the history of the plan', async (t) => {
  const short = await makeWorld(t, {
    workspaces: [{ ...WORKSPACE, keyword_history_days: 1 }],
    keywords: [keyword('Kw001', 'boots')],
    keyword_daily: facts(
      'keyword_id date device',
      ['Kw001', FIRST, 'mobile', 1, 10, 10],
      ['Kw001', LAST, 'mobile', 2, 20, 20],
    ),
  });
  const { body } = await (await dashboardOf(short))(`Proj1/line?of=query&text=boots&${RANGE}`);
  t.match(body, { daily: [{ date: LAST, clicks: 2 }] });
  const before = await (await dashboardOf(short))(`Proj1/line?of=query&text=boots&from=${FIRST}&to=${FIRST}`);
  t.match(before.body, { daily: [] });
});

t.test('positions are averages by impressions', async (t) => {
  const { body } = await ask(`Proj1/line?of=group&text=Grp01&${RANGE}`);
  t.match(body, { name: 'Group Grp01', daily: [{ position: 2 }, { impressions: 70, position: 3.4 }] });
});

t.test('compared days stand beside the days of the range, and may be all that there are', async (t) => {
  const compared = async (query: string) => {
    const { body } = await ask(`Proj1/line?${query}`);
    const { daily, comparison } = body as Record<'daily' | 'comparison', { date: string; clicks: number }[] | null>;
    return [daily, comparison].map((days) => days?.map(({ date, clicks }) => [date, clicks]) ?? null);
  };
  const [day, before] = [`from=${LAST}&to=${LAST}`, `compare=${FIRST}..${FIRST}`];
  t.strictSame(await compared(`of=brand&${day}&${before}`), [[[LAST, 9]], [[LAST, 8]]]);
  t.strictSame(await compared(`of=group&text=Grp01&${day}&${before}`), [[[LAST, 7]], [[LAST, 1]]]);
  t.strictSame(await compared(`of=brand&${day}`), [[[LAST, 9]], null], 'none without a comparison');
  const later = addDays(LAST, 1);
  t.strictSame(
    await compared(`of=non_brand&from=${FIRST}&to=${FIRST}&compare=${LAST}..${LAST}`),
    [[], [[FIRST, 1]]],
    'also where the range itself has no row',
  );
  t.strictSame(await compared(`of=brand&from=${LAST}&to=${later}&compare=previous&interval=week`), [
    [[LAST, 9]],
    [[LAST, 8]],
  ]);
});

t.test('what is unknown or wrong is said', async (t) => {
  t.equal((await ask(`Proj1/line?of=group&text=Nope1&${RANGE}`)).status, 404);
  t.equal((await ask(`Other/line?of=brand&${RANGE}`)).status, 404);
  for (const [query, text] of [
    ['of=query', 'text is missing'],
    ['of=nothing', 'of must be one of brand, non_brand, query, page, group'],
    [`of=query&text=${'x'.repeat(2049)}`, 'text must be'],
  ]) {
    const { status, body } = await ask(`Proj1/line?${query}&${RANGE}`);
    t.equal(status, 400, query!);
    t.match((body as { error: { message: string } }).error.message, text!);
  }
});
