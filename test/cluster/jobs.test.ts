// Background jobs and provider limits hold over all nodes of a cluster, even if a node is killed or its clock is wrong.
import t, { type Test } from 'tap';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { addDays, pacificDayOf } from '../../server/domain/dates.ts';
import { JobStates } from '../../server/jobs/job-states.ts';
import { JOBS } from '../../server/jobs/jobs.ts';
import { RequestRate } from '../../server/providers/request-rate.ts';
import { leaseOf } from '../../server/sync/due.ts';
import { fakeProvider } from '../fakes/provider.ts';
import { type Running, start, until } from '../process.ts';
import { makeSearches, PROPERTY } from '../sync/sync-world.ts';
import { query } from './databases.ts';
import { json, makeCluster, skip } from './nodes.ts';

/** Those that say what they did also where there was nothing to do. */
const TALKING = JOBS.filter(({ isQuiet }) => isQuiet !== true).map(({ name }) => name);
const MINUTE = 60_000;

function linesWith({ printed }: Running, message: RegExp): { readonly job: string }[] {
  const whole = printed.stderr.slice(0, printed.stderr.lastIndexOf('\n') + 1).split('\n');
  const lines = whole.filter((line) => line !== '').map((line) => JSON.parse(line) as { msg: string; job: string });
  return lines.filter(({ msg }) => message.test(msg));
}

const jobsWith = (running: Running, message: RegExp): string[] => linesWith(running, message).map(({ job }) => job);

/** A cluster with connected projects that have never been synced. */
async function connectedCluster(t: Test, projects = 1) {
  const cluster = await makeCluster(t);
  const provider = await fakeProvider(t);
  const node = cluster.node();
  const { credentials, url, tokenUrl } = provider;
  const where = ['--credentials', credentials, '--endpoint', url, '--token-endpoint', tokenUrl, '--workspace', 'acme'];
  await json(node, 'workspaces', 'create', '--id', 'acme', '--name', 'Acme', '--plan', 'team');
  const ids: string[] = [];
  for (let number = 0; number < projects; number++) {
    const property = number === 0 ? PROPERTY : `sc-domain:shop${number}.example`;
    provider.model.addSite(property, makeSearches({ since: '2020-01-01', silent: [] }));
    provider.model.site(property).options.timetable.stageHours = 1000;
    provider.give(property);
    const words = ['projects', 'create', '--property', property, '--archive', 'none', ...where];
    const { id } = (await json<{ project: { id: string } }>(node, ...words)).project;
    ids.push(id);
    // Two windows of history or three.
    const from = addDays(pacificDayOf(Date.now()), -62);
    await query(cluster.catalogUrl, 'insert into sync_projects (project_id, first_day) values ($1, $2)', [id, from]);
  }
  return { ...cluster, provider, projects: ids };
}

t.test('each job runs once over the processes of two nodes', { skip }, async (t) => {
  const { catalogUrl, node } = await makeCluster(t);
  const usage = openUsage({ dataFolder: '', catalogUrl }, (error) => t.fail(String(error)));
  t.teardown(() => usage.close());
  const states = new JobStates(usage);
  const nodes = [node(), node()];
  for (let round = 1; round <= 2; round++) {
    const works = [...nodes, nodes[0]!].map((settings) => start(t, settings, 'work'));
    await until('all jobs to have run', async () => {
      const ended = (await states.all()).filter(
        ({ outcome, nextAt }) => outcome === 'succeeded' && nextAt > Date.now(),
      );
      return ended.length === JOBS.length || undefined;
    });
    const done = (): string[] => works.flatMap((work) => jobsWith(work, /^job done$/));
    await until('their log', () => done().length >= TALKING.length || undefined);
    const isRunning = (work: Running) => linesWith(work, /jobs are running/).length > 0;
    await until('all processes', () => works.every(isRunning) || undefined);
    for (const { child } of works) child.kill('SIGTERM');
    for (const { ended } of works) t.match(await ended, { code: 0 });
    t.strictSame(done().sort(), [...TALKING].sort(), `round ${round}`);
    await query(catalogUrl, 'update job_states set next_at = 0');
  }
});

t.test('a project whose process is killed goes on on the other node', { skip }, async (t) => {
  const { catalogUrl, node, provider, projects } = await connectedCluster(t);
  const quick = {
    ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000',
    ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '100000',
    ORDINATE_LOG_LEVEL: 'debug',
  };
  const leases = openLeases({ dataFolder: '', catalogUrl });
  let isHeld = true;
  // The first window is published; the requests after it are not answered.
  provider.onRequest = () => {
    if (isHeld && provider.asked().length > 15) return new Promise(() => {});
    return undefined;
  };
  const works = [start(t, node(quick), 'work'), start(t, node(quick), 'work')];
  const started = (work: Running) => jobsWith(work, /^job started$/).filter((job) => job === 'sync-projects').length;
  await until('the middle of a sync', () => provider.asked().length > 15 || undefined);
  // Whoever does not have the project ends its run at once, and looks again.
  const other = await until('a node that finds it taken', () => works.find((work) => started(work) > 2));
  const holder = works.find((work) => work !== other)!;
  t.equal(started(holder), 1);

  holder.child.kill('SIGSTOP');
  const before = started(other);
  await until('the other node to look', () => started(other) > before + 1 || undefined);
  t.equal(await leases.acquire(leaseOf(projects[0]!)), undefined, 'a process that hangs has its projects');
  const asked = provider.asked().length;
  isHeld = false;
  holder.child.kill('SIGKILL');
  await until('the other node', () => provider.asked().length > asked || undefined);
  const ended = 'select 1 from sync_projects where last_success_at is not null and next_run_at > $1';
  await until('the end of the sync', async () => (await query(catalogUrl, ended, [Date.now() * 1000])).at(0));
  const jobs = await json<{ job: string; state: string }[]>(node(), 'jobs', 'status');
  const running = jobs.filter(({ job, state }) => job.startsWith('sync-projects') && state === 'running');
  t.strictSame(running, [], 'the killed process runs nothing');
  t.match(await json(node(), 'sync', 'status'), [{ id: projects[0], status: 'ok' }]);
  t.match(await json(node(), 'verify'), { ok: true });
});

t.test('the requests of two nodes to a provider count together', { skip }, async (t) => {
  const { catalogUrl, node, provider, projects } = await connectedCluster(t, 2);
  const limits = { ORDINATE_PROVIDER_REQUESTS_PER_MINUTE: '20', ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '3' };
  // Background work leaves clients a fifth.
  const allowed = 16;
  const counted = () =>
    query<{ at: string; owner: string }>(catalogUrl, 'select at, owner from provider_requests order by at');
  const sent = () => provider.model.log.filter(({ kind }) => kind !== 'token');
  const syncs = projects.map((project) => start(t, node(limits), 'sync', '--project', project));
  await until('all requests of a minute', () => sent().length >= allowed || undefined);
  const first = sent().length;
  const commits = 'select xact_commit::int as commits from pg_stat_database where datname = current_database()';
  const attempts = async () => (await query<{ commits: number }>(catalogUrl, commits))[0]!.commits;
  const before = await attempts();
  // Each node tries again every second.
  await until('further attempts', async () => (await attempts()) > before + 20 || undefined);
  const rows = await counted();
  t.equal(first, allowed);
  t.equal(sent().length, allowed, 'no process has sent more');
  t.equal(rows.length, allowed, 'each was counted');
  t.equal(new Set(provider.asked().map(({ property }) => property)).size, 2, 'of both nodes');
  for (const { at, owner } of rows) {
    const within = rows.filter(
      (row) => row.owner === owner && Number(row.at) >= Number(at) && Number(row.at) < Number(at) + 1000,
    );
    t.ok(within.length <= 3, 'of one property in a second');
  }
  for (const { child, ended } of syncs) {
    child.kill('SIGTERM');
    await ended;
  }
});

t.test('clocks of nodes that differ do not change the limits', { skip }, async (t) => {
  const { catalogUrl } = await makeCluster(t);
  const url = { dataFolder: '', catalogUrl };
  const sent: number[] = [];
  /** By node: the pause before it tries again, in milliseconds. */
  const waits = [0, 0, 0, 0, 0];
  const stop = new AbortController();
  const asking = [-10 * MINUTE, -MINUTE / 2, 0, MINUTE / 2, 10 * MINUTE].map((difference, node) => {
    // At the end, an attempt may be between its statements.
    const usage = openUsage(url, (error) => stop.signal.aborted || t.fail(String(error)));
    t.teardown(() => usage.close());
    const clock = {
      now: () => Date.now() + difference,
      wake: (after: number, callback: () => void) => {
        waits[node] = after;
        const timer = setTimeout(callback, after);
        return () => clearTimeout(timer);
      },
    };
    const rate = new RequestRate(usage, { perMinute: 10, perSecond: 100 }, clock);
    return Array.from({ length: 11 }, () =>
      rate
        .admit('a', () => 'client', stop.signal)
        .then(
          () => void sent.push(node),
          () => {},
        ),
    );
  });
  await until('ten requests', () => sent.length >= 10 || undefined);
  t.strictSame(await query(catalogUrl, 'select count(*)::int as requests from provider_requests'), [{ requests: 10 }]);
  await until('pauses between their attempts', () => waits.every((wait) => wait >= 500) || undefined);
  t.equal(sent.length, 10);
  stop.abort(new Error('the end'));
  await Promise.all(asking.flat());
});
