import type { Job } from './job.ts';
import type { JobState } from './job-states.ts';

type Timing = Pick<Job, 'every' | 'jitter'>;
type Random = () => number;

/** Pauses after failures, in milliseconds. */
const FIRST_PAUSE = 30_000;
const MAX_PAUSE = 3_600_000;
/** A job that takes longer than its interval rests for so long between its runs. */
const MIN_PAUSE = 1000;

export interface BackOff {
  readonly first: number;
  readonly max: number;
}

/** A pause that doubles with each failure in a row, up to `max`; less by up to a quarter, by chance. */
export function backOff(failures: number, { first, max }: BackOff, random: Random): number {
  return Math.min(max, first * 2 ** (failures - 1)) * (1 - random() / 4);
}

/** When a job is to run, in milliseconds; 0 for at once. A run that has not ended is looked at at once, too. */
export function dueAt(state: JobState | undefined, now: number): number {
  if (state === undefined || state.endedAt === null) return 0;
  // The clock was set back: what it said before means nothing.
  return state.startedAt > now ? 0 : state.nextAt;
}

export function nextAfterSuccess(
  { every, jitter }: Timing,
  startedAt: number,
  endedAt: number,
  random: Random,
): number {
  return Math.max(startedAt + every * (1 + jitter * random()), endedAt + MIN_PAUSE);
}

/** @param failures in a row, this one included */
export function nextAfterFailure({ every }: Timing, endedAt: number, failures: number, random: Random): number {
  return endedAt + Math.min(every, backOff(failures, { first: FIRST_PAUSE, max: MAX_PAUSE }, random));
}

/** The first time another process goes on at once; a run that ends its process each time must not do so all day. */
export function nextAfterInterruption(timing: Timing, now: number, failures: number, random: Random): number {
  return failures <= 1 ? now : nextAfterFailure(timing, now, failures - 1, random);
}
