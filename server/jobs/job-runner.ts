import type { OpenCatalog } from '../catalog/catalog.ts';
import { type Lease, type Leases, whileHeld } from '../catalog/leases.ts';
import { seatName } from '../catalog/usage.ts';
import { withoutLostRollups } from '../load/without-lost-rollups.ts';
import { measure } from '../runtime/measurements.ts';
import type { Settings } from '../settings/settings.ts';
import type { Clock } from './clock.ts';
import type { Job, JobLog } from './job.ts';
import type { JobState, JobStates, Outcome } from './job-states.ts';
import { dueAt, nextAfterFailure, nextAfterInterruption, nextAfterSuccess } from './schedule.ts';

export interface JobRunnerOptions {
  readonly jobs: readonly Job[];
  readonly settings: Settings;
  /** Opens the catalog for one run, so that a replaced catalog is noticed. */
  readonly openCatalog: () => Promise<OpenCatalog>;
  readonly leases: Leases;
  readonly states: JobStates;
  readonly log: JobLog & { child(bindings: { job: string }): JobLog };
  /** The message of an error for storage, with possible keys redacted. */
  readonly describeError: (error: Error) => string;
  readonly clock: Clock;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
}

/** How often to check whether another process has finished a run, in milliseconds. */
const WATCH_INTERVAL = 2000;
/** The longest sleep before the state is read again, because another process may have changed it. */
const MAX_SLEEP = 60_000;
/** Retry interval if leases or states are unavailable, in milliseconds. */
const RETRY_PAUSE = 60_000;
const PROGRESS_INTERVAL = 1000;
const MAX_ERROR_LENGTH = 500;

/** A job and the lease with which this process runs it. */
interface TakenSeat {
  readonly job: Job;
  readonly seat: string;
  readonly lease: Lease;
}

type RunEnd = Pick<JobState, 'failures' | 'error' | 'nextAt'> & Partial<JobState> & { readonly outcome: Outcome };

/** Runs due jobs, each in as many of the processes that share the leases as it allows. */
export class JobRunner {
  readonly #options: JobRunnerOptions;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** Runs jobs until the signal is aborted; resolves when all have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#options.jobs.map((job) => this.#repeat(job, signal)));
  }

  async #repeat(job: Job, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const jobLog = log.child({ job: job.name });
    while (!signal.aborted) {
      const pause = await this.#runIfDue(job, jobLog, signal).catch((error: unknown) => {
        jobLog.error({ err: error }, 'the job cannot be started');
        return RETRY_PAUSE;
      });
      await clock.sleep(pause, signal);
    }
  }

  /** Returns when to look at the job again, in milliseconds from now. */
  async #runIfDue(job: Job, log: JobLog, signal: AbortSignal): Promise<number> {
    const { clock, leases, states } = this.#options;
    // A later seat is for a process that finds all before it taken.
    for (let number = 1; number <= (job.processes ?? 1); number++) {
      const seat = seatName(job.name, number);
      const wait = dueAt(await states.read(seat), clock.now()) - clock.now();
      if (wait > 0) return Math.min(wait, MAX_SLEEP);
      const lease = await leases.acquire(seat);
      if (lease === undefined) continue;
      try {
        await this.#runOn({ job, seat, lease }, log, signal);
      } finally {
        await lease.release();
      }
      return 0;
    }
    return WATCH_INTERVAL;
  }

  async #runOn(taken: TakenSeat, log: JobLog, signal: AbortSignal): Promise<void> {
    const { clock, states, random } = this.#options;
    // Read again with the lease held, because another process may just have run it.
    const state = await states.read(taken.seat);
    if (state !== undefined && state.endedAt === null) {
      log.warn('the process that ran the job ended before the run finished');
      await states.write(interrupted(taken.job, state, clock.now(), random));
    } else if (dueAt(state, clock.now()) <= clock.now()) {
      await this.#run(taken, log, signal);
    }
  }

  async #run({ job, seat, lease }: TakenSeat, log: JobLog, signal: AbortSignal): Promise<void> {
    const { clock, states, settings, openCatalog, random } = this.#options;
    const before = await states.read(seat);
    const startedAt = clock.now();
    const running: JobState = {
      job: seat,
      startedAt,
      endedAt: null,
      outcome: null,
      failures: before?.failures ?? 0,
      error: before?.error ?? null,
      result: before?.result ?? null,
      progress: null,
      nextAt: startedAt,
    };
    await states.write(running);
    log.debug('job started');
    let reportedAt = Number.NEGATIVE_INFINITY;
    const report = (progress: string): void => {
      if (clock.now() - reportedAt < PROGRESS_INTERVAL) return;
      reportedAt = clock.now();
      void states.writeProgress(running, progress);
    };
    let isLost = false;
    let end: RunEnd;
    try {
      await using catalog = await openCatalog();
      const context = { settings, catalog, log, now: clock.now, report };
      const message = 'The lease of the job was lost; another process may be running it.';
      const result = await whileHeld(lease, { message, sleep: clock.sleep }, (lost) => {
        lost.addEventListener('abort', () => (isLost = true), { once: true });
        const ending = AbortSignal.any([signal, lost]);
        const onWarning = (warning: string): void => log.warn(warning);
        const stores = { settings, catalog, onWarning };
        return withoutLostRollups(stores, () => job.run(context, ending), { signal: ending });
      });
      const endedAt = clock.now();
      const level = job.isQuiet === true && Object.keys(result).length === 0 ? 'debug' : 'info';
      log[level]({ result, ms: endedAt - startedAt }, 'job done');
      const nextAt = nextAfterSuccess(job, startedAt, endedAt, random);
      end = { outcome: 'succeeded', failures: 0, error: null, result, nextAt };
    } catch (error) {
      const endedAt = clock.now();
      if (signal.aborted) {
        log.info({ ms: endedAt - startedAt }, 'job stopped');
        // The next process continues with it immediately.
        end = { outcome: 'stopped', failures: running.failures, error: running.error, nextAt: endedAt };
      } else {
        const failures = running.failures + 1;
        const message = this.#options.describeError(error instanceof Error ? error : new Error(String(error)));
        const nextAt = nextAfterFailure(job, endedAt, failures, random);
        log.error({ err: error, failures, nextRun: new Date(nextAt).toISOString() }, 'job failed');
        end = { outcome: 'failed', failures, error: message.slice(0, MAX_ERROR_LENGTH), nextAt };
      }
    }
    const { outcome } = end;
    measure('jobRun', () => ({ job: job.name, outcome, seconds: (clock.now() - startedAt) / 1000 }));
    // With a lost lease, another process stores the state of the job.
    if (!isLost) await states.write({ ...running, ...end, endedAt: clock.now() });
  }
}

function interrupted(job: Job, state: JobState, now: number, random: () => number): JobState {
  const failures = state.failures + 1;
  const error = 'The process that ran it ended before the run did.';
  const nextAt = nextAfterInterruption(job, now, failures, random);
  return { ...state, endedAt: now, outcome: 'interrupted', failures, error, nextAt };
}
