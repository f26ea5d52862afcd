/** How many evaluations open and resolve an alert of a check. */
export interface Lifecycle {
  /** Consecutive evaluations on which the condition must hold. */
  readonly opensAfter: number;
  /** Consecutive evaluations on which values must be back to normal. */
  readonly resolvesAfter: number;
  /** Days, or hours of a check by hour, after which an alert expires; null for never. */
  readonly expiresAfter: number | null;
}

/** The state of a check's subject between two evaluations; plain data. */
export interface SubjectState<Baseline> {
  /** Consecutive evaluations on which the condition held. */
  running: number;
  open: OpenState<Baseline> | null;
}

export interface OpenState<Baseline> {
  /** The day on which it opened, as a day number, or the hour. */
  readonly since: number;
  /** Usual values at opening. */
  readonly baseline: Baseline;
  /** Consecutive evaluations on which values were back to normal. */
  back: number;
}

export function newState<Baseline>(): SubjectState<Baseline> {
  return { running: 0, open: null };
}

/** Counts an evaluation without an open alert. Returns whether to open one. */
export function countTowardsOpening(
  { opensAfter }: Pick<Lifecycle, 'opensAfter'>,
  state: SubjectState<unknown>,
  holds: boolean,
): boolean {
  state.running = holds ? state.running + 1 : 0;
  return state.running >= opensAfter;
}

export function open<Baseline>(state: SubjectState<Baseline>, since: number, baseline: Baseline): void {
  state.open = { since, baseline, back: 0 };
  state.running = 0;
}

/**
 * Counts an evaluation with an open alert. Returns why it resolves, or undefined.
 * @param isBack undefined if the check could not be evaluated
 */
export function countTowardsEnd(
  { resolvesAfter, expiresAfter }: Lifecycle,
  state: OpenState<unknown>,
  day: number,
  isBack: boolean | undefined,
): 'back' | 'expired' | undefined {
  state.back = isBack === true ? state.back + 1 : 0;
  if (state.back >= resolvesAfter) return 'back';
  return expiresAfter !== null && day - state.since >= expiresAfter ? 'expired' : undefined;
}
