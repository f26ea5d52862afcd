import { addDays, type Day, monthsEarlier, pacificDayOf } from '../../../server/domain/dates.ts';
import type { Stage } from './searches.ts';

/** When days can be read, and when they are final. */
export interface Timetable {
  /** Pacific days after which a day is final. */
  finalAfterDays: number;
  /** Hours after its start during which a day has no data. */
  visibleAfterHours: number;
  /** Hours between changes of a day that is not final. */
  stageHours: number;
  /** Hours after the start of an hour during which it has no data, and after which it is final. */
  hourVisibleAfterHours: number;
  hourFinalAfterHours: number;
  /** Days, today included, of which hours are kept. */
  hourlyDays: number;
  /** Days beyond 16 months for which data is kept. */
  keptDaysMore: number;
}

export const TIMETABLE: Readonly<Timetable> = {
  finalAfterDays: 3,
  visibleAfterHours: 4,
  stageHours: 6,
  hourVisibleAfterHours: 3,
  hourFinalAfterHours: 30,
  hourlyDays: 10,
  keptDaysMore: 14,
};

const HOUR = 3_600_000;
const KEPT_MONTHS = 16;

/** @param now milliseconds */
export function firstIncompleteDay(now: number, { finalAfterDays }: Timetable): Day {
  return addDays(pacificDayOf(now), 1 - finalAfterDays);
}

/** The newest day with data. */
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
