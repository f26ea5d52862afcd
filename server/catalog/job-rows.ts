import type { Microseconds } from '../domain/instants.ts';
import type { Usage } from './usage.ts';

/**
 * The name of the lease and the stored state of the nth process that runs a job at the same time as others. The state of
 * the first one is that of the job.
 */
export function seatName(job: string, seat: number): string {
  return seat === 1 ? job : `${job}.${seat}`;
}

/** The job of a seat. */
export function jobOfSeat(seat: string): string {
  return seat.split('.', 1)[0]!;
}

/** The stored state of a background job. */
export interface JobRow<Outcome extends string = string> {
  /** See `seatName`. */
  readonly job: string;
  readonly startedAt: Microseconds;
  readonly endedAt: Microseconds | null;
  readonly outcome: Outcome | null;
  readonly failures: number;
  readonly error: string | null;
  /** JSON. */
  readonly result: string | null;
  readonly progress: string | null;
  readonly nextAt: Microseconds;
}

export function listJobRows<Outcome extends string>(usage: Usage): Promise<JobRow<Outcome>[]> {
  return usage.all<JobRow<Outcome>>('job_states_all');
}

export async function putJobRow(usage: Usage, row: JobRow): Promise<void> {
  await usage.run('job_state_put', { ...row });
}

/** Stores the progress of a run. Without effect if it has ended or another has begun, so writes may be reordered. */
export async function putJobProgress(usage: Usage, row: Pick<JobRow, 'job' | 'startedAt' | 'progress'>): Promise<void> {
  await usage.run('job_progress_put', { ...row });
}
