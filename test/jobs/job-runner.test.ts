// Each due job runs once over all processes, continues after a kill, and is retried with growing pauses.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { serializeError } from '../../server/api/plugins/log.ts';
import type { Leases } from '../../server/catalog/leases.ts';
import { FileLeases } from '../../server/catalog/leases.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import type { Usage } from '../../server/catalog/usage.ts';
import type { Job } from '../../server/jobs/job.ts';
import { JobRunner } from '../../server/jobs/job-runner.ts';
import { type JobState, JobStates } from '../../server/jobs/job-states.ts';
import { backOff, dueAt, nextAfterSuccess } from '../../server/jobs/schedule.ts';
import { Supervisor } from '../../server/jobs/supervisor.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { startHolder } from '../lease-holder.ts';
import { NOW, temporaryFolder } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface StartOptions {
  readonly leases?: Leases;
  readonly through?: (usage: Usage) => Usage;
}

/** A data folder and processes that run jobs over it, as far as one process can play several. */
async function makeMachine(t: Test) {
  const dataFolder = temporaryFolder(t);
  await (await openCatalog(sqliteIn(dataFolder))).close();
  const clock = new FakeClock(NOW);
  const start = (
    jobs: readonly Job[],
    { leases = new FileLeases(dataFolder), through = (usage) => usage }: StartOptions = {},
  ) => {
    const log: string[] = [];
    const loggerOf = (job: string) => {
      const write = (line: unknown, message?: string): void => void log.push([job, message ?? line].join(': '));
      return { debug: write, info: write, warn: write, error: write };
    };
    const usage = openUsage(sqliteIn(dataFolder), () => {});
    const states = new JobStates(through(usage));
    const runner = new JobRunner({
      ...{ jobs, leases, states, clock, settings: readSettings({ ORDINATE_DATA: dataFolder }), random: () => 0.5 },
      openCatalog: () => openCatalog(sqliteIn(dataFolder), { create: false }),
      log: { ...loggerOf('worker'), child: ({ job }) => loggerOf(job) },
      describeError: (error) => serializeError(error).message,
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
  ...{ name, every: HOUR, jitter: 0.2 },
  run: async () => {
    runs.push((clock.now() - NOW) / MINUTE);
    return { runs: runs.length };
  },
});

/** A job that goes on until it is told to stop. */
const endless = (seen: string[]): Job => ({
  ...{ name: 'endless', every: HOUR, jitter: 0 },
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
  const startedAt = NOW + 198 * MINUTE;
  t.strictSame(await states.read('count'), {
    ...{ job: 'count', startedAt, endedAt: startedAt, outcome: 'succeeded', failures: 0, error: null },
    ...{ result: { runs: 4 }, progress: null, nextAt: startedAt + 66 * MINUTE },
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
    ...{ name: 'failing', every: HOUR, jitter: 0 },
    run: async () => {
      tries.push((clock.now() - NOW) / 1000);
      if (tries.length < 4) throw new Error(`the provider is away for ord_live_${'a'.repeat(32)}`);
      return {};
    },
  };
  const runs: number[] = [];
  const { states, log } = start([failing, counting(runs, clock)]);
  await clock.advance(60_000);
  const failed = { outcome: 'failed', failures: 2, error: 'the provider is away for ord_live_…' };
  t.match(await states.read('failing'), failed);
  await clock.advance(5 * MINUTE);
  // 30, 60 and 120 s, less an eighth.
  t.strictSame(tries, [0, 26.25, 78.75, 183.75]);
  t.match(await states.read('failing'), { outcome: 'succeeded', failures: 0, error: null });
  t.equal(log.filter((line) => line === 'failing: job failed').length, 3);
  t.strictSame(runs, [0]);
});

t.test('pauses double up to the longest; the next run is in the future, also of one that took long', (t) => {
  const pauses = [1, 2, 3, 4, 5, 100].map((failures) => backOff(failures, { first: 500, max: 6000 }, () => 0));
  t.strictSame(pauses, [500, 1000, 2000, 4000, 6000, 6000]);
  t.equal(
    backOff(1, { first: 500, max: 6000 }, () => 1),
    375,
  );
  const job = { every: HOUR, jitter: 0.5 };
  const next = [0, HOUR - 1, 3 * HOUR].map((endedAt) => nextAfterSuccess(job, 0, endedAt, () => 1));
  t.strictSame(next, [1.5 * HOUR, 1.5 * HOUR, 3 * HOUR + 1000]);
  // The clocks of other nodes differ, by a minute at most.
  const due = [60_000, 60_001].map((startedAt) => dueAt({ startedAt, endedAt: 1, nextAt: 99_000 } as JobState, 0));
  t.strictSame(due, [99_000, 0]);
  t.end();
});

t.test('a job that several processes may run: each has a state of its own, and a limited number', async (t) => {
  const { clock, start } = await makeMachine(t);
  const seen: string[] = [];
  const shared = { ...endless(seen), processes: 3 };
  const processes = Array.from({ length: 4 }, () => start([shared]));
  await clock.advance(10 * MINUTE);
  const unended = async () => {
    const all = await processes[3]!.states.all();
    return [seen.length, ...all.filter(({ endedAt }) => endedAt === null).map(({ job }) => job)];
  };
  t.strictSame(await unended(), [3, 'endless', 'endless.2', 'endless.3']);
  await processes[0]!.stop();
  await clock.advance(2000);
  t.strictSame(await unended(), [4, 'endless', 'endless.2', 'endless.3'], 'whoever had no place takes the free one');
});

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

t.test('a run whose process was killed is taken over at once, the second time later', async (t) => {
  const { clock, dataFolder, start } = await makeMachine(t);
  const usage = openUsage(sqliteIn(dataFolder), (error) => t.error(error));
  t.teardown(() => usage.close());
  const left: JobState = {
    ...{ job: 'count', startedAt: NOW - HOUR, endedAt: null, outcome: null, failures: 0, error: null },
    ...{ result: null, progress: '7 of 9', nextAt: NOW - HOUR },
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
});

t.test('a progress that is stored after the end of its run does not begin it again', async (t) => {
  const { clock, start } = await makeMachine(t);
  let runs = 0;
  const job: Job = {
    ...{ name: 'short', every: HOUR, jitter: 0 },
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
  let isHeld = true;
  const lease = { isHeld: async () => isHeld, release: async () => {} };
  const { states, log } = start([endless([])], { leases: { acquire: async () => (isHeld ? lease : undefined) } });
  await clock.advance(MINUTE);
  isHeld = false;
  await clock.advance(9000);
  t.notOk(log.includes('endless: job failed'));
  await clock.advance(1000);
  t.ok(log.includes('endless: job failed'));
  t.match(await states.read('endless'), { startedAt: NOW, failures: 0 }, 'not a failure of the job');
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
  for (const _ of [1, 2]) start([counting(runs, clock)], { leases });
  await clock.advance(HOUR);
  t.strictSame(runs, [0]);
});

t.test('a lease has one holder, is free when its process is killed, and lost with its file', async (t) => {
  const dataFolder = temporaryFolder(t);
  const leases = new FileLeases(dataFolder);
  const other = await startHolder(t, sqliteIn(dataFolder));
  t.ok(other.has);
  t.equal(await leases.acquire('a'), undefined);
  const b = await leases.acquire('b');
  t.ok(b, 'leases of other names are apart');
  await b?.release();
  await other.kill();
  const lease = await leases.acquire('a');
  t.equal(await lease?.isHeld(), true);
  // Whoever asks again for what it has does not lose it.
  t.equal(await leases.acquire('a'), undefined);
  t.notOk((await startHolder(t, sqliteIn(dataFolder))).has, 'to another process');
  // Others can make the file anew.
  rmSync(join(dataFolder, 'leases'), { recursive: true });
  t.equal(await lease?.isHeld(), false);
  await lease?.release();
});

t.test('where states cannot be stored, jobs keep to their intervals', async (t) => {
  const { clock, dataFolder, start } = await makeMachine(t);
  const runs: number[] = [];
  start([counting(runs, clock)]);
  using other = new DatabaseSync(join(dataFolder, 'usage.sqlite'));
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
  t.match(await states.read('count'), { outcome: 'succeeded' }, 'the catalog that is there then counts');
});

/** Processes of jobs that end when a test says so, and their supervisor; the first starts fail so many times. */
function supervised(failures = 0) {
  const clock = new FakeClock(NOW);
  /** When each was started, in seconds. */
  const started: number[] = [];
  const ends: ((how: string) => void)[] = [];
  const seen = { stopped: 0, tries: 0 };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const start = () => {
    if (++seen.tries <= failures) throw new Error('spawn EAGAIN');
    started.push((clock.now() - NOW) / 1000);
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    ends.push(resolve);
    const stop = (): void => {
      seen.stopped++;
      resolve('SIGTERM');
    };
    return { pid: started.length, ended, stop };
  };
  const supervisor = new Supervisor({ name: 'a process', start, log, clock, random: () => 0 });
  return { clock, started, seen, supervisor, end: () => ends.at(-1)!('SIGKILL') };
}

t.test('a process that ends is started again after a growing pause; one that ran for long begins anew', async (t) => {
  const { clock, started, seen, supervisor, end } = supervised();
  for (let ends = 0; ends < 10; ends++) {
    end();
    await clock.advance(60_000);
  }
  const pauses = started.slice(1).map((at, index) => at - index * 60);
  t.strictSame(pauses, [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  await clock.advance(300_000);
  end();
  await clock.advance(500);
  t.equal(started.length, 12);
  await supervisor.stop();
  await clock.advance(120_000);
  t.strictSame([seen.stopped, started.length], [1, 12], 'the last one, by its signal, and none is started any more');
  // Stopped between two processes, it starts none.
  const other = supervised();
  other.end();
  await other.clock.advance(100);
  await other.supervisor.stop();
  await other.clock.advance(60_000);
  t.strictSame(other.started, [0]);
});

t.test('a process that cannot be started is tried again; the server goes on', async (t) => {
  const { clock, started, supervisor } = supervised(2);
  await clock.advance(10_000);
  t.strictSame(started, [1.5]);
  await supervisor.stop();
});
