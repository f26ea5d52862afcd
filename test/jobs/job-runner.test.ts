// Each due job runs once over all processes, continues after a kill, and is retried with growing pauses.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { serializeError } from '../../server/api/plugins/log.ts';
import { FileLeases } from '../../server/catalog/file-leases.ts';
import type { Leases } from '../../server/catalog/leases.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import type { Usage } from '../../server/catalog/usage.ts';
import type { Job } from '../../server/jobs/job.ts';
import { JobRunner } from '../../server/jobs/job-runner.ts';
import { type JobState, JobStates } from '../../server/jobs/job-states.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { NOW, temporaryFolder } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Process {
  readonly states: JobStates;
  readonly log: string[];
  readonly stop: () => Promise<void>;
}

/** A data folder and processes that run jobs over it, as far as one process can play several. */
async function makeMachine(t: Test): Promise<{
  clock: FakeClock;
  dataFolder: string;
  start: (jobs: readonly Job[], options?: { leases?: Leases; through?: (usage: Usage) => Usage }) => Process;
}> {
  const dataFolder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(dataFolder))).close();
  const clock = new FakeClock(NOW);
  const start = (
    jobs: readonly Job[],
    {
      leases = new FileLeases(dataFolder),
      through = (usage) => usage,
    }: { leases?: Leases; through?: (usage: Usage) => Usage } = {},
  ): Process => {
    const log: string[] = [];
    const lines =
      (job: string) =>
      (line: unknown, message?: string): void =>
        void log.push([job, message ?? line].join(': '));
    const loggerOf = (job: string) => ({
      debug: lines(job),
      info: lines(job),
      warn: lines(job),
      error: lines(job),
    });
    const usage = openUsage(sqliteIn(dataFolder), () => {});
    const states = new JobStates(through(usage));
    const runner = new JobRunner({
      jobs,
      settings: readSettings({ ORDINATE_DATA: dataFolder }),
      openCatalog: () => openCatalog(sqliteIn(dataFolder), { create: false }),
      leases,
      states,
      log: { ...loggerOf('worker'), child: ({ job }) => loggerOf(job) },
      describeError: (error) => serializeError(error).message,
      clock,
      random: () => 0.5,
    });
    const stopping = new AbortController();
    const running = runner.run(stopping.signal);
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      stopping.abort();
      await running;
      await usage.close();
    };
    t.teardown(stop);
    return { states, log, stop };
  };
  return { clock, dataFolder, start };
}

const counting = (runs: number[], clock: FakeClock, name = 'count'): Job => ({
  name,
  every: HOUR,
  jitter: 0.2,
  run: async () => {
    runs.push((clock.now() - NOW) / MINUTE);
    return { runs: runs.length };
  },
});

/** A job that goes on until it is told to stop. */
const endless = (seen: string[]): Job => ({
  name: 'endless',
  every: HOUR,
  jitter: 0,
  run: ({ report }, signal) => {
    seen.push('started');
    report('1 of 100');
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  },
});

t.test('a job runs at once, and then in its interval; its state tells what it did', async (t) => {
  const { clock, start } = await makeMachine(t);
  const runs: number[] = [];
  const { states } = start([counting(runs, clock)]);
  await clock.advance(3 * HOUR + 30 * MINUTE);
  t.strictSame(runs, [0, 66, 132, 198], 'the interval and half of its jitter');
  const { startedAt, ...state } = (await states.read('count'))!;
  t.equal(startedAt, NOW + 198 * MINUTE);
  t.strictSame(state, {
    job: 'count',
    endedAt: startedAt,
    outcome: 'succeeded',
    failures: 0,
    error: null,
    result: { runs: 4 },
    progress: null,
    nextAt: startedAt + 66 * MINUTE,
  });
});

t.test('several processes: each run is one; whoever is left goes on', async (t) => {
  const { clock, start } = await makeMachine(t);
  const runs: number[] = [];
  const first = start([counting(runs, clock), counting([], clock, 'other')]);
  const second = start([counting(runs, clock)]);
  await clock.advance(140 * MINUTE);
  t.strictSame(runs, [0, 66, 132]);
  await first.stop();
  await clock.advance(60 * MINUTE);
  t.strictSame(runs, [0, 66, 132, 198]);
  t.equal((await second.states.read('other'))?.result?.['runs'], 3, 'jobs do not wait for each other');
});

t.test('a process that starts again does not run what was done a moment ago', async (t) => {
  const { clock, start } = await makeMachine(t);
  const runs: number[] = [];
  const first = start([counting(runs, clock)]);
  await clock.advance(MINUTE);
  await first.stop();
  start([counting(runs, clock)]);
  await clock.advance(MINUTE);
  t.strictSame(runs, [0]);
  clock.set(NOW - 1000 * HOUR);
  await clock.advance(2 * MINUTE);
  t.equal(runs.length, 2, 'but it runs when the clock was set back, instead of waiting for the old time');
});

t.test('a job that fails is repeated after growing pauses, until it succeeds; others go on', async (t) => {
  const { clock, start } = await makeMachine(t);
  const tries: number[] = [];
  const failing: Job = {
    name: 'failing',
    every: HOUR,
    jitter: 0,
    run: async () => {
      tries.push((clock.now() - NOW) / 1000);
      if (tries.length < 4) throw new Error(`the provider is away for ord_live_${'a'.repeat(32)}`);
      return {};
    },
  };
  const runs: number[] = [];
  const { states, log } = start([failing, counting(runs, clock)]);
  await clock.advance(60_000);
  t.match(await states.read('failing'), {
    outcome: 'failed',
    failures: 2,
    error: 'the provider is away for ord_live_…',
  });
  await clock.advance(5 * MINUTE);
  // 30, 60 and 120 s, less an eighth.
  t.strictSame(tries, [0, 26.25, 78.75, 183.75]);
  t.match(await states.read('failing'), { outcome: 'succeeded', failures: 0, error: null });
  t.equal(log.filter((line) => line === 'failing: job failed').length, 3);
  t.strictSame(runs, [0]);
});

t.test(
  'a job that several processes may run: each has a state of its own, and no more begin than it allows',
  async (t) => {
    const { clock, start } = await makeMachine(t);
    const seen: string[] = [];
    const shared = { ...endless(seen), processes: 3 };
    const processes = Array.from({ length: 4 }, () => start([shared]));
    await clock.advance(10 * MINUTE);
    t.equal(seen.length, 3);
    const unended = async () =>
      (await processes[3]!.states.all()).filter(({ endedAt }) => endedAt === null).map(({ job }) => job);
    t.strictSame(await unended(), ['endless', 'endless.2', 'endless.3']);
    await processes[0]!.stop();
    await clock.advance(2000);
    t.equal(seen.length, 4, 'whoever had no place takes the one that is free');
    t.strictSame(await unended(), ['endless', 'endless.2', 'endless.3']);
  },
);

t.test('told to stop, a long run ends at once; the next process goes on with it', async (t) => {
  const { clock, start } = await makeMachine(t);
  const seen: string[] = [];
  const first = start([endless(seen)]);
  const second = start([endless(seen)]);
  await clock.advance(10 * MINUTE);
  t.strictSame(seen, ['started'], 'the other process leaves it alone, however long it takes');
  t.match(await second.states.read('endless'), { endedAt: null, progress: '1 of 100' });
  await first.stop();
  t.match(await second.states.read('endless'), { outcome: 'stopped', failures: 0, error: null });
  await clock.advance(2000);
  t.strictSame(seen, ['started', 'started']);
});

t.test(
  'a process that was killed while it ran a job: another one takes it over at once, the second time later',
  async (t) => {
    const { clock, dataFolder, start } = await makeMachine(t);
    const usage = openUsage(sqliteIn(dataFolder), (error) => t.error(error));
    t.teardown(() => usage.close());
    const left: JobState = {
      job: 'count',
      startedAt: NOW - HOUR,
      endedAt: null,
      outcome: null,
      failures: 0,
      error: null,
      result: null,
      progress: '7 of 9',
      nextAt: NOW - HOUR,
    };
    const runs: number[] = [];
    await new JobStates(usage).write(left);
    const first = start([counting(runs, clock)]);
    await clock.advance(0);
    t.strictSame(runs, [0]);
    t.ok(first.log.some((line) => line.includes('ended before the run finished')));
    await first.stop();

    await new JobStates(usage).write({ ...left, failures: 1, startedAt: NOW });
    const second = start([counting(runs, clock)]);
    await clock.advance(20_000);
    t.match(await second.states.read('count'), { outcome: 'interrupted', failures: 2, error: /process.*ended/ });
    t.equal(runs.length, 1);
    await clock.advance(10_000);
    t.equal(runs.length, 2);
  },
);

t.test('a progress that is stored after the end of its run does not begin it again', async (t) => {
  const { clock, start } = await makeMachine(t);
  let runs = 0;
  const job: Job = {
    name: 'short',
    every: HOUR,
    jitter: 0,
    run: async ({ report }) => {
      runs++;
      report('1 of 1');
      return {};
    },
  };
  const late = Promise.withResolvers<void>();
  // As a pool of connections, on which the later statement may be the first.
  const through = (usage: Usage): Usage => ({
    get: (name, values) => usage.get(name, values),
    all: (name, values) => usage.all(name, values),
    change: (name, values) => usage.change(name, values),
    close: () => usage.close(),
    run: async (name, values) => {
      if (typeof values?.['progress'] === 'string') await late.promise;
      return usage.run(name, values);
    },
  });
  start([job], { through });
  await clock.advance(1000);
  late.resolve();
  await clock.advance(1000);
  const other = start([job]);
  await clock.advance(MINUTE);
  t.match(await other.states.read('short'), { outcome: 'succeeded', failures: 0 });
  t.equal(runs, 1);
  t.notOk(other.log.some((line) => line.includes('ended before the run finished')));
});

t.test('a lease that is lost ends the run, whose state is for others to say', async (t) => {
  const { clock, start } = await makeMachine(t);
  const seen: string[] = [];
  let isHeld = true;
  const leases: Leases = {
    acquire: async () => (isHeld ? { isHeld: async () => isHeld, release: async () => {} } : undefined),
  };
  const { states, log } = start([endless(seen)], { leases });
  await clock.advance(MINUTE);
  t.strictSame(seen, ['started']);
  isHeld = false;
  await clock.advance(9000);
  t.notOk(log.includes('endless: job failed'));
  await clock.advance(1000);
  t.ok(log.includes('endless: job failed'));
  t.match(await states.read('endless'), { startedAt: NOW, failures: 0 }, 'not a failure of the job');
});

t.test('where states cannot be stored, jobs keep to their intervals', async (t) => {
  const { clock, dataFolder, start } = await makeMachine(t);
  const runs: number[] = [];
  start([counting(runs, clock)]);
  const other = new DatabaseSync(join(dataFolder, 'usage.sqlite'));
  t.teardown(() => other.close());
  await clock.advance(MINUTE);
  other.exec('begin immediate');
  await clock.advance(100 * MINUTE);
  t.strictSame(runs, [0, 66], 'what is stored is older than what this process knows');
  other.exec('drop table job_states');
  other.exec('commit');
  await clock.advance(60 * MINUTE);
  t.strictSame(runs, [0, 66, 132]);
});

t.test('a lost catalog fails runs in words, and does not end the process', async (t) => {
  const { clock, dataFolder, start } = await makeMachine(t);
  for (const name of ['', '-wal', '-shm']) rmSync(join(dataFolder, `catalog.sqlite${name}`), { force: true });
  const { states } = start([counting([], clock)]);
  await clock.advance(1000);
  t.match(await states.read('count'), { outcome: 'failed', error: /There is no data of Ordinate/ });
  await (await openCatalog(sqliteIn(dataFolder))).close();
  await clock.advance(MINUTE);
  t.match(
    await states.read('count'),
    { outcome: 'succeeded' },
    'the catalog that is there then is the one that counts',
  );
});

t.test('a lease that comes late: what another process has run meanwhile is not run again', async (t) => {
  const { clock, start } = await makeMachine(t);
  const runs: number[] = [];
  const free: (() => void)[] = [];
  let isFree = true;
  // As a database that makes the second one wait until the first one is ready.
  const leases: Leases = {
    acquire: async () => {
      if (!isFree) await new Promise<void>((resolve) => free.push(resolve));
      isFree = false;
      const release = async (): Promise<void> => {
        isFree = true;
        free.shift()?.();
      };
      return { isHeld: async () => true, release };
    },
  };
  start([counting(runs, clock)], { leases });
  start([counting(runs, clock)], { leases });
  await clock.advance(HOUR);
  t.strictSame(runs, [0]);
});
