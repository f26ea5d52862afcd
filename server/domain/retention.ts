import { addDays, type Day, dayOf, monthOf } from './dates.ts';

/** Days of facts that a workspace keeps: null uses the setting, 0 keeps all. */
export type KeepDays = number | null;

/**
 * The first day of facts that are kept: the first day of the month that contains the oldest day to keep. Null if all are
 * kept. @param now milliseconds
 */
export function keptFrom(keepDays: KeepDays, setting: number, now: number): Day | null {
  const days = keepDays ?? setting;
  return days === 0 ? null : `${monthOf(addDays(dayOf(now), 1 - days))}-01`;
}
