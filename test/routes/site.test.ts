import t from 'tap';
import { facts, makeWorld } from '../world.ts';

const SITE = facts(
  'date device',
  ['2026-03-01', 'desktop', 3, 100, 900],
  ['2026-03-01', 'mobile', 1, 60, 120],
  // nothing stored on the 2nd
  ['2026-03-03', 'mobile', 0, 7, 14],
  ['2026-03-09', 'desktop', 5, 32, 1],
);

t.test('days from the first stored one to the last synced one, zeros where nothing is stored', async (t) => {
  const { ask } = await makeWorld(t, { site_daily: SITE });
  const { status, body } = await ask('/site?from=2026-02-27&to=2026-03-04');
  t.equal(status, 200);
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    range: { from: '2026-02-27', to: '2026-03-04', device: 'all', country: null, provisionalAfter: '2026-03-07' },
    totals: { clicks: 4, impressions: 167, ctr: 0.024, position: 7.2 },
    daily: [
      { date: '2026-03-01', clicks: 4, impressions: 160, ctr: 0.025, position: 7.4 },
      { date: '2026-03-02', clicks: 0, impressions: 0, ctr: null, position: null },
      { date: '2026-03-03', clicks: 0, impressions: 7, ctr: 0, position: 3 },
      { date: '2026-03-04', clicks: 0, impressions: 0, ctr: null, position: null },
    ],
  });
});

t.test('the default range is the 28 days to the last synced one; later days are left out', async (t) => {
  const { ask } = await makeWorld(t, { site_daily: SITE });
  const byDefault = await ask('/site');
  t.match(byDefault.body.range, { from: '2026-02-11', to: '2026-03-10' });
  const future = await ask('/site?from=2026-03-09&to=2026-04-30');
  t.equal(future.body.range.to, '2026-04-30');
  t.strictSame(future.body.daily, [
    // 5 / 32 is 0.15625 and 1 / 32 + 1 is 1.03125
    { date: '2026-03-09', clicks: 5, impressions: 32, ctr: 0.1563, position: 1 },
    { date: '2026-03-10', clicks: 0, impressions: 0, ctr: null, position: null },
  ]);
});

t.test('one device', async (t) => {
  const { ask } = await makeWorld(t, { site_daily: SITE });
  const { body } = await ask('/site?period=10d&device=mobile');
  t.strictSame(body.totals, { clicks: 1, impressions: 67, ctr: 0.0149, position: 3 });
  t.equal(body.range.device, 'mobile');
  t.equal(body.daily.length, 10);
});
