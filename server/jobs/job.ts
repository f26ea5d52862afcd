import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { Settings } from '../settings.ts';

export type JobLog = Pick<FastifyBaseLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** What a run is given. */
export interface JobContext {
  readonly settings: Settings;
  /** Opened for this run. */
  readonly catalog: Catalog;
  /** Each of its lines names the job. */
  readonly log: JobLog;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Says how far a long run is; `jobs status` shows it. */
  readonly report: (progress: string) => void;
}

/** What a run did, in numbers and short texts; it is logged, and `jobs status` shows it. */
export type JobResult = Readonly<Record<string, number | string | boolean>>;

/** Work in the background, done now and then by one process at a time. */
export interface Job {
  /** Letters, digits and dashes; also the name of its lease. */
  readonly name: string;
  /** Milliseconds from the start of a run to that of the next one. */
  readonly every: number;
  /** By which part of `every` the next run may be later, from 0 to 1, so that jobs spread out. */
  readonly jitter: number;
  /** It runs so often that those runs are not worth a line in the log which had nothing to do: their result is empty. */
  readonly isQuiet?: boolean;
  /**
   * One run, however long it takes. When `signal` is aborted it must throw within a second, in a state from which the
   * next run can go on; the process ends then at any rate. A run that throws is repeated after a growing pause.
   */
  run(context: JobContext, signal: AbortSignal): Promise<JobResult>;
}
