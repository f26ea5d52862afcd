import { countTowardsEnd, countTowardsOpening, type Lifecycle, newState, open } from '../../server/alerts/lifecycle.ts';

/** The judgement of a formula on a day. */
export interface Judgement {
  /** The value of the last week and the usual one: clicks, or a position. */
  readonly value: number;
  readonly usual: number;
  /** How improbable the value is; a formula opens at its limit or above. */
  readonly score: number;
  /** Whether all conditions except the score hold. */
  readonly isEligible: boolean;
}

/** The lifecycle of alerts, the same for all compared formulas. */
export interface ComparedRule extends Lifecycle {
  readonly isBack: (now: Judgement, atOpening: Judgement) => boolean;
}

/** Indexes of the days on which alerts open. @param judgements by day; undefined if there is none */
export function openings(judgements: readonly (Judgement | undefined)[], rule: ComparedRule, limit: number): number[] {
  const opened: number[] = [];
  let state = newState<Judgement>();
  for (const [day, judgement] of judgements.entries()) {
    if (state.open === null) {
      const holds = judgement?.isEligible === true && judgement.score >= limit;
      if (!countTowardsOpening(rule, state, holds)) continue;
      open(state, day, judgement!);
      opened.push(day);
    } else {
      const isBack = judgement && rule.isBack(judgement, state.open.baseline);
      if (countTowardsEnd(rule, state.open, day, isBack) !== undefined) state = newState();
    }
  }
  return opened;
}

/** The most days of a list, as numbers, within seven days. */
export function worstWeek(days: readonly number[]): number {
  return days.reduce((most, day) => Math.max(most, days.filter((other) => other >= day && other < day + 7).length), 0);
}
