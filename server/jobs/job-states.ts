import { type JobRow, listJobRows, putJobProgress, putJobRow, type Usage } from '../catalog/usage.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { JobResult } from './job.ts';

/** `stopped`: its process was shut down. `interrupted`: its process ended unexpectedly. */
export type Outcome = 'succeeded' | 'failed' | 'stopped' | 'interrupted';

/** The last or current run of a job. Times in milliseconds. */
export interface JobState {
  /** See `seatName`. */
  readonly job: string;
  readonly startedAt: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
  readonly outcome: Outcome | null;
  /** Consecutive failures. */
  readonly failures: number;
  /** Error of the last failed or interrupted run, until a run succeeds. */
  readonly error: string | null;
  /** Result of the last successful run. */
  readonly result: JobResult | null;
  readonly progress: string | null;
  readonly nextAt: number;
}

/**
 * The states of jobs, shared by all processes through the usage database. If it is unavailable, each process uses its own
 * states.
 */
export class JobStates {
  readonly #usage: Usage;
  readonly #written = new Map<string, JobState>();

  constructor(usage: Usage) {
    this.#usage = usage;
  }

  async read(job: string): Promise<JobState | undefined> {
    const stored = (await this.all()).find((state) => state.job === job);
    const written = this.#written.get(job);
    if (stored === undefined || written === undefined) return stored ?? written;
    // A write may have been dropped.
    return isLater(written, stored) ? written : stored;
  }

  async all(): Promise<JobState[]> {
    return (await listJobRows<Outcome>(this.#usage)).map((row) => ({
      ...row,
      startedAt: row.startedAt / 1000,
      endedAt: row.endedAt === null ? null : row.endedAt / 1000,
      nextAt: row.nextAt / 1000,
      result: row.result === null ? null : (JSON.parse(row.result) as JobResult),
    }));
  }

  async write(state: JobState): Promise<void> {
    this.#written.set(state.job, state);
    const row: JobRow = {
      ...state,
      startedAt: toMicroseconds(state.startedAt),
      endedAt: state.endedAt === null ? null : toMicroseconds(state.endedAt),
      nextAt: toMicroseconds(state.nextAt),
      result: state.result === null ? null : JSON.stringify(state.result),
    };
    await putJobRow(this.#usage, row);
  }

  /** Stores the progress of a run that may have ended when this is stored; then without effect. */
  async writeProgress({ job, startedAt }: JobState, progress: string): Promise<void> {
    await putJobProgress(this.#usage, { job, startedAt: toMicroseconds(startedAt), progress });
  }
}

function isLater(a: JobState, b: JobState): boolean {
  return a.startedAt > b.startedAt || (a.startedAt === b.startedAt && a.endedAt !== null && b.endedAt === null);
}
