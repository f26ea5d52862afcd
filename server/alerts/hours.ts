import type { Catalog } from '../catalog/catalog.ts';
import { filesOf } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { listPartialDays, listUnusualDays, type PartialDay, type UnusualDay } from '../catalog/sync-days.ts';
import { readHoursUntil } from '../catalog/sync-projects.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../domain/dates.ts';
import { firstIncompleteHour, HOUR, type HourStart, hoursOf, hourText, startOfPacificDay } from '../domain/hours.ts';
import type { Range } from '../domain/range.ts';
import { percentText } from '../domain/shown-numbers.ts';
import { type HourMeasures, siteHours } from '../facts/days.ts';
import type { Facts } from '../facts/facts.ts';
import type { StoredFile } from '../storage/file-store.ts';
import {
  countTowardsEnd,
  countTowardsOpening,
  type EvaluatedAlert,
  type Lifecycle,
  newState,
  open,
  SITE_SUBJECT,
  type SubjectState,
} from './alert.ts';
import { type AlertCalendar, toPrefixSums } from './calendar.ts';
import { hourlyStopText } from './texts.ts';

const DAY = 24;
/** In hours. After a week, the stop is part of the weeks before. */
const LIFECYCLE: Lifecycle = { opensAfter: 2, resolvesAfter: 2, expiresAfter: 7 * DAY };
/** Days that are evaluated, of which the first only find alerts that may still be open afterwards. */
const REPLAYED_DAYS = 42;
const FIRST_DAYS = 8;

/** What the check of hours reads of a project. */
export interface HourlyInput {
  /** The first day of which alerts are known. */
  readonly covered: Day;
  /** The days of the evaluated hours. */
  readonly evaluated: Range;
  readonly read: Range;
  readonly files: readonly StoredFile[];
  readonly unusual: ReadonlyMap<Day, UnusualDay>;
  readonly partial: ReadonlyMap<Day, PartialDay>;
  readonly until: HourStart;
}

/** @param last the last day whose hours are evaluated */
export async function readHourlyInput(tx: Catalog, { id, provisionalAfter }: Project, last: Day): Promise<HourlyInput> {
  const evaluated = { from: addDays(last, -REPLAYED_DAYS), to: last };
  const read = { from: addDays(evaluated.from, -HOURLY_LOOK_BACK), to: last };
  return {
    covered: addDays(evaluated.from, FIRST_DAYS),
    evaluated,
    read,
    files: await filesOf(tx, id, 'site_hourly', read),
    unusual: await listUnusualDays(tx, id, 'site_hourly', read),
    partial: await listPartialDays(tx, id, read),
    until: firstIncompleteHour(await readHoursUntil(tx, id), provisionalAfter),
  };
}

/**
 * The alerts of the complete hours of a project, from `covered` on. All hours are evaluated each time: an alert is open for a
 * week at most, so that no state is needed.
 */
export async function replayHours(
  facts: Facts,
  { covered, evaluated, read, files, unusual, partial, until }: HourlyInput,
  { calendar, signal }: { calendar: AlertCalendar; signal: AbortSignal },
): Promise<EvaluatedAlert[]> {
  if (files.length === 0) return [];
  const rows = await siteHours(facts, { files, range: read, signal });
  const stored = new Set(rows.map(({ hour }) => pacificDayOf(hour / 1000)));
  for (const [day, { state }] of unusual) if (state === 'empty') stored.add(day);
  for (const [day, { isMissed }] of partial) if (isMissed) stored.delete(day);
  const clicks = new HourlyClicks(read, { rows, stored, until });
  const hours = eachDay(evaluated.from, evaluated.to)
    .flatMap(hoursOf)
    .filter((hour) => hour < until);
  return alertsOfHours(clicks, hours, calendar).filter(({ date }) => date >= covered);
}

/** The alerts of consecutive hours, evaluated in order. */
export function alertsOfHours(
  clicks: HourlyClicks,
  hours: readonly HourStart[],
  calendar: AlertCalendar,
): EvaluatedAlert[] {
  const alerts: EvaluatedAlert[] = [];
  let state: SubjectState<null> = newState();
  for (const hour of hours) {
    const result = clicks.stopAt(hour);
    if (state.open === null) {
      if (!countTowardsOpening(LIFECYCLE, state, result?.opens ?? false)) continue;
      open(state, hour / HOUR, null);
      alerts.push(alertOf(hour, result!, calendar));
      continue;
    }
    const reason = countTowardsEnd(LIFECYCLE, state.open, hour / HOUR, result?.isBack);
    if (reason === undefined) continue;
    const alert = alerts.at(-1)!;
    const why =
      reason === 'back' ? `${percentText(result!.clicks / result!.usual)} of the usual clicks are back` : NEW_LEVEL;
    alert.resolvedOn = pacificDayOf(hour);
    alert.body += calendar.resolved(calendar.indexOf(alert.resolvedOn), why);
    state = newState();
  }
  return alerts;
}

/** Why an alert resolves whose hours are as they were since. */
export const NEW_LEVEL = 'after 7 days this is the new level';

function alertOf(hour: HourStart, stop: HourlyStop, calendar: AlertCalendar): EvaluatedAlert {
  const date = pacificDayOf(hour);
  const { title, body } = hourlyStopText(stop, {
    from: hourText(hour - (STOP_HOURS - 1) * HOUR),
    to: hourText(hour + HOUR),
  });
  return {
    type: 'hourly_stop',
    subject: SITE_SUBJECT,
    // Two of one day are told apart by their hour.
    basis: hourText(hour),
    severity: 'critical',
    title,
    body: body + calendar.notesAbout(calendar.indexOf(date), null),
    date,
    keywordId: null,
    resolvedOn: null,
  };
}

/** Hours of the window, which ends with the evaluated hour. */
const STOP_HOURS = 6;
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
