import type { FastifyBaseLogger } from 'fastify';
import type { OpenCatalog } from '../catalog/catalog.ts';
import type { Settings } from '../settings/settings.ts';

export type JobLog = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** The input of a run. */
export interface JobContext {
  readonly settings: Settings;
  /** Opened for this run. */
  readonly catalog: OpenCatalog;
  /** Adds the job name to each line. */
  readonly log: JobLog;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Reports the progress of a long run for `jobs status`. */
  readonly report: (progress: string) => void;
}

/** The result of a run, for the log and `jobs status`. */
export type JobResult = Readonly<Record<string, number | string | boolean>>;

/** Periodic background work, run by one process at a time unless `processes` says otherwise. */
export interface Job {
  /** Letters, digits and dashes. */
  readonly name: string;
  /** Milliseconds between the starts of two runs. */
  readonly every: number;
  /** Random delay of the next run as a share of `every`, from 0 to 1. */
  readonly jitter: number;
  /**
   * Max processes that run it at the same time; 1 by default. They must share its work by leases of their own. See
   * `seatName`.
   */
  readonly processes?: number;
  /** For frequent jobs: runs with an empty result are not logged. */
  readonly isQuiet?: boolean;
  /**
   * Runs the job. When `signal` is aborted it must throw within a second, in a state from which the next run can continue;
   * then the process ends. A failed run is retried with exponential back-off, and one that missed rollups as soon as they
   * have been made again.
   */
  run(context: JobContext, signal: AbortSignal): Promise<JobResult>;
}
