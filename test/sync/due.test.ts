// Projects are synced fairly: first numbers before history, and a stuck property does not delay others.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runProject } from '../../cli/sync.ts';
import type { Leases } from '../../server/catalog/leases.ts';
import { FileLeases } from '../../server/catalog/leases.ts';
import { findAnyProject } from '../../server/catalog/projects.ts';
import {
  NEVER_SYNCED,
  putSyncProject,
  putSyncRequest,
  putSyncState,
  readSyncProject,
} from '../../server/catalog/sync-projects.ts';
import { leaseOf, syncDueProjects } from '../../server/sync/due.ts';
import { command } from '../command.ts';
import { addProjects, holds, type SyncWorld, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;
/** The start of projects without a history. */
const MARCH = '2026-03-01';
const QUICK = {
  ORDINATE_THREADS: '1',
  ORDINATE_LISTS_WAIT_SECONDS: '1',
  ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
  ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
};

/** A project without keywords. */
const small = (t: Test, from = MARCH, environment: NodeJS.ProcessEnv = {}): Promise<SyncWorld> =>
  syncWorld(t, { from, since: MARCH, tracked: 0, environment });

/** More projects, each with a property of its own. */
async function addOthers(world: SyncWorld, ids: readonly string[], from: string): Promise<string[]> {
  const properties = ids.map((id) => `sc-domain:${id.toLowerCase()}.example`);
  for (const property of properties) {
    world.provider.model.addSite(property, world.searches);
    world.provider.give(property);
  }
  await addProjects(world, ids, from, properties);
  return properties;
}

interface DueOptions {
  readonly signal?: AbortSignal;
  readonly turns?: string[];
  readonly leases?: Leases;
  readonly onWait?: (project: string, why: string) => void;
}

/** Runs the projects that are due, as the background does. Each turn that begins is added to `turns`. */
function runDue(
  world: SyncWorld,
  {
    signal = new AbortController().signal,
    turns = [],
    leases = new FileLeases(world.dataFolder),
    ...more
  }: DueOptions = {},
) {
  const take = (id: string) => {
    turns.push(id);
    return leases.acquire(leaseOf(id));
  };
  const times = { now: () => world.clock, random: () => 0.5, lookAgain: 20, checkLease: 5 };
  return world.withStores((stores) => syncDueProjects(stores, { ...times, signal, take, ...more }));
}

/** Somebody asks for a sync of the first project. */
const request = ({ catalog, clock }: SyncWorld) =>
  catalog.transaction((tx) => putSyncRequest(tx, 'Proj1', clock * 1000));

t.test('each project gets its first numbers before the history of any other', async (t) => {
  const world = await small(t, '2025-12-28');
  const ids = ['Proj1', 'More0', 'More1', 'More2'];
  await addProjects(world, ids.slice(1), '2025-12-28');
  const turns: string[] = [];
  t.match(await runDue(world, { turns }), { synced: 4, failed: 0 });
  t.strictSame(turns.slice(0, ids.length).sort(), ids.toSorted());
  t.ok(turns.length > ids.length, 'their history takes further turns');
  for (const id of ids) {
    const { syncStatus, historyBackfilling } = (await findAnyProject(world.catalog, id))!;
    const { nextRunAt } = await readSyncProject(world.catalog, id);
    t.strictSame([syncStatus, historyBackfilling, nextRunAt], ['ok', false, (world.clock + 6 * HOUR) * 1000]);
  }
  world.provider.forget();
  t.match(await runDue(world), { synced: 0, failed: 0 });
  t.equal(world.provider.asked().length, 0, 'nothing is due');
  world.clock += 7 * HOUR;
  t.match(await runDue(world), { synced: 4 });
});

t.test('a sync that somebody asks for begins while long turns of others take all places', async (t) => {
  const world = await small(t);
  await addOthers(world, ['Long0', 'Long1', 'Long2'], '2026-01-01');
  const isSynced = () => world.lines.some(({ project, outcome }) => project === 'Proj1' && outcome === 'done');
  const waiting = { ...NEVER_SYNCED, lastRunAt: 1, nextRunAt: (world.clock + HOUR) * 1000 };
  await putSyncProject(world.catalog, 'Proj1', { ...waiting, firstDay: MARCH });
  const held = new Set<string>();
  world.provider.onRequest = async ({ property = '', request: asked }) => {
    if (asked === undefined || asked.to >= '2026-02-16' || isSynced()) return;
    // All places are taken by histories, which go on when Proj1 has been synced.
    const isLast = held.size === 2 && !held.has(property);
    held.add(property);
    if (isLast) await request(world);
    while (!isSynced()) await sleep(5);
  };
  t.match(await runDue(world), { synced: 4, failed: 0 });
  t.ok(isSynced());
});

t.test('a project whose history is being fetched gets its newest days first when somebody asks', async (t) => {
  const world = await small(t, '2026-01-01');
  let isAsked = false;
  let later = 0;
  world.provider.onRequest = async ({ request: asked }) => {
    if (asked === undefined || asked.to >= '2026-02-16') return;
    if (isAsked) later++;
    if (isAsked) return;
    isAsked = true;
    world.clock += 1000;
    await request(world);
    world.clock += 1000;
  };
  await runDue(world);
  const part = world.lines.find(({ outcome }) => outcome === 'part');
  t.match(part, { windows: 2 });
  t.ok(later > 0, 'and the history goes on');
  await holds(t, world);
});

t.test('new days of one project go before the history of others, also while that is under way', async (t) => {
  const world = await small(t, '2026-01-01');
  await addProjects(world, ['Other'], MARCH);
  const turns: string[] = [];
  let isLater = false;
  world.provider.onRequest = async ({ request: asked }) => {
    if (isLater || asked?.dimensions.join() !== 'date,device' || asked.to >= '2026-02-16') return;
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
  const world = await small(t, MARCH, { ORDINATE_LISTS_WAIT_SECONDS: '3' });
  const ids = ['Hang0', 'Hang1', 'Hang2', 'Hang3'];
  const properties = await addOthers(world, ids, MARCH);
  const lastSuccess = async () => (await readSyncProject(world.catalog, 'Proj1')).lastSuccessAt;
  let before: number | null = null;
  world.provider.onRequest = async ({ property = '' }) => {
    while (properties.includes(property) && (await lastSuccess()) === before) await sleep(5);
  };
  const turns: string[] = [];
  t.match(await runDue(world, { turns }), { synced: 5, failed: 0 });
  t.strictSame(turns.toSorted(), [...ids, 'Proj1'], 'a property that answers again is finished by the same run');
  t.not(turns[0], 'Proj1', 'those that hang were first');

  before = await lastSuccess();
  const settings = { ...QUICK, ORDINATE_DATA: world.dataFolder };
  const { code, stdout, stderr } = await command(settings, 'sync', '--project', ...ids, 'Proj1');
  t.equal(code, 0, stderr);
  t.strictSame(stdout.match(/^\w+\d/gm), [...ids, 'Proj1'], 'the results are in the order of the projects');
});

t.test('projects that wait for a load hold up no others, and are said to wait', async (t) => {
  const world = await small(t, MARCH, QUICK);
  // One more than are synced at once.
  await addProjects(world, ['More0', 'More1', 'More2'], MARCH);
  const loading = await world.catalog.locks.takeLoad('all');
  const waiting = new Set<string>();
  let released: Promise<void> | undefined;
  const onWait = (project: string, why: string): void => {
    if (why === 'waiting for a load to end') waiting.add(project);
    if (waiting.size > 3) released ??= loading!.release();
  };
  t.match(await runDue(world, { onWait }), { synced: 4, failed: 0 });
  await released;
  await holds(t, world);
});

t.test('a lease that cannot be taken or released: it is logged, and holds up no project', async (t) => {
  const world = await small(t);
  await addProjects(world, ['More0', 'More1', 'More2'], MARCH);
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
  const errors = world.lines.filter(({ err }) => err !== undefined);
  const err = { message: 'the database is away' };
  t.match(errors, [
    { project: 'More0', err },
    { project: 'More1', err },
  ]);
  isBroken = false;
  world.clock += 60_000;
  t.match(await runDue(world, { leases }), { synced: 1, failed: 0 }, 'it is tried again');
});

t.test('a project is run by one at a time, and not again by who got its lease late', async (t) => {
  const world = await small(t);
  const leases = new FileLeases(world.dataFolder);
  const lease = await leases.acquire(leaseOf('Proj1'));
  t.match(await runDue(world), { synced: 0, failed: 0 }, 'the background leaves it to the other');
  const waiting = world.withStores((stores) => runProject(stores, 'Proj1', { now: () => world.clock }));
  await sleep(0);
  t.equal(world.provider.asked().length, 0, 'the command waits');
  await lease!.release();
  t.match(await waiting, { outcome: 'done' });
  await holds(t, world);

  world.clock += 7 * HOUR;
  const late: Leases = {
    acquire: async (name) => {
      // Another process takes it, and is ready before this one gets the lease.
      t.match(await world.sync(), { outcome: 'done' });
      world.provider.forget();
      return leases.acquire(name);
    },
  };
  t.match(await runDue(world, { leases: late }), { synced: 0, failed: 0 });
  t.equal(world.provider.asked('all').length, 0);
});

t.test('a sync whose lease is lost publishes nothing more; whoever has the lease then goes on', async (t) => {
  const world = await small(t);
  let isLost = false;
  const noticed = Promise.withResolvers<void>();
  world.provider.onRequest = async ({ request: asked }) => {
    // In the middle of the first window.
    if (!asked?.dimensions.includes('country')) return;
    isLost = true;
    await noticed.promise;
  };
  const isHeld = async (): Promise<boolean> => {
    if (isLost) setImmediate(noticed.resolve);
    return !isLost;
  };
  const leases: Leases = { acquire: async () => ({ isHeld, release: async () => {} }) };
  t.match(await runDue(world, { leases }), { synced: 0, failed: 1 });
  const errors = world.lines.filter(({ err }) => err !== undefined);
  t.match(errors, [{ project: 'Proj1', err: { message: /lease of the project was lost/ } }]);
  t.strictSame(await world.stored('site_daily'), []);
  t.match(await world.project(), { syncStatus: 'pending' }, 'nothing is wrong with the project');
  world.provider.onRequest = () => {};
  t.match(await runDue(world), { synced: 1, failed: 0 });
  await holds(t, world);
});
