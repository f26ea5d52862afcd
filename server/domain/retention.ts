import { addDays, type Day, dayOf, monthOf } from './dates.ts';

/** Days that a workspace keeps: null for those of the setting; 0 for all. */
export type KeepDays = number | null;

/**
 * The first day of facts that are kept: the first day of the month that contains the oldest day to keep. Null if all are
 * kept. @param now milliseconds
 */
export function keptFrom(keepDays: KeepDays, setting: number, now: number): Day | null {
  const days = keepDays ?? setting;
  return days === 0 ? null : `${monthOf(addDays(dayOf(now), 1 - days))}-01`;
}
