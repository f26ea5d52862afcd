// Jobs run in a process of their own, once over all servers, and stop with the server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { JobStates } from '../../server/jobs/job-states.ts';
import { type JobStatus, readJobStatus } from '../../server/jobs/job-status.ts';
import { command } from '../command.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { atNight } from '../night.ts';
import { makeDataFolder, type Running, start, startServer, until } from '../process.ts';
import { PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';

/** Those that say what they did also where there was nothing to do. */
const TALKING = ['sweep-facts', 'sweep-lists', 'refresh-lists'];
const JOBS = [
  ...TALKING,
  ...['sync-projects', 'read-sitemaps', 'inspect-pages', 'read-ranking-updates', 'evaluate-alerts'],
  ...['prune-facts', 'send-deliveries', 'write-digests'],
];
const SMALL = { workspaces: [WORKSPACE], projects: [PROJECT] };

type Line = Readonly<Record<string, unknown>>;

/** Lines of the log with a message; what is not JSON would throw. */
function linesWith({ printed }: Running, message: RegExp): Line[] {
  const whole = printed.stderr.slice(0, printed.stderr.lastIndexOf('\n') + 1).split('\n');
  const lines = whole.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
  return lines.filter(({ msg }) => message.test(String(msg)));
}

/** The process ids of workers, in the order in which they were started. */
const workersOf = (server: Running): number[] => linesWith(server, /was started/).map(({ worker }) => worker as number);

const untilRunning = (running: Running, count = 1): Promise<true> =>
  until('background jobs', () => linesWith(running, /jobs are running/).length >= count || undefined);

async function statusOf(dataFolder: string): Promise<JobStatus[]> {
  const usage = openUsage(sqliteIn(dataFolder), () => {});
  try {
    return await readJobStatus(usage, sqliteIn(dataFolder));
  } finally {
    await usage.close();
  }
}

/** Waits until every job has run. */
async function untilDone(t: Test, dataFolder: string): Promise<void> {
  const usage = openUsage(sqliteIn(dataFolder), () => {});
  t.teardown(() => usage.close());
  const states = new JobStates(usage);
  const isDone = async () =>
    (await states.all()).filter(({ outcome }) => outcome === 'succeeded').length === JOBS.length || undefined;
  await until('all jobs to have run', isDone);
}

const doneBy = (running: Running): string[] => linesWith(running, /^job done$/).map(({ job }) => String(job));

/** False also for a process that has ended and whose parent has not asked how. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

t.test(
  'jobs have a process of their own, run once for all servers, begin again when killed, and end with their server',
  async (t) => {
    const { dataFolder, keys } = await makeDataFolder(t, [writeSnapshot(t, SMALL)]);
    const settings = { ORDINATE_DATA: dataFolder, ORDINATE_JOBS: 'on', ORDINATE_LOG_LEVEL: 'info' };
    const [one, other] = await Promise.all([startServer(t, settings), startServer(t, settings)]);
    await untilRunning(one);
    await untilRunning(other);
    await untilDone(t, dataFolder);
    // Others say that they are done if there was something to do.
    const done = (): string[] => [...doneBy(one), ...doneBy(other)].filter((job) => TALKING.includes(job));
    // A server prints lines of its process of jobs when it has read them.
    await until('the lines of all jobs', () => done().length >= TALKING.length || undefined);
    t.strictSame(done().sort(), [...TALKING].sort(), 'each once');
    const [first] = workersOf(one);
    if (first === undefined) throw new Error('No worker runs.');
    const [worker = 0] = workersOf(other);
    if (process.platform === 'linux') {
      // Any job may have run in either process.
      for (const pid of [first, worker]) {
        const loaded = readFileSync(`/proc/${pid}/maps`, 'utf8');
        t.match(loaded, /node/);
        t.notMatch(loaded, /duckdb/, 'it loads DuckDB only when a job needs it');
      }
    }

    t.ok(isRunning(worker));
    other.child.kill('SIGKILL');
    await until('the process of background jobs to end', () => !isRunning(worker) || undefined);

    using db = new DatabaseSync(join(dataFolder, 'usage.sqlite'));
    db.exec('update job_states set next_at = 0');
    process.kill(first, 'SIGKILL');
    await untilRunning(one, 2);
    t.match(linesWith(one, /will be restarted/), [{ how: 'SIGKILL' }]);
    const [, second = 0] = workersOf(one);
    t.not(second, first);
    await until('the jobs to run again', () => done().length >= 6 || undefined);
    t.equal((await one.get('/projects', keys[0]!)).status, 200, 'requests are answered all the time');

    one.child.kill('SIGTERM');
    t.match(await one.ended, { code: 0 });
    t.strictSame(done().sort(), [...TALKING, ...TALKING].sort(), 'each once more');
    t.notOk(isRunning(second));
    t.equal(linesWith(one, /will be restarted/).length, 1, 'a process that was told to end is not missed');
  },
);

t.test('work runs the jobs alone; a run that cannot end by itself is stopped with it', atNight, async (t) => {
  const { dataFolder, google, ask } = await connectedWorld(t, { environment: { ORDINATE_LISTS_LIFETIME: '600' } });
  google.pages = [{ key: 'https://shop.example/', clicks: 1, impressions: 2, position: 1 }];
  for (let hit = 0; hit < 3; hit++) t.equal((await ask('/pages?from=2026-03-01&to=2026-03-14')).status, 200);
  const now = Date.now() * 1000;
  for (const [file, sql] of [
    ['catalog', `update lists set fetched_at = ${now - 700_000_000}`],
    ['usage', `update list_uses set hits = 3, used_at = ${now}`],
  ]) {
    using db = new DatabaseSync(join(dataFolder, `${file}.sqlite`));
    db.exec(sql!);
  }
  google.silent.add(PROJECT['property'] as string);

  // Only the refresh of lists is to ask the provider.
  const alone = { ORDINATE_DATA: dataFolder, ORDINATE_LISTS_LIFETIME: '600', ORDINATE_SYNC: 'off' };
  const worker = start(t, alone, 'work');
  await until('a request to the provider', () => google.requests.length > 1 || undefined);
  const shown = await command({ ORDINATE_DATA: dataFolder }, 'jobs', 'status', '--json');
  const states = JSON.parse(shown.stdout) as { job: string }[];
  t.match(
    states.filter(({ job }) => TALKING.includes(job)),
    [
      { job: 'sweep-facts', state: 'succeeded', everySeconds: 3600, startedAt: /Z$/, nextAt: /Z$/ },
      { job: 'sweep-lists', state: 'succeeded' },
      { job: 'refresh-lists', state: 'running', progress: 'list 1 of 1', endedAt: null, nextAt: null },
    ],
  );
  worker.child.kill('SIGTERM');
  t.match(await worker.ended, { code: 0, stdout: '' });
  t.match(
    (await statusOf(dataFolder)).find(({ job }) => job === 'refresh-lists'),
    { state: 'stopped', failures: 0, error: null },
  );

  const killed = start(t, alone, 'work');
  await until('a request to the provider', () => google.requests.length > 2 || undefined);
  killed.child.kill('SIGKILL');
  await killed.ended;
  t.match(
    (await statusOf(dataFolder)).find(({ job }) => job === 'refresh-lists'),
    { state: 'interrupted' },
  );
  google.silent.clear();
  const next = start(t, alone, 'work');
  await until('the job to be taken over', () => doneBy(next).includes('refresh-lists') || undefined);
  t.match(linesWith(next, /ended before the run finished/), [{ job: 'refresh-lists' }]);
  // It is stored after the line of the log.
  const after = await until('the end of the job', async () =>
    (await statusOf(dataFolder)).filter(({ job, state }) => job === 'refresh-lists' && state !== 'running').at(0),
  );
  t.match(after, { state: 'succeeded', result: { refreshed: 1, failed: 0 } });
  next.child.kill('SIGINT');
  t.match(await next.ended, { code: 0 });
});

t.test('a run that ends while its status is read is not taken for one whose process was killed', async (t) => {
  const dataFolder = temporaryFolder(t);
  const usage = openUsage(sqliteIn(dataFolder), () => {});
  t.teardown(() => usage.close());
  const states = new JobStates(usage);
  const run = { job: 'sweep-lists', startedAt: 1, failures: 0, error: null };
  const common = { ...run, result: null, progress: null, nextAt: 2 };
  await states.write({ ...common, endedAt: null, outcome: null });
  const all = Reflect.get(JobStates.prototype, 'all') as (this: JobStates) => Promise<object[]>;
  let hasEnded = false;
  t.intercept(JobStates.prototype, 'all', {
    value: async function (this: JobStates) {
      const read = await all.call(this);
      if (!hasEnded) await states.write({ ...common, endedAt: 2, outcome: 'succeeded' });
      hasEnded = true;
      return read;
    },
  });
  const found = (await statusOf(dataFolder)).find(({ job }) => job === 'sweep-lists');
  t.match(found, { state: 'succeeded', endedAt: 2 });
});

t.test(
  'jobs status of a folder whose jobs have never run; work makes a data folder and says what is wrong with one',
  async (t) => {
    const { dataFolder } = await makeDataFolder(t, [], { keys: 0 });
    const table = await command({ ORDINATE_DATA: dataFolder }, 'jobs', 'status');
    t.match(table, { code: 0, stderr: '' });
    for (const job of JOBS) t.match(table.stdout, new RegExp(`^${job} +waiting$`, 'm'));

    const folder = join(temporaryFolder(t), 'new');
    const worker = start(t, { ORDINATE_DATA: folder }, 'work');
    await untilDone(t, await untilRunning(worker).then(() => folder));
    worker.child.kill('SIGTERM');
    t.match(await worker.ended, { code: 0 });
    t.match(await command({ ORDINATE_DATA: '/proc/nope' }, 'work'), {
      code: 1,
      stdout: '',
      stderr: /'\/proc\/nope'.*cannot be created/,
    });
  },
);
