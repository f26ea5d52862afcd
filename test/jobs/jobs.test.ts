// Background jobs delete only files that no request can read, and refresh lists in use before clients wait.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { findSmallFactFile } from '../../server/catalog/fact-files.ts';
import { listStoredLists } from '../../server/catalog/stored-lists.ts';
import { setKeepDays } from '../../server/catalog/workspaces.ts';
import { copyCatalog } from '../../server/jobs/copy-catalog.ts';
import type { Job, JobContext } from '../../server/jobs/job.ts';
import { refreshLists } from '../../server/jobs/refresh-lists.ts';
import { sweepFacts } from '../../server/jobs/sweep-facts.ts';
import { FileLock } from '../../server/runtime/file-lock.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { facts, makeWorld, type World } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Runs a job once over a world, at a time. */
function runOnce(job: Job, world: World, now: number, log: string[] = []): ReturnType<Job['run']> {
  const note = (line: unknown, message?: string): void => void log.push(message ?? String(line));
  const context: JobContext = {
    settings: world.settings,
    catalog: world.catalog,
    log: { debug: note, info: note, warn: note, error: note },
    now: () => now,
    report: () => {},
  };
  return job.run(context, new AbortController().signal);
}

const SITE = facts('date device', ['2026-03-01', 'mobile', 1, 2, 0]);
const OTHER = facts('date device', ['2026-03-01', 'mobile', 3, 4, 0]);

t.test(
  'files that a load replaced are removed when no request can be reading them; not while a load runs',
  async (t) => {
    const world = await makeWorld(t, { site_daily: SITE });
    const file = async (): Promise<string> => (await findSmallFactFile(world.catalog))!.file;
    const replaced = join(world.dataFolder, await file());
    await world.load({ site_daily: OTHER });
    t.not(join(world.dataFolder, await file()), replaced);
    const later = Date.now() + 2 * HOUR;

    t.strictSame(await runOnce(sweepFacts, world, Date.now()), { removed: 0 });
    t.ok(existsSync(replaced), 'a request may be reading it');
    const load = FileLock.take(join(world.dataFolder, 'load.lock'));
    t.match(await runOnce(sweepFacts, world, later), { skipped: /load/ });
    t.ok(existsSync(replaced));
    load?.release();
    t.strictSame(await runOnce(sweepFacts, world, later), { removed: 1 });
    t.notOk(existsSync(replaced));
    t.match((await world.ask('/site')).body.totals, { clicks: 3 });
  },
);

t.test('the catalog is copied if it has changed', async (t) => {
  const world = await makeWorld(t, { site_daily: SITE });
  await setKeepDays(world.catalog, 'acme', 4000);
  t.match(await runOnce(copyCatalog, world, Date.now()), { changes: Number });
  t.strictSame(await runOnce(copyCatalog, world, Date.now()), {}, 'nothing has changed');
});

t.test('a folder that looks like that of another catalog is left alone, with a warning', async (t) => {
  const world = await makeWorld(t, { site_daily: SITE });
  const file = (await findSmallFactFile(world.catalog))!.file;
  await world.catalog.statements.run('fact-files.clear');
  await world.catalog.statements.run('fact-files.forget_all_retired');
  const log: string[] = [];
  // A day later than the load, which has looked for orphans itself.
  await runOnce(sweepFacts, world, Date.now() + 25 * HOUR, log);
  t.match(log, [/unknown to the catalog/]);
  t.ok(existsSync(join(world.dataFolder, file)));
});

t.test('lists that expired and are read often are fetched again, so that nobody waits', async (t) => {
  const world = await connectedWorld(t);
  const { google } = world;
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  const provisional = '/pages?from=2026-03-01&to=2026-03-14';
  for (let hit = 0; hit < 4; hit++) await world.ask(provisional);
  for (const path of ['/queries?from=2026-03-01&to=2026-03-14', '/pages?from=2026-02-01&to=2026-02-10']) {
    await world.ask(path);
  }
  t.equal(google.requests.length, 3);
  // What was read is written once a minute, and when a server ends.
  const usage = new DatabaseSync(join(world.dataFolder, 'usage.sqlite'));
  t.teardown(() => usage.close());
  const [often] = (await listStoredLists(world.catalog, 'Proj1')).filter(
    ({ kind, final }) => kind === 'pages' && !final,
  );
  usage.prepare('update list_uses set hits = 4, used_at = ? where file = ?').run(world.clock * 1000, often!.file);

  t.strictSame(await runOnce(refreshLists, world, world.clock), { refreshed: 0, failed: 0 }, 'it is still valid');
  world.clock += 61 * MINUTE;
  google.pages = [{ key: 'https://shop.example/new', clicks: 5, impressions: 9, position: 1 }];
  t.strictSame(await runOnce(refreshLists, world, world.clock), { refreshed: 1, failed: 0 });
  t.equal(google.requests.length, 4, 'that one alone: others are final, or were asked for once');
  t.match((await world.ask(provisional)).body.pages, [{ url: 'https://shop.example/new' }]);
  t.equal(google.requests.length, 4, 'a client gets it at once');
  world.clock += 61 * MINUTE;
  t.strictSame(
    await runOnce(refreshLists, world, world.clock),
    { refreshed: 0, failed: 0 },
    'what nobody reads expires',
  );
});

t.test('a project whose list cannot be refreshed is left alone for the rest of the run, and warned of', async (t) => {
  const world = await connectedWorld(t);
  const { google } = world;
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  for (const day of [1, 2, 3]) await world.ask(`/pages?from=2026-03-0${day}&to=2026-03-14`);
  const usage = new DatabaseSync(join(world.dataFolder, 'usage.sqlite'));
  t.teardown(() => usage.close());
  usage.prepare('update list_uses set hits = 3, used_at = ?').run(world.clock * 1000);
  world.clock += 61 * MINUTE;
  google.failure = { how: FAILURES.forbidden, times: 100 };
  const log: string[] = [];
  t.strictSame(await runOnce(refreshLists, world, world.clock, log), { refreshed: 0, failed: 1 });
  t.equal(google.requests.length, 4);
  t.equal(log.filter((line) => line === 'could not refresh a list').length, 1);
});
