// A project of the portfolio has the numbers, days and quality of its site, whatever the sync knows of its days.
import t from 'tap';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { putReconciledAt, putSyncState } from '../../server/catalog/sync-projects.ts';
import { eachDay } from '../../server/domain/dates.ts';
import { createKey } from '../../server/operations/keys.ts';
import { syncDay } from '../sync-day.ts';
import { facts, makeWorld, NOW, ofProject, PROJECT, type Row, WORKSPACE } from '../world.ts';

/** Days of a project, different from those of the others; some are not stored. */
const days = (seed: number, to = '2026-03-10'): Row[] =>
  facts(
    'date device',
    ...eachDay('2025-11-11', to)
      .filter((day) => !['2026-02-03', '2026-02-20', '2026-03-02'].includes(day))
      .flatMap((day, at) => [
        [day, 'mobile', (at * seed) % 23, 100 + seed * at, 900 + at],
        [day, 'desktop', (at + seed) % 5, 40 + at, 77 * seed],
      ]),
  );
const brands = facts(
  'date segment',
  ...eachDay('2025-11-11', '2026-03-10').flatMap((day, at) => [
    [day, 'brand', at % 3, 30, 10],
    [day, 'non_brand', 1, 50, 700],
  ]),
);
/** Older projects come first. */
const project = (id: string, age: number, more: Row = {}): Row => ({
  ...{ ...PROJECT, id, domain: `${id.toLowerCase()}.example` },
  ...{ created_at: new Date(Date.UTC(2025, 1, 10 - age)).toISOString(), ...more },
});
const IDS = ['Zebra', 'Older', 'Brand', 'Whole', 'NoDay', 'Fresh'];
let time = NOW;
const world = await makeWorld(
  t,
  {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'empty' }],
    projects: [
      project('Fresh', 0, { last_synced_at: null, synced_through: null, provisional_after: null }),
      project('NoDay', 1),
      project('Whole', 2),
      project('Brand', 3, { country: 'usa' }),
      project('Older', 4, { synced_through: '2026-02-10', provisional_after: '2026-02-10' }),
      project('Zebra', 5),
      project('Other', 6, { workspace_id: 'other' }),
    ],
    site_daily: [
      ...ofProject('Zebra', days(1)),
      ...ofProject('Older', days(2, '2026-02-10')),
      ...ofProject('Brand', days(3)),
      ...ofProject('Whole', facts('date device', ['2026-03-01', 'unknown', 9, 300, 1200])),
      ...ofProject('Fresh', days(4)),
      ...ofProject('Other', days(5)),
    ],
    site_daily_image: [...ofProject('Zebra', days(6)), ...ofProject('Brand', days(7, '2026-03-08'))],
    site_daily_discover: ofProject('Zebra', facts('date device', ['2026-03-04', 'unknown', 9, 300, 0])),
    site_daily_bing: ofProject('Zebra', facts('date device', ['2026-03-04', 'unknown', 9, 300, 0])),
    brand_daily: ofProject('Brand', brands),
  },
  { now: () => (time += 1000) },
);
await putReconciledAt(world.catalog, 'Brand', NOW * 1000);
for (const table of ['site_daily', 'site_daily_image'] as const)
  await putSyncDays(world.catalog, 'Brand', [
    syncDay(table, '2026-02-03', { state: 'empty' }),
    syncDay(table, '2026-02-25', { state: 'failed', final: false }),
    syncDay(table, '2026-03-03', { cutOff: true }),
    syncDay(table, '2026-03-09', { state: 'failed', final: false }),
  ]);

t.test('a project is answered, or refused, as its site is', async (t) => {
  for (const query of [
    'quality=1&daily=1',
    'compare=previous&quality=1',
    'period=7d&compare=year&daily=1',
    'from=2026-02-02&to=2026-02-04&compare=previous',
    'from=2026-03-03&to=2026-03-03&compare=2026-03-02..2026-03-02&quality=1',
    'from=2026-03-01&to=2026-03-01&compare=2026-03-03..2026-03-03',
    'from=2026-02-20&quality=1',
    'to=2025-11-10',
    'from=2025-10-01&to=2025-12-24&device=mobile',
    'device=tablet&daily=1&interval=week',
    'period=3m&daily=1&interval=month&compare=2026-01-01..2026-01-20',
    'from=2026-03-08&to=2026-03-20&quality=1&daily=1',
    'type=image&quality=1&daily=1',
    'type=image&compare=previous&device=desktop&quality=1',
    'type=image&from=2026-03-03&to=2026-03-09&compare=previous&quality=1',
    'type=discover&from=2026-03-03&to=2026-03-09&quality=1&daily=1&compare=previous',
    'engine=bing&from=2026-03-03&to=2026-03-09&quality=1&daily=1&compare=previous',
  ]) {
    const { projects } = (await world.get(`/portfolio?${query}`)).body as { projects: Row[] };
    const sites = await Promise.all(IDS.map((id) => world.get(`/projects/${id}/site?${query}`)));
    const expected = sites.map(({ status, body }, at): unknown => {
      if (status === 400) return { id: IDS[at], range: null, totals: null, error: body.error };
      const { project: _, daily, ...answer } = body;
      return { id: IDS[at], ...answer, ...(query.includes('daily=1') ? { daily } : {}) };
    });
    const answered = projects.map(({ id, range, totals, quality, daily, error }): unknown =>
      JSON.parse(JSON.stringify({ id, range, totals, quality, daily, error })),
    );
    t.strictSame(answered, expected, query);
  }
});

t.test('a day that failed is missing although it has rows; a search type is final through its own days', async (t) => {
  const brand = async (query: string): Promise<unknown[]> => {
    const { range, quality } = (await world.get(`/projects/Brand/site?from=2026-02-24&to=2026-03-10&${query}`)).body;
    const missing = quality.missing.map(({ from, to }: Row) => `${String(from)}..${String(to)}`).join(' ');
    return [range.provisionalAfter, quality.daysExpected, quality.daysStored, quality.daysCutOff, missing] as unknown[];
  };
  const missing = '2026-02-25..2026-02-25 2026-03-02..2026-03-02';
  const ofWeb = ['2026-03-07', 15, 12, 1, `${missing} 2026-03-09..2026-03-09`];
  t.strictSame(await brand('quality=1'), ofWeb);
  t.strictSame(await brand('quality=1&type=image'), ['2026-03-03', 13, 11, 1, missing]);
});

t.test('a sync that found nothing new is told', async (t) => {
  const told = async () => ((await world.get('/portfolio?limit=1')).body.projects as Row[])[0]!['lastSyncedAt'];
  const before = await told();
  await putSyncState(world.catalog, 'Zebra', { lastSyncedAt: 1_773_300_000_000_000 });
  t.strictSame([before, await told()], ['2026-03-11T04:05:06.789Z', '2026-03-12T07:20:00.000Z']);
});

t.test('a project without an answer has no numbers: no condition finds it, and it comes last', async (t) => {
  for (const [more, ids] of [
    ['sort=clicks', 'NoDay Fresh Whole Brand Zebra Older'],
    ['sort=-clicks', 'Zebra Brand Whole NoDay Fresh Older'],
    ['filter=clicks:lt:1', 'NoDay Fresh'],
    ['filter=clicks:neq:9', 'Zebra Brand NoDay Fresh'],
    ['filter=impressions:gte:0&sort=-impressions&limit=2&offset=1', 'Zebra Whole'],
  ] as const) {
    const { projects } = (await world.get(`/portfolio?from=2026-02-20&${more}`)).body;
    t.equal((projects as Row[]).map(({ id }) => id).join(' '), ids, more);
  }
});

t.test("only the key's own workspace, also without projects", async (t) => {
  const of = async (workspace: string): Promise<unknown[]> => {
    const { key } = await createKey(world.catalog, { workspace, name: workspace, at: 0 });
    const { body } = await world.get('/portfolio', { authorization: `Bearer ${key}` });
    return [body.paging, body.projects.map(({ id }: Row) => id)] as unknown[];
  };
  t.strictSame(await of('other'), [{ total: 1, limit: 1000, offset: 0 }, ['Other']]);
  t.strictSame(await of('empty'), [{ total: 0, limit: 1000, offset: 0 }, []]);
});
