// On a full disk the sync loses nothing, reports the cause, and continues once there is space.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { syncProjects } from '../../server/jobs/sync-projects.ts';
import { smallDisk } from '../small-disk.ts';
import { temporaryFolder } from '../world.ts';
import { holds, NOW, syncWorld } from './sync-world.ts';

const HOUR = 3_600_000;

t.test('a full disk: nothing is lost or mixed, the status says why, and it continues by itself', async (t) => {
  const folder = join(temporaryFolder(t), 'disk');
  const disk = smallDisk(t, folder, 24);
  if (disk === undefined) {
    t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
    return;
  }
  const from = '2025-12-01';
  const world = await syncWorld(t, { folder, from, since: '2025-12-05', environment: { ORDINATE_MIN_FREE: '0MB' } });
  const { provider } = world;
  const isOfHistory = ({ request }: { request?: { to: string } }): boolean => (request?.to ?? NOW) < '2026-02-16';
  for (const { where, isReached, left } of [
    { where: 'the newest days', isReached: () => true, left: 0 },
    // What is left is enough for some of the rows, and then for more and more of what is made of them.
    ...[0, 0.1, 0.2, 0.4].map((megabytes) => {
      return { where: `the history, ${megabytes} MB left`, isReached: isOfHistory, left: megabytes * 1_000_000 };
    }),
  ]) {
    const before = await world.status();
    provider.forget();
    let isFull = false;
    provider.onRequest = (entry) => {
      if (isFull || !isReached(entry)) return;
      isFull = true;
      disk.fill(left);
    };
    const { code, stdout } = await world.run(['sync']);
    const after = await world.status();
    disk.clear();
    provider.onRequest = () => {};
    t.ok(after.backfill.done >= before.backfill.done, `${where}: ${after.backfill.done} days are in`);
    if (after.status === 'ok') break;
    t.match({ code, stdout, status: after.status }, { code: 1, stdout: /disk-full/, status: 'warning' });
    t.match(after.lastError, /^The disk of the data folder is full; .* continues by itself/);
    t.notMatch(stdout, /^ {4}at /m, 'no stack trace');
    const firstDay = after.tables.site_daily.firstDay ?? '2026-03-16';
    await holds(t, world, { from: firstDay }, where);
    const leftovers = ['staging', 'temporary'].map((name) => join(folder, 'data', name));
    t.strictSame(
      leftovers.filter((name) => existsSync(name)).flatMap((name) => readdirSync(name)),
      [],
    );
    t.match(await world.run(['verify']), { code: 0 }, where);
    world.clock += HOUR;
  }
  // A run is due, of whatever is left.
  world.clock += 6 * HOUR;
  const { firstDay } = (await world.status()).tables.site_daily;
  provider.forget();
  await world.job(syncProjects);
  t.match(world.lines.at(-1), { outcome: 'done' });
  const again = provider.asked().filter(({ request }) => request.to >= firstDay && request.from < '2026-03-02');
  t.strictSame(again, [], 'what is published is not requested again');
  await holds(t, world, {}, 'in the end');
  t.match(await world.status(), { status: 'ok', lastError: null });
});
