import { dayOf } from '../../server/domain/dates.ts';

const DAYS = 487;
/** When the data of the previous day arrives (UTC), and when it is complete, in milliseconds after midnight. */
const MORNING = { hour: 4, minute: 10 };
const MORNING_ENDS = (4 * 60 + 20) * 60_000;

/** The days of the demo. They are relative to the last day, so that the demo never looks old. */
export interface Calendar {
  today: string;
  first: string;
  last: string;
  /** The day that is this many days before the last one. */
  ago(days: number): string;
  /** A UTC timestamp on the morning after that day, when the service has its data. */
  morningAfter(days: number, minutes: number): string;
  /** Every occurrence of a day of the year from a little before the first day to a little after the last. */
  yearly(month: number, day: number): string[];
}

/**
 * The day of the last morning that has passed, so that no data of the demo is in the future.
 * @param now milliseconds
 */
export function demoDay(now: number): string {
  return dayOf(now - MORNING_ENDS);
}

/** `today` is YYYY-MM-DD; the demo's last day is the day before. */
export function calendarUntil(today: string): Calendar {
  const last = Temporal.PlainDate.from(today).subtract({ days: 1 });
  const first = last.subtract({ days: DAYS - 1 });
  const ago = (days: number) => last.subtract({ days });
  return {
    today,
    first: first.toString(),
    last: last.toString(),
    ago: (days) => ago(days).toString(),
    morningAfter: (days, minutes) => {
      const morning = ago(days - 1).toPlainDateTime(MORNING);
      return morning.add({ minutes }).toString({ smallestUnit: 'second' });
    },
    yearly: (month, day) =>
      [first.year - 1, first.year, first.year + 1, first.year + 2].map((year) =>
        Temporal.PlainDate.from({ year, month, day }).toString(),
      ),
  };
}
