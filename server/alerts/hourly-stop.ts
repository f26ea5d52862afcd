import { addDays, type Day, eachDay } from '../domain/dates.ts';
import { HOUR, type HourStart, hoursOf, startOfPacificDay } from '../domain/hours.ts';
import type { Range } from '../domain/range.ts';
import type { HourMeasures } from '../facts/days.ts';
import { toPrefixSums } from './daily-sums.ts';

/** Hours of the window, which ends with the evaluated hour. */
export const STOP_HOURS = 6;
const WEEKS = 4;
/** Days before an evaluated day that the check reads: four weeks, and one whose last hours are in the first window. */
export const HOURLY_LOOK_BACK = 7 * WEEKS + 1;
/** Minimum clicks of usual hours. */
const MIN_USUAL = 30;
const OPENS = 0.2;
/** The share of usual hours at which an alert may resolve. */
const BACK = 0.5;

export interface HourlyStop {
  /** Clicks of the last six complete hours. */
  readonly clicks: number;
  /** Clicks of the same hours of the four weeks before, on average. */
  readonly usual: number;
  readonly opens: boolean;
  readonly isBack: boolean;
}

/** The clicks of the complete hours of a range, beside those of the same hours of the four weeks before. */
export class HourlyClicks {
  readonly #first: HourStart;
  /** Sums of all hours before each hour; its last entry is the number of all. */
  readonly #clicks: Float64Array;
  readonly #usual: Float64Array;
  /** How many hours before each one have no opinion. */
  readonly #unknown: Float64Array;

  /**
   * @param rows hours with rows
   * @param stored the days that are stored; their hours without a row had no clicks
   * @param until the first hour that may still change
   */
  constructor(
    { from, to }: Range,
    { rows, stored, until }: { rows: readonly HourMeasures[]; stored: ReadonlySet<Day>; until: HourStart },
  ) {
    const clicksAt = new Map(rows.map(({ hour, clicks }) => [hour / 1000, clicks]));
    const days = new Map<Day, DayOfHours>();
    const dayOf = (day: Day): DayOfHours => {
      const known = days.get(day) ?? readDay(day, clicksAt);
      days.set(day, known);
      return known;
    };
    this.#first = startOfPacificDay(from);
    const hours = eachDay(from, to).flatMap((day) => dayOf(day).starts.map((start) => ({ day, start })));
    const sums = (valueAt: (hour: (typeof hours)[number]) => number): Float64Array =>
      toPrefixSums(Float64Array.from([0, ...hours.map(valueAt)]));
    const weeksBefore = (day: Day): Day[] => Array.from({ length: WEEKS }, (_, week) => addDays(day, -7 * (week + 1)));
    this.#clicks = sums(({ start }) => clicksAt.get(start) ?? 0);
    this.#usual = sums(({ day, start }) => usualClicks(dayOf(day).clock(start), weeksBefore(day).map(dayOf)));
    this.#unknown = sums(({ day, start }) =>
      Number(start >= until || [day, ...weeksBefore(day)].some((each) => !stored.has(each))),
    );
  }

  /** Undefined if an hour of the window is not complete, or if a day of it or of the weeks before is not stored. */
  stopAt(hour: HourStart): HourlyStop | undefined {
    const end = (hour - this.#first) / HOUR + 1;
    const inWindow = (sums: Float64Array): number => sums[end]! - sums[end - STOP_HOURS]!;
    if (end < STOP_HOURS || end >= this.#clicks.length || inWindow(this.#unknown) > 0) return undefined;
    const [clicks, usual] = [inWindow(this.#clicks), inWindow(this.#usual)];
    return { clicks, usual, opens: usual >= MIN_USUAL && clicks < OPENS * usual, isBack: clicks >= BACK * usual };
  }
}

/** The hours of a day, and their clicks by what the clock shows. */
interface DayOfHours {
  readonly starts: readonly HourStart[];
  readonly clock: (start: HourStart) => number;
  /** Clicks by hour of the clock: two numbers for an hour that it shows twice, none for one that it skips. */
  readonly clicks: readonly (readonly number[])[];
}

function readDay(day: Day, clicksAt: ReadonlyMap<HourStart, number>): DayOfHours {
  const starts = hoursOf(day);
  // Clocks change at two: before, and on all other days, the hour of the clock is that of the day.
  const shift = starts.length - 24;
  const clock = (start: HourStart): number => {
    const hour = (start - starts[0]!) / HOUR;
    return hour < 2 ? hour : hour - shift;
  };
  const clicks: number[][] = Array.from({ length: 24 }, () => []);
  for (const start of starts) clicks[clock(start)]!.push(clicksAt.get(start) ?? 0);
  return { starts, clock, clicks };
}

/** The mean clicks of an hour of the clock. */
function usualClicks(clock: number, weeks: readonly DayOfHours[]): number {
  const found = weeks.flatMap(({ clicks }) => clicks[clock]!);
  return found.length === 0 ? 0 : found.reduce((sum, each) => sum + each, 0) / found.length;
}
