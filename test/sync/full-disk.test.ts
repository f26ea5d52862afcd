// On a full disk the sync loses nothing, reports the cause, and continues once there is space.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { syncProjects } from '../../server/jobs/sync-projects.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { smallDisk } from '../small-disk.ts';
import { temporaryFolder } from '../world.ts';
import { HOUR, holdsAll, makeSearches, NOW, newWorld, type OperatorWorld, setClock, wanted } from './operator-world.ts';

/** Runs what is due, as the background does it; returns the lines of its log. */
async function runDue({ settings }: OperatorWorld): Promise<object[]> {
  const read = readSettings(settings);
  await using catalog = await openCatalog(sqliteIn(read.dataFolder));
  const lines: object[] = [];
  const keep = (line: object): void => void lines.push(line);
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  const context = { settings: read, catalog, log, now: Date.now, report: () => {} };
  await syncProjects.run(context, new AbortController().signal);
  return lines;
}

t.test('a full disk: nothing is lost or mixed, the status says why, and it continues by itself', async (t) => {
  const folder = join(temporaryFolder(t), 'disk');
  const disk = smallDisk(t, folder, 24);
  if (disk === undefined) {
    t.pass('not run', { skip: 'a small disk cannot be mounted here; that takes Linux and its root' });
    return;
  }
  const world = await newWorld(t, {
    dataFolder: join(folder, 'data'),
    from: '2025-12-01',
    searches: makeSearches({ since: '2025-12-05' }),
    settings: { ORDINATE_MIN_FREE: '0MB' },
  });
  const { provider } = world;
  const isOfHistory = ({ request }: { request?: { to: string } }): boolean => (request?.to ?? NOW) < '2026-02-16';
  let now = NOW;
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
    const { code, stdout } = await world.ordinate('sync');
    const after = await world.status();
    disk.clear();
    provider.onRequest = () => {};
    t.ok(after.backfill.done >= before.backfill.done, `${where}: ${after.backfill.done} days are in`);
    if (after.status === 'ok') break;
    t.match({ code, stdout, status: after.status }, { code: 1, stdout: /disk-full/, status: 'warning' });
    t.match(after.lastError, /^The disk of the data folder is full; .* continues by itself/);
    t.notMatch(stdout, /^ {4}at /m, 'no stack trace');
    const firstDay = after.tables.site_daily.firstDay ?? '2026-03-16';
    await holdsAll(t, world, wanted(world, { from: firstDay }), where);
    const leftovers = ['staging', 'temporary'].map((name) => join(folder, 'data', name));
    t.strictSame(
      leftovers.filter((name) => existsSync(name)).flatMap((name) => readdirSync(name)),
      [],
    );
    t.match(await world.ordinate('verify'), { code: 0 }, where);
    now += HOUR;
    setClock(now);
  }
  // A run is due, of whatever is left.
  setClock(now + 6 * HOUR);
  const { firstDay } = (await world.status()).tables.site_daily;
  provider.forget();
  t.match((await runDue(world)).at(-1), { outcome: 'done' });
  const again = provider.asked().filter(({ request }) => request.to >= firstDay && request.from < '2026-03-02');
  t.strictSame(again, [], 'what is published is not requested again');
  await holdsAll(t, world, wanted(world), 'in the end');
  t.match(await world.status(), { status: 'ok', lastError: null });
});
