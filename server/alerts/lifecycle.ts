/** How an alert of a check opens and ends, apart from what the check says of a day. */
export interface Lifecycle {
  /** Evaluations running on which the condition must hold. */
  readonly opensAfter: number;
  /** Evaluations running on which it must be back. */
  readonly resolvesAfter: number;
  /** Days after which what has changed is usual; null: never. */
  readonly maxDays: number | null;
}

/** What is known of a check's subject between two evaluations; plain data. */
export interface SubjectState<Baseline> {
  /** Evaluations running on which the condition held. */
  running: number;
  open: OpenState<Baseline> | null;
}

export interface OpenState<Baseline> {
  /** The day on which it opened, as a number of days. */
  readonly since: number;
  /** What was usual then. */
  readonly baseline: Baseline;
  /** Evaluations running on which it was back. */
  back: number;
}

export function newState<Baseline>(): SubjectState<Baseline> {
  return { running: 0, open: null };
}

/** Counts an evaluation of what is not open; true where an alert is to open. */
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
 * Counts an evaluation of what is open; says why it resolves, where it does.
 * @param isBack undefined where the check has no opinion
 */
export function countTowardsEnd(
  { resolvesAfter, maxDays }: Lifecycle,
  state: OpenState<unknown>,
  day: number,
  isBack: boolean | undefined,
): 'back' | 'expired' | undefined {
  state.back = isBack === true ? state.back + 1 : 0;
  if (state.back >= resolvesAfter) return 'back';
  return maxDays !== null && day - state.since >= maxDays ? 'expired' : undefined;
}
