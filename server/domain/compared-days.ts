/**
 * Which days are compared with which: one rule for the API, digests, shares and the dashboard, which bundles this file. It
 * imports nothing.
 */

interface Days {
  readonly from: string;
  readonly to: string;
}

const DAY = 86_400_000;
/** Days from a day to the same weekday a year before. */
const YEAR = 364;
const WEEK = 7;

/** As many days just before; of whole calendar months, as many months just before. */
export function previousDays(range: Days): Days {
  return monthsMoved(range, -1) ?? moved(range, -lengthOf(range));
}

/**
 * Like `previousDays`, but whole weeks earlier where these are no months: weekdays then lie on weekdays, and no day is
 * compared with itself.
 */
export function previousWeeks(range: Days): Days {
  return monthsMoved(range, -1) ?? moved(range, -Math.ceil(lengthOf(range) / WEEK) * WEEK);
}

/** The same weekdays a year before; of whole calendar months, the same months. */
export function yearBefore(range: Days): Days {
  const months = wholeMonths(range);
  return months === undefined ? moved(range, -YEAR) : monthsFrom(range.from, -12, months);
}

/** Whole calendar months moved by their own number; undefined for other ranges. */
export function monthsMoved(range: Days, by: 1 | -1): Days | undefined {
  const months = wholeMonths(range);
  return months === undefined ? undefined : monthsFrom(range.from, by * months, months);
}

/** Whether days of two ranges can lie beside each other: on the same weekdays, or by day of the month. */
export function liesBeside(now: Days, base: Days): boolean {
  if (((Date.parse(now.from) - Date.parse(base.from)) / DAY) % WEEK === 0) return true;
  const [months, before] = [wholeMonths(now), wholeMonths(base)];
  return months !== undefined && months === before;
}

/** How many calendar months a range consists of; undefined if it is not whole ones. */
function wholeMonths({ from, to }: Days): number | undefined {
  const end = plus(to, 1);
  return from.endsWith('-01') && end.endsWith('-01') && from < end ? monthOf(end) - monthOf(from) : undefined;
}

function monthsFrom(from: string, by: number, months: number): Days {
  const start = monthOf(from) + by;
  return { from: startOf(start), to: plus(startOf(start + months), -1) };
}

/** Months since the year 0. */
function monthOf(day: string): number {
  const [year = 0, month = 1] = day.split('-').map(Number);
  return 12 * year + month - 1;
}

function startOf(month: number): string {
  return new Date(Date.UTC(Math.floor(month / 12), month % 12, 1)).toISOString().slice(0, 10);
}

function moved({ from, to }: Days, days: number): Days {
  return { from: plus(from, days), to: plus(to, days) };
}

function lengthOf({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / DAY + 1;
}

function plus(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);
}
