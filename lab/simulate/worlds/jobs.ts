import type { Job } from '../../../server/jobs/job.ts';
import type { Machine } from '../host.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Run, World } from '../world.ts';
import { runJobs } from './worker.ts';

const MINUTE = 60_000;
/** A run whose lease is lost may go on until it is looked at. */
const NOTICED_AFTER = 15_000;

interface JobRun {
  readonly job: string;
  readonly process: SimulatedProcess;
  readonly from: number;
  to: number | undefined;
  /** When its lease was lost. */
  lostAt: number | undefined;
  isDone: boolean;
}

/**
 * Background jobs of two processes with common states, over a network: runs report progress, fail, lose their lease, and
 * are cut off with their process. No two processes run a job at a time, no run is called interrupted while its process
 * lives, and each job goes on in the end.
 */
export const jobs: World = {
  name: 'jobs',
  hasCatalog: true,
  async run(run) {
    const { simulation } = run;
    const random = simulation.random.fork('jobs');
    const machine = run.machine('machine');
    const dataFolder = await run.data(machine);
    const runs: JobRun[] = [];
    const state: JobsState = { dataFolder, runs, excusedUntil: 0, isHealed: false };
    const processes = ['a', 'b'].map((name) => ({
      name,
      number: 1,
      process: startRunner(run, machine, `${name}1`, state),
    }));
    const end = simulation.now + 12 * MINUTE;
    const trouble = (): void => {
      if (simulation.now >= end) return;
      simulation.schedule(undefined, random.whole(5_000, 3 * MINUTE), 'trouble', trouble);
      const one = random.pick(processes);
      if (!simulation.decide('kill', random, 0.4)) return;
      one.process.kill();
      // Their runs are called interrupted.
      state.excusedUntil = simulation.now + MINUTE * 5;
      for (const each of runs) if (each.process === one.process) each.to ??= simulation.now;
      one.number++;
      one.process = startRunner(run, machine, `${one.name}${one.number}`, state);
    };
    simulation.schedule(undefined, 1000, 'trouble', trouble);
    await simulation.run({ until: end });
    state.isHealed = true;
    const healed = simulation.now;
    const missing = (): string | undefined =>
      ['short', 'long'].find(
        (job) => !runs.some((each) => each.job === job && each.from > healed && each.to !== undefined),
      );
    await simulation.run({ until: end + 15 * MINUTE, isDone: () => missing() === undefined });
    if (missing() !== undefined) simulation.violate(`the job ${missing()} has not run for a quarter of an hour`);
  },
};

interface JobsState {
  readonly dataFolder: string;
  readonly runs: JobRun[];
  /** Until then a run may be called interrupted. */
  excusedUntil: number;
  isHealed: boolean;
}

function startRunner(run: Run, machine: Machine, name: string, state: JobsState): SimulatedProcess {
  const { simulation } = run;
  const random = simulation.random.fork(`jobs of ${name}`);
  const process = run.start({ name, machine, isCatalogDistant: true });
  const { SYSTEM_CLOCK } = process.product;
  const warn = (...given: readonly unknown[]): void => {
    const line = String(given.at(-1));
    if (line.includes('ended before the run finished') && simulation.now > state.excusedUntil) {
      simulation.violate(`${name}: a run is called interrupted, and no process has ended`);
    }
  };
  process.holdsLease = (job) => {
    if (state.isHealed || !simulation.decide('lose lease', random, 0.1)) return true;
    state.excusedUntil = simulation.now + 5 * MINUTE;
    for (const each of state.runs) if (each.job === job && each.process === process) each.lostAt ??= simulation.now;
    return false;
  };
  const jobOf = (job: string, every: number, length: number): Job => ({
    name: job,
    every,
    jitter: 0.1,
    async run({ report }, signal) {
      const { now } = simulation;
      const other = state.runs.find(
        (each) =>
          each.job === job && each.to === undefined && (each.lostAt === undefined || each.lostAt + NOTICED_AFTER < now),
      );
      if (other !== undefined) simulation.violate(`${name} runs the job ${job} while ${other.process.name} does`);
      const last = state.runs.findLast((each) => each.job === job && each.isDone);
      if (last !== undefined && now < last.from + 0.9 * every && now < last.to! + 0.9 * every) {
        simulation.violate(
          `${name} runs the job ${job} ${Math.round((now - last.from) / 1000)} s after a run that succeeded`,
        );
      }
      const own: JobRun = { job, process, from: now, to: undefined, lostAt: undefined, isDone: false };
      state.runs.push(own);
      try {
        for (let step = 0; step < length; step++) {
          report(`step ${step + 1} of ${length}`);
          await SYSTEM_CLOCK.sleep(random.whole(100, 3000), signal);
          signal.throwIfAborted();
        }
        if (!state.isHealed && simulation.decide('fail', random, 0.2)) throw new Error('The job has failed.');
        report(`step ${length} of ${length}, done`);
        own.isDone = true;
        return { steps: length };
      } finally {
        own.to = simulation.now;
      }
    },
  });
  const jobs = [jobOf('short', 30_000, 3), jobOf('long', 5 * MINUTE, 40)];
  runJobs(run, process, { dataFolder: state.dataFolder, jobs, log: { warn }, create: true });
  return process;
}
