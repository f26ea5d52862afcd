// Several processes of background jobs share the projects that are due: each is synced once, and none is lost.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import { command } from '../command.ts';
import { atNight } from '../night.ts';
import { type Running, run, start, until } from '../process.ts';
import { localOnly } from '../stores.ts';
import { addProjects, type SyncWorld, syncWorld } from './sync-world.ts';

/** `ORDINATE_TEST_PROJECTS=300` tries more. */
const PROJECTS = Number(process.env['ORDINATE_TEST_PROJECTS'] ?? 60);
/** Projects that one process may be syncing at the same time: turns, those in place of waiting ones, and requested ones. */
const AT_ONCE = 3 + 12 + 4;

const QUICK = {
  ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
  ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
  ORDINATE_LOG_LEVEL: 'info',
};

/** The projects whose sync a process says has ended well. */
function syncedBy({ printed }: Running): string[] {
  const whole = printed.stderr.slice(0, printed.stderr.lastIndexOf('\n') + 1).split('\n');
  return whole
    .filter((line) => line.includes('"project synced"'))
    .map((line) => JSON.parse(line) as { project: string; outcome: string })
    .filter(({ outcome }) => outcome === 'done')
    .map(({ project }) => project);
}

/** The properties of which something was asked more than once. */
function askedTwice({ provider }: SyncWorld): string[] {
  const asked = provider.asked('all').map(({ property, request }) => ({ property, what: JSON.stringify(request) }));
  const groups = Map.groupBy(asked, ({ property, what }) => `${property} ${what}`);
  return [...new Set([...groups.values()].filter(({ length }) => length > 1).map(([first]) => first!.property))];
}

t.test(
  `three processes share ${PROJECTS} projects; one is killed, and the others go on`,
  { ...localOnly, ...atNight },
  async (t) => {
    const from = addDays(pacificDayOf(Date.now()), -4);
    const world = await syncWorld(t, { from, since: from, tracked: 0, clock: Date.now });
    const ids = Array.from({ length: PROJECTS - 1 }, (_, index) => `P${String(index).padStart(4, '0')}`);
    const propertyOf = (id: string): string => `sc-domain:${id.toLowerCase()}.example`;
    for (const id of ids) {
      world.provider.model.addSite(propertyOf(id), world.searches);
      world.provider.give(propertyOf(id));
    }
    // The limits of requests are other tests'.
    world.provider.model.quotas.options.perMinute = Number.POSITIVE_INFINITY;
    await addProjects(world, ids, from, ids.map(propertyOf));
    const settings = { ...QUICK, ORDINATE_DATA: world.dataFolder };
    const works = Array.from({ length: 3 }, () => start(t, settings, 'work'));
    const [first] = works as [Running];
    await until('each process to sync projects', () => works.every((work) => syncedBy(work).length > 2) || undefined);
    const shown = await run(t, settings, 'jobs', 'status', '--json');
    const running = (JSON.parse(shown.stdout) as { job: string; state: string }[]).filter(
      ({ job, state }) => job.startsWith('sync-projects') && state === 'running',
    );
    t.strictSame(
      running.map(({ job }) => job),
      ['sync-projects', 'sync-projects.2', 'sync-projects.3'],
    );
    t.strictSame(askedTwice(world), []);
    first.child.kill('SIGKILL');
    await first.ended;

    using database = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'), { readOnly: true, timeout: 5000 });
    const count = database.prepare('select count(*) as synced from sync_projects where last_success_at is not null');
    await until('all projects to be synced', () => count.get()!['synced'] === PROJECTS || undefined);
    const done = works.flatMap(syncedBy);
    t.equal(new Set(done).size, done.length, 'each once');
    const twice = askedTwice(world);
    t.ok(twice.length <= AT_ONCE, `${twice.length} projects that the killed process was syncing`);
    const before = syncedBy(first).map(propertyOf);
    t.strictSame(
      twice.filter((property) => before.includes(property)),
      [],
      'none that it had synced',
    );
    for (const { child, ended } of works.slice(1)) {
      child.kill('SIGTERM');
      t.match(await ended, { code: 0 });
    }
    t.match(await command(settings, 'verify'), { code: 0 });
  },
);
