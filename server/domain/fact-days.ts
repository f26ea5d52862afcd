import { addDays, type Day, pacificDayOf } from './dates.ts';

/** The first day that facts can be about. */
const FIRST_FACT_DAY: Day = '1990-01-01';

/** A test whether facts can be about a day that a provider tells: it may be a day ahead of us. @param now milliseconds */
export function factDayTest(now: number): (day: Day) => boolean {
  const last = addDays(pacificDayOf(now), 1);
  return (day) => day >= FIRST_FACT_DAY && day <= last;
}
