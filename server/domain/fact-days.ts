import { addDays, type Day, dayOf } from './dates.ts';

/** The first day that facts can be about. */
const FIRST_FACT_DAY: Day = '1990-01-01';

/** The last day that facts and their marks can be about: days of others may be ahead of UTC. @param now milliseconds */
export function lastFactDay(now: number): Day {
  return addDays(dayOf(now), 1);
}

/** A test whether facts can be about a day that a provider tells. @param now milliseconds */
export function factDayTest(now: number): (day: Day) => boolean {
  const last = lastFactDay(now);
  return (day) => day >= FIRST_FACT_DAY && day <= last;
}
