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

/** As many whole weeks just before, or a year before, even if the weeks happen to be a month. */
export function weeksBefore(weeks: Days, compare: 'previous' | 'year'): Days {
  return moved(weeks, compare === 'year' ? -YEAR : -lengthOf(weeks));
}

/**
 * Which days of `base` a part of `now` is compared with: those in the same place, counted from the start of each range. If
 * both are whole months, those of the month in the same place: the days with the same numbers, or all for a whole month.
 * The result has several ranges where the days do not follow each other, and none where `base` has no such days.
 */
export function pairingOf(now: Days, base: Days): (part: Days) => readonly Days[] {
  if (!areMonths(now, base)) {
    const back = (Date.parse(base.from) - Date.parse(now.from)) / DAY;
    return (part) => cutAt(base.to, [moved(part, back)]);
  }
  const back = monthOf(base.from) - monthOf(now.from);
  return (part) => {
    const months: Days[] = [];
    for (let month = monthOf(part.from); month <= monthOf(part.to); month++) {
      months.push(...sameDays(part, month, month + back));
    }
    return joined(cutAt(base.to, months));
  };
}

/** Whether days of two ranges lie beside each other: on the same weekdays, or by day of the month. */
export function liesBeside(now: Days, base: Days): boolean {
  return areMonths(now, base) || (Date.parse(now.from) - Date.parse(base.from)) % (WEEK * DAY) === 0;
}

/** Whether two ranges are compared month by month. */
function areMonths(now: Days, base: Days): boolean {
  return wholeMonths(now) !== undefined && wholeMonths(base) !== undefined;
}

/** The days of the month `other` with the numbers of the part's days in `month`; all of them if the part has all of `month`. */
function sameDays(part: Days, month: number, other: number): Days[] {
  const [here, there] = [monthAt(month), monthAt(other)];
  if (part.from <= here.from && part.to >= here.to) return [there];
  const dayOf = (day: string): string => there.from.slice(0, -2) + day.slice(-2);
  const from = part.from > here.from ? dayOf(part.from) : there.from;
  return cutAt(there.to, [{ from, to: dayOf(part.to < here.to ? part.to : here.to) }]);
}

/** Ranges up to a last day. A day that its month does not have, such as February 31, sorts after the last one. */
function cutAt(last: string, ranges: readonly Days[]): Days[] {
  return ranges.flatMap(({ from, to }) => (from > last ? [] : [{ from, to: to < last ? to : last }]));
}

/** Ordered ranges, with those that follow each other joined. */
function joined(ranges: readonly Days[]): Days[] {
  const found: Days[] = [];
  for (const range of ranges) {
    const before = found.at(-1);
    if (before === undefined || plus(before.to, 1) !== range.from) found.push(range);
    else found[found.length - 1] = { from: before.from, to: range.to };
  }
  return found;
}

/** How many calendar months a range consists of; undefined if it is not whole ones. */
function wholeMonths({ from, to }: Days): number | undefined {
  const end = plus(to, 1);
  return from.endsWith('-01') && end.endsWith('-01') && from < end ? monthOf(end) - monthOf(from) : undefined;
}

function monthsFrom(from: string, by: number, months: number): Days {
  const start = monthOf(from) + by;
  return { from: startOf(start), to: monthAt(start + months - 1).to };
}

/** Months since the year 0. */
function monthOf(day: string): number {
  const [year = 0, month = 1] = day.split('-').map(Number);
  return 12 * year + month - 1;
}

function monthAt(month: number): Days {
  return { from: startOf(month), to: plus(startOf(month + 1), -1) };
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
