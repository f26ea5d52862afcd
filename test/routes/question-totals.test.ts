// The total of a question counts each keyword once, and only those in rows that its conditions keep, in both ranges.
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, PROJECT } from '../world.ts';

const IDS = ['Kw001', 'Kw002', 'Kw003'];
const GROUPS = { Both1: ['Kw001', 'Kw002'], Both2: ['Kw002', 'Kw003'] };
const SITE = [
  ['2026-03-01', 'mobile', 900, 900, 0],
  ['2026-03-02', 'mobile', 900, 900, 0],
];
const { ask } = await makeWorld(t, {
  keywords: IDS.map((id) => keyword(id, `query ${id}`)),
  groups: Object.keys(GROUPS).map((id, position) => ({ project_id: 'Proj1', id, name: id, kind: 'manual', position })),
  group_members: Object.entries(GROUPS).flatMap(([group_id, ids]) =>
    ids.map((keyword_id) => ({ project_id: 'Proj1', group_id, keyword_id })),
  ),
  site_daily: facts('date device', ...SITE),
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-03-01', 'mobile', 1, 9, 0],
    ['Kw002', '2026-03-01', 'mobile', 2, 9, 0],
    ['Kw003', '2026-03-01', 'mobile', 30, 90, 0],
    ['Kw001', '2026-03-02', 'mobile', 5, 9, 0],
    ['Kw002', '2026-03-02', 'mobile', 10, 90, 0],
    ['Kw003', '2026-03-02', 'mobile', 1, 9, 0],
  ),
});

/** The clicks of rows, of the total, and of the total of the day before. */
async function clicksOf(dimensions: readonly string[], least: number): Promise<unknown> {
  const question = {
    range: { from: '2026-03-02', to: '2026-03-02' },
    compare: { from: '2026-03-01', to: '2026-03-01' },
    metrics: ['clicks'],
    dimensions,
    filters: [['gte', 'clicks', [least]]],
  };
  const { body } = await ask(`/query?q=${encodeURIComponent(JSON.stringify(question))}`);
  const { rows, totals } = body as Record<'totals', { clicks: number; comparison: { clicks: number } }> & {
    rows: { clicks: number }[];
  };
  return { rows: rows.map(({ clicks }) => clicks), now: totals.clicks, before: totals.comparison.clicks };
}

// Totals of keywords over all devices answer the first question of each pair, rows of days the second.
for (const more of [[], ['device']]) {
  t.test(`rows by ${['group', ...more].join(' and ')}`, async (t) => {
    t.strictSame(
      await clicksOf(['group', ...more], 11),
      { rows: [15, 11], now: 16, before: 33 },
      'what is in both groups counts once',
    );
    t.strictSame(
      await clicksOf(['group', ...more], 12),
      { rows: [15], now: 15, before: 3 },
      'the group that is left out counts in neither range, though it had enough in the other',
    );
    t.strictSame(await clicksOf(['group', ...more], 16), { rows: [], now: 0, before: 0 }, 'no row is left');
  });

  t.test(`rows by ${['keyword', ...more].join(' and ')}`, async (t) => {
    t.strictSame(await clicksOf(['keyword', ...more], 5), { rows: [10, 5], now: 15, before: 3 });
    t.strictSame(await clicksOf(['keyword', ...more], 6), { rows: [10], now: 10, before: 2 });
  });
}

t.test('months of a comparison that ends after the last synced day add up to its total', async (t) => {
  const days = eachDay('2025-02-01', '2026-02-20');
  const { ask: asked } = await makeWorld(t, {
    projects: [{ ...PROJECT, synced_through: '2026-02-20', provisional_after: '2026-02-17' }],
    site_daily: facts('date device', ...days.map((day) => [day, 'mobile', 10, 100, 100])),
  });
  const question = {
    range: { from: '2025-02-01', to: '2025-03-31' },
    compare: { from: '2026-01-01', to: '2026-02-28' },
    metrics: ['clicks'],
    dimensions: ['month'],
    filters: [['gte', 'clicks', [300]]],
  };
  const { body } = await asked(`/query?q=${encodeURIComponent(JSON.stringify(question))}`);
  const march = { clicks: 310, comparison: { clicks: 200 } };
  t.match(body.rows, [{ month: '2025-03-01', ...march }]);
  t.match(body.totals, march);
});
