import { type BackOff, pauseAfter } from '../domain/back-off.ts';
import type { Job } from './job.ts';
import type { JobState } from './job-states.ts';

type Timing = Pick<Job, 'every' | 'jitter'>;
type Random = () => number;

/** Pauses after failures, in milliseconds. */
const FIRST_PAUSE = 30_000;
const MAX_PAUSE = 3_600_000;
/** Tolerated difference between clocks of nodes, in milliseconds, before a job runs on each. */
const CLOCK_DIFFERENCE = 60_000;
/** Minimum pause between runs of a job that takes longer than its interval. */
const MIN_PAUSE = 1000;

/** See `pauseAfter`; minus a random share of up to a quarter. */
export function backOff(failures: number, pauses: BackOff, random: Random): number {
  return pauseAfter(failures, pauses) * (1 - random() / 4);
}

/** When a job is due, in milliseconds; 0 for immediately, also for an unfinished run. */
export function dueAt(state: JobState | undefined, now: number): number {
  if (state === undefined || state.endedAt === null) return 0;
  // The clock was set back, so stored times are invalid.
  return state.startedAt > now + CLOCK_DIFFERENCE ? 0 : state.nextAt;
}

export function nextAfterSuccess(
  { every, jitter }: Timing,
  startedAt: number,
  endedAt: number,
  random: Random,
): number {
  return Math.max(startedAt + every * (1 + jitter * random()), endedAt + MIN_PAUSE);
}

/** @param failures consecutive failures, including this one */
export function nextAfterFailure({ every }: Timing, endedAt: number, failures: number, random: Random): number {
  return endedAt + Math.min(every, backOff(failures, { first: FIRST_PAUSE, max: MAX_PAUSE }, random));
}

/** The first interruption is retried immediately; repeated ones are delayed, because the run may crash its process. */
export function nextAfterInterruption(timing: Timing, now: number, failures: number, random: Random): number {
  return failures <= 1 ? now : nextAfterFailure(timing, now, failures - 1, random);
}
