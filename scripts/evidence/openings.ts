import { countTowardsEnd, countTowardsOpening, type Lifecycle, newState, open } from '../../server/alerts/lifecycle.ts';

/** What a formula makes of a day. */
export interface Judgement {
  /** The value of the last week and the usual one: clicks, or a position. */
  readonly value: number;
  readonly usual: number;
  /** How surprising the value is; the formula opens from its limit on. */
  readonly score: number;
  /** Whether all conditions besides the score hold. */
  readonly isEligible: boolean;
}

/** How the alerts of compared formulas live: all in the same way, so that only the formulas differ. */
export interface ComparedRule extends Lifecycle {
  readonly isBack: (now: Judgement, atOpening: Judgement) => boolean;
}

/** Places of the days on which alerts open. @param judgements by day; undefined: no opinion */
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
