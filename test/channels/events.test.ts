// Channels hear when an alert opens and resolves, and when the sync begins to fail and works again.
import t from 'tap';
import { evaluateProject } from '../../server/alerts/evaluate.ts';
import {
  announceSyncStatus,
  putSyncProject,
  putSyncState,
  readSyncProject,
} from '../../server/catalog/sync-projects.ts';
import { withFacts } from '../../server/query/with-facts.ts';
import { factsOf, KEYWORDS, LAST, NOW as LATER, projectUntil } from '../alerts/world.ts';
import { makeScene } from './scene.ts';

t.test('an evaluation announces what it opens and resolves, once', async (t) => {
  const { world, add, rows, send, receiver, clock } = await makeScene(t, {}, [projectUntil(LAST)]);
  clock.at = LATER;
  await add('webhook', '/');
  const { catalog, settings } = world;
  // Clicks are back before the last day.
  const { site_daily: site, ...lists } = factsOf(0, 109);
  const siteDaily = site.map((row, day) => (day < 97 ? row : { ...row, clicks: 21 }));
  await world.load({ keywords: KEYWORDS, site_daily: siteDaily, ...lists });
  const evaluate = () =>
    withFacts({ settings, catalog }, (facts) => evaluateProject({ catalog, facts }, 'Proj1', { now: () => LATER }));
  const first = await evaluate();
  t.ok(first!.opened.length > 0);
  await evaluate();
  const resolved = first!.opened.filter(({ resolvedAt }) => resolvedAt !== null);
  t.ok(resolved.length > 0);
  const list = async (): Promise<string[]> =>
    (await rows('channels', 'deliveries')).map(({ event, subject }) => `${event} ${subject}`);
  const expected = [
    ...first!.opened.map(({ id }) => `alert.opened ${id}`),
    ...resolved.map(({ id }) => `alert.resolved ${id}`),
  ];
  t.strictSame((await list()).toSorted(), expected.toSorted());
  while ((await send()).sent > 0);
  const { alerts } = (await world.ask('/alerts?limit=500')).body;
  for (const { body } of receiver.received) {
    const { type, data } = JSON.parse(body);
    const alert = alerts.find(({ id }: { id: string }) => id === data.alert.id);
    t.strictSame(data.alert, alert, `${type} has the alert as the API has it`);
  }
  // A note changes the texts of alerts that have resolved, which a new channel has not heard of.
  await add('webhook', '/later');
  const told = await list();
  const note = {
    id: '6f1c2e0a-0b1d-4c7e-9a55-000000000001',
    workspace_id: 'acme',
    project_id: 'Proj1',
    scope: 'project',
  };
  const days = { date: '2026-05-01', end_date: LAST, created_at: `${LAST}T00:00:00Z`, updated_at: `${LAST}T00:00:00Z` };
  await world.load({ notes: [{ ...note, ...days, category: 'technical', text: 'Moved.', author: 'Ada' }] });
  const { changed } = (await evaluate())!;
  t.ok(changed.some(({ resolvedAt }) => resolvedAt !== null));
  t.strictSame(await list(), told, 'nobody hears of it a second time');
  // Facts that change the past: what is open resolves.
  const open = first!.opened.filter(({ resolvedAt }) => resolvedAt === null);
  await world.load(
    { site_daily: factsOf(0, 109).site_daily.map((row) => ({ ...row, clicks: 20 })) },
    { replace: true },
  );
  await evaluate();
  const after = (await list()).filter((line) => !expected.includes(line));
  t.ok(after.every((line) => line.startsWith('alert.resolved ') && open.some(({ id }) => line.endsWith(id))));
});

t.test('an alert that rises to critical is no new event', async (t) => {
  const { world, add, rows, clock } = await makeScene(t, {}, [projectUntil(LAST)]);
  clock.at = LATER;
  await add('webhook', '/');
  const { catalog, settings } = world;
  const clicksOn = (at: number): number => (at < 90 ? 200 : at < 100 ? 130 : 20);
  const { site_daily: site } = factsOf(0, 109);
  await world.load({ site_daily: site.map((row, at) => ({ ...row, clicks: clicksOn(at) })) });
  const days = site.map(({ date }) => String(date));
  const evaluate = (at: number) =>
    withFacts({ settings, catalog }, (facts) =>
      evaluateProject({ catalog, facts }, 'Proj1', { now: () => LATER, asOf: days[at]! }),
    );
  const drops = async () => {
    const { alerts } = (await world.ask('/alerts?status=open&limit=500')).body;
    const open = alerts as { id: string; type: string; severity: string }[];
    return open.filter(({ type }) => type === 'traffic_drop').map(({ id, severity }) => [id, severity]);
  };
  await evaluate(99);
  const [[id] = []] = await drops();
  t.strictSame(await drops(), [[id, 'warning']]);
  const told = await rows('channels', 'deliveries');
  await evaluate(109);
  t.strictSame(await drops(), [[id, 'critical']]);
  t.strictSame(await rows('channels', 'deliveries'), told);
});

t.test('the sync: edges only, also where a run is killed between its windows', async (t) => {
  const { world, add, rows, send, receiver } = await makeScene(t);
  await add('slack', '/');
  const { catalog } = world;
  await catalog.transaction(async (tx) => putSyncProject(tx, 'Proj1', await readSyncProject(tx, 'Proj1')));
  const heard = async (): Promise<string[]> =>
    (await rows('channels', 'deliveries')).map(({ event }) => event!).toReversed();
  const [failed, recovered] = ['sync.failed', 'sync.recovered'];
  for (const [at, [syncStatus, reason, told]] of (
    [
      // The first run is no recovery, and warning to failed is no edge.
      ['ok', null, []],
      ['warning', 'quota', [failed]],
      ['failed', 'access_lost', [failed]],
      // A window of a run that fails in the end.
      ['ok', undefined, [failed]],
      ['warning', 'quota', [failed]],
      ['ok', null, [failed, recovered]],
      ['ok', null, [failed, recovered]],
      ['failed', 'access_lost', [failed, recovered, failed]],
    ] as const
  ).entries()) {
    await catalog.transaction(async (tx) => {
      await putSyncState(tx, 'Proj1', { syncStatus });
      if (reason !== undefined) await announceSyncStatus(tx, 'Proj1', { reason, at: at + 1 });
    });
    t.strictSame(await heard(), told, `${at}: ${syncStatus}`);
  }
  while ((await send()).sent > 0);
  const texts = receiver.received.map(({ body }) => String(JSON.parse(body).text).split('\n')[0]);
  t.ok(texts.includes('Sync of shop.example works again'));
  t.equal(texts.filter((text) => text === 'Sync of shop.example fails').length, 2);
});
