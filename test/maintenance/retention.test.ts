// Retention drops whole months by the setting of each workspace, as if the server never had them.
import t, { type Test } from 'tap';
import { listManifest } from '../../server/catalog/fact-files.ts';
import { monthOf } from '../../server/domain/dates.ts';
import { keptFrom } from '../../server/domain/retention.ts';
import { pruneFacts } from '../../server/jobs/prune-facts.ts';
import { command } from '../command.ts';
import { restoreClock, setClock } from '../fakes/fake-clock.ts';
import { SECOND } from '../load/snapshots.ts';
import { transcripts } from '../transcript.ts';
import {
  facts,
  keyword,
  type LazyWorld,
  makeLazyWorld,
  NOW,
  ofProject,
  PROJECT,
  type Tables,
  WORKSPACE,
} from '../world.ts';

/** With 30 days until 2026-03-15, the month of 2026-02-14. */
const KEPT = '2026-02-01';

const ENTITIES: Tables = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, { ...SECOND, workspace_id: 'other' }],
};
const SITE = facts('date device', ['2026-01-31', 'mobile', 1, 2, 3], [KEPT, 'mobile', 4, 5, 6]);
const DAYS: Tables = {
  site_daily: [...SITE, ...ofProject('Proj2', SITE)],
  keywords: [keyword('Kw001', 'a')],
  keyword_daily: facts(
    'keyword_id date device',
    ['Kw001', '2026-01-31', 'mobile', 1, 2, 3],
    ['Kw001', KEPT, 'mobile', 4, 5, 6],
  ),
};
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

transcripts('retention');

const worldOf = (t: Test, rows: Tables, environment: NodeJS.ProcessEnv = {}): Promise<LazyWorld> => {
  // Commands have the clock of the process.
  setClock(NOW);
  t.teardown(restoreClock);
  // Two seconds for each request: there are more of them than a key may send in a minute.
  let now = NOW;
  return makeLazyWorld(t, { ...ENTITIES, ...rows }, { environment, now: () => (now += 2000) });
};

t.test('the job ends at once when it is stopped while it waits for a load, and has dropped nothing', async (t) => {
  const { settings, catalog } = await worldOf(t, DAYS, { ORDINATE_KEEP_DAYS: '30' });
  const before = await listManifest(catalog);
  const loading = (await catalog.locks.takeLoad('all'))!;
  const stop = new AbortController();
  const report = (step: string): void => {
    if (step === 'waiting for a load to end') stop.abort(new Error('the process ends'));
  };
  const context = { settings, catalog, log: LOG, now: () => NOW, report };
  await t.rejects(pruneFacts.run(context, stop.signal), { message: 'the process ends' });
  await loading.release();
  const free = await catalog.locks.takeLoad('all');
  t.ok(free, 'nor has it taken the lock');
  await free?.release();
  t.strictSame(await listManifest(catalog), before);
});

t.test('the job drops what the setting says, unless a workspace says otherwise', async (t) => {
  const world = await worldOf(t, DAYS, { ORDINATE_KEEP_DAYS: '30' });
  const firstDays = async (): Promise<Record<string, string>> => {
    const rows = (await listManifest(world.catalog)).filter(({ table }) => table === 'site_daily');
    return Object.fromEntries(rows.map(({ project, firstDay }) => [project, firstDay]));
  };
  const { settings, catalog } = world;
  const context = { settings, catalog, log: LOG, now: () => NOW, report: () => {} };
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'workspaces', 'set', 'other', '--keep-days', 'all'), {
    code: 0,
    stdout: /keeps all facts/,
  });
  t.strictSame(await pruneFacts.run(context, new AbortController().signal), { projects: 1 });
  t.strictSame(await firstDays(), { Proj1: KEPT, Proj2: '2026-01-31' });
  await command({ ORDINATE_DATA: world.dataFolder }, 'workspaces', 'set', 'other', '--keep-days', 'default');
  t.strictSame(await pruneFacts.run(context, new AbortController().signal), { projects: 1 });
  t.strictSame(await firstDays(), { Proj1: KEPT, Proj2: KEPT });
  t.strictSame(await pruneFacts.run({ ...context, now: () => NOW + 400 * 86_400_000 }, new AbortController().signal), {
    projects: 2,
  });
  t.strictSame(await listManifest(catalog), [], 'all months are older');
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'verify'), { code: 0 });
  t.match(await world.ask('/site?period=12m'), { status: 200, body: { totals: { clicks: 0 } } });
});

t.test('whole months are kept', async (t) => {
  for (const [days, first] of [
    [1, '2026-03-01'],
    [15, '2026-03-01'],
    [16, '2026-02-01'],
    [486, '2024-11-01'],
  ] as const) {
    t.equal(keptFrom(null, days, NOW), first);
    t.equal(keptFrom(days, 0, NOW), first, 'the number of the workspace comes first');
    t.ok(monthOf(first) <= '2026-03');
  }
  t.equal(keptFrom(null, 0, NOW), null);
  t.equal(keptFrom(0, 30, NOW), null);
});
