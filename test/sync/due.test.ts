import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { runProject } from '../../scripts/sync.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import { NEVER_SYNCED, putSyncProject, readSyncProject } from '../../server/catalog/sync-projects.ts';
import { FileLeases } from '../../server/jobs/leases.ts';
import { syncProjects } from '../../server/jobs/sync-projects.ts';
import { leaseOf, syncDueProjects } from '../../server/sync/due.ts';
import { connect } from '../fakes/connected.ts';
import { PROJECT } from '../world.ts';
import { type SyncWorld, sameFacts, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;

/** Runs the projects that are due, as the background does. */
function runDue(world: SyncWorld, signal = new AbortController().signal) {
  const leases = new FileLeases(world.dataFolder);
  const take = (id: string) => leases.acquire(leaseOf(id));
  const now = (): number => world.clock;
  return world.withStores((stores) => syncDueProjects(stores, { now, random: () => 0.5, signal, take }));
}

t.test('each project gets its first numbers before the history of any other', async (t) => {
  const from = '2025-12-01';
  const world = await syncWorld(t, { from, since: '2026-03-01', tracked: 0 });
  const ids = ['Proj1', ...Array.from({ length: 3 }, (_, index) => `More${index}`)];
  await world.load({ projects: ids.slice(1).map((id) => ({ ...PROJECT, id, synced_through: null })) });
  const { credentials, url: endpoint, tokenUrl: tokenEndpoint } = world.provider;
  for (const id of ids.slice(1)) {
    await connect(world.catalog, { credentials, endpoint, tokenEndpoint, archive: 'none' }, id);
    await putSyncProject(world.catalog, id, { ...NEVER_SYNCED, firstDay: from });
  }
  t.match(await runDue(world), { synced: 4, failed: 0 });
  const lines = world.lines.filter(({ outcome }) => outcome !== undefined);
  const firstEnd = lines.findIndex(({ outcome }) => outcome === 'done');
  const begun = new Set(lines.slice(0, firstEnd).map(({ project }) => project));
  t.equal(begun.size, ids.length, 'all have begun before one has ended');
  for (const id of ids) {
    t.match(await findAnyProject(world.catalog, id), { syncStatus: 'ok', historyBackfilling: false });
    const { nextRunAt } = await readSyncProject(world.catalog, id);
    t.equal(nextRunAt, (world.clock + 6 * HOUR) * 1000);
  }
  world.provider.forget();
  t.match(await runDue(world), { synced: 0, failed: 0 });
  t.equal(world.provider.asked().length, 0, 'nothing is due');
  world.clock += 7 * HOUR;
  t.match(await runDue(world), { synced: 4 });
});

t.test('a project is run by one at a time', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  const leases = new FileLeases(world.dataFolder);
  const lease = await leases.acquire(leaseOf('Proj1'));
  t.match(await runDue(world), { synced: 0, failed: 0 }, 'the background leaves it to the other');
  t.equal(world.provider.asked().length, 0);
  const waiting = world.withStores((stores) => runProject(stores, 'Proj1', { now: () => world.clock }));
  await sleep(0);
  t.equal(world.provider.asked().length, 0, 'the command waits');
  await lease!.release();
  t.match(await waiting, { outcome: 'done' });
  await sameFacts(t, world);
});

t.test('what is stopped goes on', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  const stopping = new AbortController();
  let asked = 0;
  world.provider.onRequest = () => {
    if (++asked === 12) stopping.abort();
  };
  await t.rejects(runDue(world, stopping.signal));
  world.provider.onRequest = () => {};
  t.equal((await world.project()).syncStatus, 'pending', 'nothing is wrong with it');
  t.match(await runDue(world), { synced: 1 });
  await sameFacts(t, world);
});

t.test('what fails is tried again later, and the service says so after a day and a half at the latest', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  t.match(await runDue(world), { synced: 1 });
  world.clock += 7 * HOUR;
  world.provider.fail('reset');
  t.match(await runDue(world), { failed: 1 });
  t.match(await world.project(), { syncStatus: 'warning', syncedThrough: '2026-03-15' });
  const { nextRunAt, lastError } = await readSyncProject(world.catalog, 'Proj1');
  t.equal(nextRunAt, (world.clock + HOUR / 4) * 1000);
  t.match(lastError, /returned errors or invalid responses/);

  world.provider.heal();
  world.clock += HOUR;
  t.match(await runDue(world), { synced: 1 });
  t.equal((await world.project()).syncStatus, 'ok');
  world.clock += 37 * HOUR;
  const { catalog } = world;
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const context = {
    settings: { ...world.settings, sync: false },
    catalog,
    log,
    now: () => world.clock,
    report: () => {},
  };
  t.strictSame(await syncProjects.run(context, new AbortController().signal), {});
  t.equal((await world.project()).syncStatus, 'warning');
});

t.test('quota ends a run with a warning', async (t) => {
  const world = await syncWorld(t, { tracked: 0 });
  await world.sync({ maxWindows: 1 });
  world.provider.model.quotas.options.load = 1;
  t.match(await world.sync(), { outcome: 'quota', reason: /quota .* is exhausted/ });
  t.equal((await world.project()).syncStatus, 'warning');
  world.provider.model.quotas.options.load = Number.POSITIVE_INFINITY;
  t.match(await world.sync(), { outcome: 'quota', requests: 0 }, 'nothing is asked in the pause');
  world.clock += HOUR;
  t.match(await world.sync(), { outcome: 'done' });
  t.equal((await world.project()).syncStatus, 'ok');
  await sameFacts(t, world);
});
