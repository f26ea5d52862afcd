import { setTimeout as wait } from 'node:timers/promises';

/** Time as background work sees it; tests move it by hand. */
export interface Clock {
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Resolves after some milliseconds, or as soon as the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  sleep: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => {}),
};
