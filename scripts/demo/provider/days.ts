import { addDays, type Day, monthsEarlier, pacificDayOf } from '../../../server/domain/dates.ts';
import type { Stage } from './searches.ts';

/** When days can be read, and when they are final. */
export interface Timetable {
  /** A day is final when it is so many Pacific days ago. */
  finalAfterDays: number;
  /** Hours after its start in which a day has nothing to be read yet. */
  visibleAfterHours: number;
  /** A day that is not final changes every so many hours. */
  stageHours: number;
  /** Days are kept for 16 months and so many days more. */
  keptDaysMore: number;
}

export const TIMETABLE: Readonly<Timetable> = {
  finalAfterDays: 3,
  visibleAfterHours: 4,
  stageHours: 6,
  keptDaysMore: 14,
};

const HOUR = 3_600_000;
const KEPT_MONTHS = 16;

/** @param now milliseconds, as everywhere here */
export function firstIncompleteDay(now: number, { finalAfterDays }: Timetable): Day {
  return addDays(pacificDayOf(now), 1 - finalAfterDays);
}

/** The newest day with anything to be read. */
export function newestDay(now: number, { visibleAfterHours }: Timetable): Day {
  return pacificDayOf(now - visibleAfterHours * HOUR);
}

/** The oldest day that is still kept. */
export function oldestDay(now: number, { keptDaysMore }: Timetable): Day {
  return addDays(monthsEarlier(pacificDayOf(now), KEPT_MONTHS), -keptDaysMore);
}

export function stageOf(day: Day, now: number, timetable: Timetable): Stage {
  if (day < firstIncompleteDay(now, timetable)) return 'final';
  const start = Temporal.PlainDate.from(day).toZonedDateTime('America/Los_Angeles').epochMilliseconds;
  return Math.max(0, Math.floor((now - start) / (timetable.stageHours * HOUR)));
}
