// Projects are synced fairly: first numbers before history, and a stuck property does not delay others.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { runProject } from '../../cli/sync.ts';
import { FileLeases } from '../../server/catalog/file-leases.ts';
import type { Leases } from '../../server/catalog/leases.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import {
  NEVER_SYNCED,
  putSyncProject,
  putSyncRequest,
  putSyncState,
  readSyncProject,
} from '../../server/catalog/sync-projects.ts';
import { syncProjects } from '../../server/jobs/sync-projects.ts';
import { leaseOf, syncDueProjects } from '../../server/sync/due.ts';
import { command } from '../command.ts';
import { withoutPauses } from '../fakes/without-pauses.ts';
import { addProjects, type SyncWorld, sameFacts, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
/** Settings of commands: a provider that has not answered for a sixth of the wait is slow. */
const QUICK = {
  ORDINATE_THREADS: '1',
  ORDINATE_LISTS_WAIT_SECONDS: '1',
  ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
  ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
};

/** Runs the projects that are due, as the background does. Each turn that begins is added to `turns`. */
function runDue(
  world: SyncWorld,
  {
    signal = new AbortController().signal,
    turns = [],
    leases = new FileLeases(world.dataFolder),
  }: { signal?: AbortSignal; turns?: string[]; leases?: Leases } = {},
) {
  const take = (id: string) => {
    turns.push(id);
    return leases.acquire(leaseOf(id));
  };
  const now = (): number => world.clock;
  return world.withStores((stores) => syncDueProjects(stores, { now, random: () => 0.5, signal, take, lookAgain: 20 }));
}

t.test('each project gets its first numbers before the history of any other', async (t) => {
  const from = '2025-12-28';
  const world = await syncWorld(t, { from, since: '2026-03-01', tracked: 0 });
  const ids = ['Proj1', ...Array.from({ length: 3 }, (_, index) => `More${index}`)];
  await addProjects(world, ids.slice(1), from);
  const turns: string[] = [];
  t.match(await runDue(world, { turns }), { synced: 4, failed: 0 });
  t.strictSame(turns.slice(0, ids.length).sort(), ids.toSorted());
  t.ok(turns.length > ids.length, 'their history takes further turns');
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

t.test('a sync that somebody asks for fetches fresh days again, and once', async (t) => {
  const from = '2026-03-01';
  const world = await syncWorld(t, { from, since: from, tracked: 0 });
  await runDue(world);
  world.clock += HOUR;
  world.provider.forget();
  t.match(await runDue(world), { synced: 0 }, 'nothing is due');
  await world.catalog.transaction((tx) => putSyncRequest(tx, 'Proj1', world.clock * 1000));
  world.clock += 1000;
  t.match(await runDue(world), { synced: 1, failed: 0 });
  const days = world.provider.asked().filter(({ request }) => request?.dimensions.includes('device'));
  t.ok(days.length > 0, 'days that are not final');
  t.match(await runDue(world), { synced: 0 }, 'once');
  await sameFacts(t, world);
});

t.test('a sync that somebody asks for begins while long turns of others take all places', async (t) => {
  const world = await syncWorld(t, { from: '2026-03-01', since: '2026-03-01', tracked: 0 });
  const others = Array.from({ length: 3 }, (_, index) => `Long${index}`);
  const properties = others.map((id) => `sc-domain:${id.toLowerCase()}.example`);
  for (const property of properties) {
    world.provider.model.addSite(property, world.searches);
    world.provider.give(property);
  }
  await addProjects(world, others, '2026-01-01', properties);
  const isSynced = () => world.lines.some(({ project, outcome }) => project === 'Proj1' && outcome === 'done');
  const waiting = { ...NEVER_SYNCED, lastRunAt: 1, nextRunAt: (world.clock + HOUR) * 1000 };
  await putSyncProject(world.catalog, 'Proj1', { ...waiting, firstDay: '2026-03-01' });
  const held = new Set<string>();
  world.provider.onRequest = async ({ property = '', request }) => {
    if (request === undefined || request.to >= '2026-02-16' || isSynced()) return;
    // All places are taken by histories, which go on when Proj1 has been synced.
    const isLast = held.size === 2 && !held.has(property);
    held.add(property);
    if (isLast) await world.catalog.transaction((tx) => putSyncRequest(tx, 'Proj1', world.clock * 1000));
    while (!isSynced()) await sleep(5);
  };
  t.match(await runDue(world), { synced: 4, failed: 0 });
  t.ok(isSynced());
});

t.test('a project whose history is being fetched gets its newest days first when somebody asks', async (t) => {
  const world = await syncWorld(t, { from: '2026-01-01', since: '2026-03-01', tracked: 0 });
  let isAsked = false;
  let later = 0;
  world.provider.onRequest = async ({ request }) => {
    if (request === undefined) return;
    if (isAsked && request.to < '2026-02-16') later++;
    if (isAsked || request.to >= '2026-02-16') return;
    isAsked = true;
    world.clock += 1000;
    await world.catalog.transaction((tx) => putSyncRequest(tx, 'Proj1', world.clock * 1000));
    world.clock += 1000;
  };
  const turns: string[] = [];
  const before = world.lines.length;
  await runDue(world, { turns });
  t.match(
    world.lines.slice(before).find(({ outcome }) => outcome === 'part'),
    { windows: 2 },
  );
  t.ok(later > 0, 'and the history goes on');
  await sameFacts(t, world);
});

t.test('new days of one project go before the history of others, also while that is under way', async (t) => {
  const world = await syncWorld(t, { from: '2026-01-01', since: '2026-03-01', tracked: 0 });
  await addProjects(world, ['Other'], '2026-03-01');
  const turns: string[] = [];
  let isLater = false;
  world.provider.onRequest = async ({ request }) => {
    if (isLater || request?.dimensions.join() !== 'date,device' || request.to >= '2026-02-16') return;
    // In the middle of the history of Proj1: Other has been synced, and time passes.
    while (!world.lines.some(({ project, outcome }) => project === 'Other' && outcome === 'done')) await sleep(5);
    if (!isLater) world.clock += 7 * HOUR;
    isLater = true;
  };
  t.match(await runDue(world, { turns }), { synced: 3, failed: 0 });
  t.equal(turns.filter((id) => id === 'Other').length, 2);
  // Both are due, and who has a history to fetch has waited longer.
  world.clock += 8 * HOUR;
  const waited = await readSyncProject(world.catalog, 'Proj1');
  await putSyncProject(world.catalog, 'Proj1', { ...waited, nextRunAt: 0 });
  await world.catalog.transaction((tx) => putSyncState(tx, 'Proj1', { historyBackfilling: true }));
  const next: string[] = [];
  await runDue(world, { turns: next });
  t.strictSame(next, ['Other', 'Proj1']);
});

t.test('properties that hang hold up no other, neither in the background nor in the command', async (t) => {
  const from = '2026-03-01';
  const environment = { ORDINATE_LISTS_WAIT_SECONDS: '3' };
  const world = await syncWorld(t, { from, since: from, tracked: 0, environment });
  const ids = Array.from({ length: 4 }, (_, index) => `Hang${index}`);
  const properties = ids.map((id) => `sc-domain:${id.toLowerCase()}.example`);
  for (const property of properties) {
    world.provider.model.addSite(property, world.searches);
    world.provider.give(property);
  }
  await addProjects(world, ids, from, properties);
  let isOtherSynced = async (): Promise<boolean> => true;
  world.provider.onRequest = async ({ property }) => {
    if (property === undefined || !properties.includes(property)) return;
    while (!(await isOtherSynced())) await sleep(5);
  };
  const lastSuccess = async () => (await readSyncProject(world.catalog, 'Proj1')).lastSuccessAt;
  isOtherSynced = async () => (await lastSuccess()) !== null;
  const turns: string[] = [];
  t.match(await runDue(world, { turns }), { synced: 5, failed: 0 });
  t.strictSame(turns.toSorted(), [...ids, 'Proj1'], 'a property that answers again is finished by the same run');
  t.not(turns[0], 'Proj1', 'those that hang were first');

  const before = await lastSuccess();
  isOtherSynced = async () => (await lastSuccess()) !== before;
  const settings = { ...QUICK, ORDINATE_DATA: world.dataFolder };
  const { code, stdout, stderr } = await command(settings, 'sync', '--project', ...ids, 'Proj1');
  t.equal(code, 0, stderr);
  t.strictSame(stdout.match(/^\w+\d/gm), [...ids, 'Proj1'], 'the results are in the order of the projects');
});

t.test('a lease that cannot be taken or released: it is logged, and holds up no project', async (t) => {
  const from = '2026-03-01';
  const world = await syncWorld(t, { from, since: from, tracked: 0 });
  await addProjects(world, ['More0', 'More1', 'More2'], from);
  const own = new FileLeases(world.dataFolder);
  const broken = (): Promise<never> => Promise.reject(new Error('the database is away'));
  let isBroken = true;
  const leases: Leases = {
    acquire: async (name) => {
      if (isBroken && name === leaseOf('More0')) return broken();
      const lease = await own.acquire(name);
      if (lease === undefined || !isBroken || name !== leaseOf('More1')) return lease;
      return { ...lease, release: () => lease.release().then(broken) };
    },
  };
  t.match(await runDue(world, { leases }), { synced: 3, failed: 1 });
  t.match(
    world.lines.filter(({ err }) => err !== undefined),
    [
      { project: 'More0', err: { message: 'the database is away' } },
      { project: 'More1', err: { message: 'the database is away' } },
    ],
  );
  isBroken = false;
  world.clock += 60_000;
  t.match(await runDue(world, { leases }), { synced: 1, failed: 0 }, 'it is tried again');
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
  await t.rejects(runDue(world, { signal: stopping.signal }));
  world.provider.onRequest = () => {};
  t.equal((await world.project()).syncStatus, 'pending', 'nothing is wrong with it');
  t.match(await runDue(world), { synced: 1 });
  await sameFacts(t, world);
});

t.test('what fails is tried again later, and the service says so after a day and a half at the latest', async (t) => {
  withoutPauses(t);
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
