// A sync that waits for a load ends at once when it is stopped.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { LoadLock } from '../../server/catalog/catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { readLoadCounts } from '../../server/catalog/usage.ts';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { start, until } from '../process.ts';
import { isLocal } from '../stores.ts';
import { holds, type SyncWorld, syncWorld } from './sync-world.ts';

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
  await holds(t, world);
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
