import { setTimeout as wait } from 'node:timers/promises';

/** The injectable clock of background work. */
export interface Clock {
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Resolves after some milliseconds, or when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => {}),
};
