// A sync that waits for a load holds up no other project, and ends at once when it is stopped.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readLoadCounts } from '../../server/catalog/load-counts.ts';
import type { LoadLock } from '../../server/catalog/locks.ts';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import { leaseOf, syncDueProjects } from '../../server/sync/due.ts';
import { command } from '../command.ts';
import { start, until } from '../process.ts';
import { isLocal } from '../stores.ts';
import { addProjects, type SyncWorld, sameFacts, syncWorld } from './sync-world.ts';

const FROM = '2026-03-01';
/** A wait of a sixth of this is long. */
const QUICK = { ORDINATE_LISTS_WAIT_SECONDS: '1' };
const WHY = 'waiting for a load to end';

/** As a load does, for as long as the test wants. */
async function load({ catalog }: SyncWorld): Promise<LoadLock> {
  return (await catalog.locks.takeLoad('all'))!;
}

function temporary({ dataFolder }: SyncWorld, folder: string): string[] {
  return readdirSync(join(dataFolder, folder), { recursive: true, encoding: 'utf8' });
}

t.test('a sync that is stopped while it waits ends at once, and leaves nothing locked or half written', async (t) => {
  const world = await syncWorld(t, { from: FROM, since: FROM, tracked: 0, environment: QUICK });
  const before = await world.project();
  const loading = await load(world);
  const stop = new AbortController();
  // On a busy machine, the provider is waited for, too.
  const onWait = (why: string): void => {
    if (why === WHY) stop.abort(new Error('the process ends'));
  };
  await t.rejects(world.sync({ signal: stop.signal, onWait }), { message: 'the process ends' });
  t.strictSame(temporary(world, 'temporary'), [], 'nothing that was fetched');
  t.match(await world.project(), { factsRevision: before.factsRevision, syncedThrough: null });
  await loading.release();
  const free = await load(world);
  t.ok(free, 'it has not taken the lock meanwhile');
  await free.release();
  const usage = openUsage(world.settings, () => {});
  const counts = await readLoadCounts(usage);
  await usage.close();
  t.notOk(
    counts.some(({ kind }) => kind === 'sync'),
    'no load has failed',
  );
  t.match(await world.sync(), { outcome: 'done' });
  await sameFacts(t, world);
});

t.test('projects that wait for a load hold up no others, and are said to wait', async (t) => {
  const world = await syncWorld(t, { from: FROM, since: FROM, tracked: 0, environment: QUICK });
  // One more than are synced at once.
  const more = ['More0', 'More1', 'More2'];
  await addProjects(world, more, FROM);
  const loading = await load(world);
  const waiting = new Set<string>();
  const allWait = Promise.withResolvers<void>();
  const released = allWait.promise.then(() => loading.release());
  const onWait = (project: string, why: string): void => {
    if (why === WHY) waiting.add(project);
    if (waiting.size > more.length) allWait.resolve();
  };
  const leases = openLeases(world.settings);
  const take = (id: string) => leases.acquire(leaseOf(id));
  const { signal } = new AbortController();
  const options = { now: () => world.clock, random: () => 0.5, signal, take, onWait, lookAgain: 20 };
  t.match(await world.withStores((stores) => syncDueProjects(stores, options)), { synced: 4, failed: 0 });
  await released;
  await sameFacts(t, world);
});

t.test('the process of background jobs ends by itself while a sync waits', { skip: !isLocal }, async (t) => {
  const from = addDays(pacificDayOf(Date.now()), -5);
  const world = await syncWorld(t, { from, clock: Date.now, tracked: 0 });
  const loading = await load(world);
  const settings = { ORDINATE_DATA: world.dataFolder, ...QUICK };
  const job = async () => {
    const { stdout } = await command(settings, 'jobs', 'status', '--json');
    const all = JSON.parse(stdout) as { job: string; state: string; progress: string | null; failures: number }[];
    return all.find((each) => each.job === 'sync-projects')!;
  };
  const worker = start(t, settings, 'work');
  await until('the sync to wait', async () => (await job()).progress?.includes(WHY) || undefined);
  worker.child.kill('SIGTERM');
  t.match(await worker.ended, { code: 0 });
  t.match(await job(), { state: 'stopped', failures: 0 });
  await loading.release();
});
