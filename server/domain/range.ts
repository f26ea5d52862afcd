import { addDays, countDays, type Day, earlier, later, monthsEarlier } from './dates.ts';
import { invalidRequest } from './errors.ts';

/** Both days included. */
export interface Range {
  readonly from: Day;
  readonly to: Day;
}

/** From the first to the last day of several ranges. */
export function spanOf(ranges: readonly Range[]): Range {
  return { from: ranges.map(({ from }) => from).reduce(earlier), to: ranges.map(({ to }) => to).reduce(later) };
}

/** Days in order as ranges of days that follow each other. */
export function rangesOf(days: readonly Day[]): Range[] {
  const ranges: { from: Day; to: Day }[] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    if (last !== undefined && addDays(last.to, 1) === day) last.to = day;
    else ranges.push({ from: day, to: day });
  }
  return ranges;
}

/** Whether one of some ranges has a day. */
export function haveDay(ranges: readonly Range[], day: Day): boolean {
  return ranges.some(({ from, to }) => from <= day && day <= to);
}

/** What is left of a range without the days of another one. */
export function withoutRange({ from, to }: Range, other: Range): Range[] {
  if (other.to < from || other.from > to) return [{ from, to }];
  return [
    ...(other.from > from ? [{ from, to: addDays(other.from, -1) }] : []),
    ...(other.to < to ? [{ from: addDays(other.to, 1), to }] : []),
  ];
}

export const EVERY_DAY: Range = { from: '0001-01-01', to: '9999-12-31' };

/** The last day of a range as sent: a day, or `final` for the last final day of the project. */
export type LastDay = string;

/** The range parameters of a request. Days are already checked to be calendar days. */
export interface RangeParameters {
  readonly from?: Day | undefined;
  readonly to?: LastDay | undefined;
  readonly period?: string | undefined;
}

/** The longest range, in days: 16 months of the search engine's history. */
export const MAX_DAYS = 486;
/** Months of history that the search engine has. */
export const HISTORY_MONTHS = 16;
const DEFAULT_DAYS = 28;
/** Exactly 1d to 486d and 1m to 16m. */
export const PERIOD_PATTERN = '^(([1-9]|[1-9][0-9]|[123][0-9][0-9]|4[0-7][0-9]|48[0-6])d|([1-9]|1[0-6])m)$';
const PERIOD = new RegExp(PERIOD_PATTERN);

/**
 * Resolves the range of a request. It ends at `to`, at `finalDay` for `final`, or at `lastDay` if `to` is not given.
 * Throws `invalid_request` for `from` together with `period`, `from` after `to`, and more than 486 days.
 */
export function resolveRange(parameters: RangeParameters, lastDay: Day, finalDay = lastDay): Range {
  const to = parameters.to === 'final' ? finalDay : (parameters.to ?? lastDay);
  if (parameters.period !== undefined) {
    if (parameters.from !== undefined) throw invalidRequest('from and period exclude each other; send one of them.');
    return { from: periodStart(parameters.period, to), to };
  }
  const from = parameters.from ?? addDays(to, 1 - DEFAULT_DAYS);
  if (from > to) {
    const end = parameters.to === undefined ? `${to}, the last day when to is not given` : `to (${to})`;
    throw invalidRequest(`from (${from}) must not be after ${end}.`);
  }
  checkLength('from and to', { from, to });
  return { from, to };
}

/** Checks a range that a parameter gives with both days. Throws `invalid_request`. */
export function checkRange(parameter: string, range: Range): Range {
  const { from, to } = range;
  if (from > to) throw invalidRequest(`${parameter} must not begin (${from}) after its end (${to}).`);
  checkLength(parameter, range);
  return range;
}

function checkLength(parameters: string, { from, to }: Range): void {
  const days = countDays(from, to);
  if (days > MAX_DAYS) throw invalidRequest(`${parameters} span ${days} days; a range has at most ${MAX_DAYS}.`);
}

/**
 * First day of a period that ends at `to`: `Nd` counts days, `Nm` starts the day after the same day N months earlier.
 * Sixteen calendar months can be longer than 486 days; the start is then later.
 */
function periodStart(period: string, to: Day): Day {
  if (!PERIOD.test(period)) {
    throw invalidRequest(`period must be 1d to ${MAX_DAYS}d or 1m to ${HISTORY_MONTHS}m, not '${period}'.`);
  }
  const count = Number(period.slice(0, -1));
  if (period.endsWith('d')) return addDays(to, 1 - count);
  const start = addDays(monthsEarlier(to, count), 1);
  const earliest = addDays(to, 1 - MAX_DAYS);
  return start < earliest ? earliest : start;
}

/**
 * Cuts a keyword range to the plan's history. Throws `invalid_request` if all of it is before the history.
 * @param parameter that gives the range, if not from and to
 */
export function clampToHistory(range: Range, historyFrom: Day, parameter?: string): Range & { clamped: boolean } {
  if (range.to < historyFrom) {
    const named = parameter ?? 'from and to';
    const wanted = parameter ?? 'to (or a period)';
    throw invalidRequest(
      `${named} (${range.from} to ${range.to}) lie before ${historyFrom}, the first day of keyword data of this plan; ${wanted} must reach that day.`,
    );
  }
  const clamped = range.from < historyFrom;
  return { from: clamped ? historyFrom : range.from, to: range.to, clamped };
}

/** The part of a range between two days, or null if there is none. */
export function within(range: Range, first: Day, last: Day): Range | null {
  const from = range.from > first ? range.from : first;
  const to = range.to < last ? range.to : last;
  return from <= to ? { from, to } : null;
}
