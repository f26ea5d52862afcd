import { countDays, type Day, eachDay } from '../domain/dates.ts';

/** A day with rows. */
export interface RowDay {
  readonly day: Day;
  /** Whether any of its rows has data. */
  readonly hasData: boolean;
}

/** The days of the rows of a table. */
export interface RowDays {
  /** Null without days. */
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  /** The last day that has data. */
  readonly lastDataDay: Day | null;
  /** Days from the first to the last without data. */
  readonly missingDays: readonly Day[];
}

export const NO_DAYS: RowDays = { firstDay: null, lastDay: null, lastDataDay: null, missingDays: [] };

/** @param rows in order */
export function daysOfRows(rows: readonly RowDay[]): RowDays {
  const [first, last] = [rows[0]?.day, rows.at(-1)?.day];
  if (first === undefined || last === undefined) return NO_DAYS;
  const known = new Set(rows.filter(({ hasData }) => hasData).map(({ day }) => day));
  const missingDays = eachDay(first, last).filter((day) => !known.has(day));
  return { firstDay: first, lastDay: last, lastDataDay: [...known].at(-1) ?? null, missingDays };
}

/** The interval of a chart's rows. */
export type ChartInterval = 'day' | 'week' | 'month';

/** The user interface has a row per day, week or month, in order; the usual distance of two rows shows which. */
export function intervalOf(rows: readonly RowDay[]): ChartInterval {
  const distances = rows.slice(1).map(({ day }, index) => countDays(rows[index]!.day, day) - 1);
  const usual = distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] ?? 1;
  if (usual < 7) return 'day';
  return usual < 28 ? 'week' : 'month';
}
