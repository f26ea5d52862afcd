// A surface without new days for two weeks is called stale: by an alert, in answers, and by connection tests.
import t from 'tap';
import { staleEndedBecause } from '../../server/alerts/stale-surfaces.ts';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { addDays } from '../../server/domain/dates.ts';
import { dashboardOf } from '../dashboard/dashboard-of.ts';
import { fakeBing } from '../fakes/bing.ts';
import { scene } from '../projects/scene.ts';
import { syncDay } from '../sync-day.ts';
import { facts, PROJECT, type Row } from '../world.ts';
import { evaluate, factsOf, LAST, makeAlertWorld, NOW } from './world.ts';

const DAILY = factsOf(100, 109).site_daily;
const ofBing = (...days: string[]) => facts('date device', ...days.map((day) => [day, 'unknown', 5, 90, 0] as const));

t.test('an alert opens on the fifteenth day, and resolves with a newer one', async (t) => {
  const world = await makeAlertWorld(t, { site_daily: DAILY, site_daily_bing: ofBing('2026-08-15', '2026-08-16') });
  const alerts = async (): Promise<Row[]> => {
    const { body } = await world.ask('/alerts?status=all&limit=500');
    return (body.alerts as Row[]).filter(({ type }) => type === 'surface_stale');
  };
  await evaluate(world, { asOf: '2026-08-30' });
  t.strictSame(await alerts(), [], 'not on the fourteenth');
  await evaluate(world);
  t.match(await alerts(), [
    {
      severity: 'warning',
      title: 'Bing has no days after 2026-08-16',
      body: /more than 14 days ago\. Later days are unknown, not zero\./,
      date: '2026-08-31',
      resolvedAt: null,
    },
  ]);
  await world.load({ site_daily_bing: ofBing('2026-08-17') });
  await evaluate(world);
  t.match(await alerts(), [{ body: /Resolved: it has newer days\./, resolvedAt: String }]);
});

t.test('an alert says why it ended', async (t) => {
  const alert = { subject: 'bing', basis: '2026-08-16' };
  const web = { surface: 'web', lastDay: '2026-08-31' } as const;
  const bing = (lastDay: string) => ({ surface: 'bing', lastDay }) as const;
  t.equal(staleEndedBecause(alert, [web, bing('2026-08-17')]), 'it has newer days');
  t.equal(staleEndedBecause(alert, [web, bing('2026-08-15')]), 'its last days were removed');
  t.equal(
    staleEndedBecause(alert, [{ ...web, lastDay: '2026-08-16' }, bing('2026-08-16')]),
    'web has no days long after it either',
  );

  const world = await makeAlertWorld(t, { site_daily: DAILY, site_daily_bing: ofBing('2026-08-16') });
  await evaluate(world);
  await world.catalog.statements.run('fact_file_delete', { project: 'Proj1', table: 'site_daily_bing', part: 'all' });
  await evaluate(world);
  const { body } = await world.ask('/alerts?status=all&limit=500');
  const [ended] = (body.alerts as Row[]).filter(({ type }) => type === 'surface_stale');
  t.match(ended, { body: /Resolved: its days were removed\./, resolvedAt: String });
});

t.test('surfaces that end with web, or shortly before it, open no alert of their own', async (t) => {
  // Few sites have rows of each type on every day.
  for (const [before, isStale] of [
    [0, false],
    [1, false],
    [14, false],
    [15, true],
  ] as const) {
    const world = await makeAlertWorld(t, { site_daily: DAILY, site_daily_bing: ofBing(addDays(LAST, -before)) });
    await evaluate(world, { now: () => NOW + 60 * 86_400_000 });
    const { body } = await world.ask('/alerts?status=all&limit=500');
    const types = (body.alerts as Row[]).map(({ type }) => type);
    t.equal(types.includes('surface_stale'), isStale, `${before} days before`);
  }
});

t.test('a type whose last days are known to be empty is not stale', async (t) => {
  const image = facts('date device', ['2026-08-01', 'mobile', 3, 50, 80]);
  const world = await makeAlertWorld(t, { site_daily: DAILY, site_daily_image: image });
  const surfaces = async (): Promise<unknown[]> =>
    ((await world.ask('/surfaces?from=2026-08-01&to=2026-08-18')).body.surfaces as Row[]).map(({ type, stale }) => [
      type,
      stale,
    ]);
  t.strictSame(await surfaces(), [
    ['web', false],
    ['image', true],
  ]);
  const dashboard = await dashboardOf({ app: await world.served(), catalog: world.catalog }, 'acme', NOW);
  t.match((await dashboard('Proj1/data')).body.stale, [{ name: 'Image search', lastDay: '2026-08-01' }]);
  await putSyncDays(world.catalog, 'Proj1', [syncDay('site_daily_image', LAST, { state: 'empty', rows: 0 })]);
  t.strictSame((await dashboard('Proj1/data')).body.stale, []);
  const { daily } = (await world.ask(`/site?type=image&from=2026-08-17&to=2026-08-20`)).body;
  t.strictSame(
    daily.map(({ date, clicks }: Row) => [date, clicks]),
    [
      ['2026-08-17', 0],
      [LAST, 0],
    ],
    'days without rows that were reported are zeros',
  );
});

t.test('a connection that works says what it has not reported for long', async (t) => {
  const fake = await fakeBing(t, '2026-06-20');
  const project = { ...PROJECT, property: 'sc-domain:acme.example' };
  const { run } = await scene(t, { projects: [project], site_daily_bing: ofBing('2026-02-01') });
  await run(
    'connections',
    'set',
    '--project',
    'Proj1',
    '--kind',
    'bing',
    '--endpoint',
    fake.url,
    '--api-key-file',
    fake.keyFile,
  );
  fake.sites.push({ url: 'https://www.acme.example/', isVerified: true });
  const { code, out } = await run('connections', 'test', '--project', 'Proj1');
  t.match(
    { code, out },
    { code: 0, out: /^Works: .*\n {2}Bing: the newest day is 2026-02-01, more than 14 days ago\./ },
  );
});
