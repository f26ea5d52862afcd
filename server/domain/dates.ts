import { type CacheKey, cacheKey } from './cache-key.ts';

/** A calendar day as `YYYY-MM-DD`. Days of four-digit years compare correctly as texts. */
export type Day = string;

/** In milliseconds; days are UTC and have no other length. */
const DAY = 86_400_000;

/** The days of a week. */
export const WEEK = 7;

/** A month as `YYYY-MM`. */
export type Month = string;

/** Parses a day; undefined unless the text is a real calendar day from 1000-01-01 to 9999-12-31. */
export function parseDay(text: string): Day | undefined {
  if (!/^[1-9]\d{3}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(text);
  // 30 February parses as a day in March, which formats differently.
  return !Number.isNaN(at) && dayOf(at) === text ? text : undefined;
}

/** The UTC day of an instant given in milliseconds. */
export function dayOf(milliseconds: number): Day {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** The Pacific day of an instant given in milliseconds: the search engine counts Pacific days. */
export function pacificDayOf(milliseconds: number): Day {
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(milliseconds));
  return instant.toZonedDateTimeISO('America/Los_Angeles').toPlainDate().toString();
}

/** When the Pacific day of an instant ends; both in milliseconds. */
export function nextPacificMidnight(milliseconds: number): number {
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(milliseconds));
  const day = instant.toZonedDateTimeISO('America/Los_Angeles').toPlainDate();
  return day.add({ days: 1 }).toZonedDateTime('America/Los_Angeles').epochMilliseconds;
}

/** A cache of days by their start: formatting one takes twenty times as long, and ranges of reports overlap. */
const names = new Map<number, Day>();
/** 27 years. */
const MAX_NAMES = 10_000;

/** Like `dayOf`, cached, for the start of a day. */
function nameOf(start: number): Day {
  const known = names.get(start);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMES) names.clear();
  const day = dayOf(start);
  names.set(start, day);
  return day;
}

/** `days` may be negative. */
export function addDays(day: Day, days: number): Day {
  return nameOf(Date.parse(day) + days * DAY);
}

/** The same day `months` earlier, or that month's last day if it is shorter. */
export function monthsEarlier(day: Day, months: number): Day {
  // Not Temporal, which takes ten times as long: this runs for every request with a period.
  const month = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 - months;
  const year = Math.floor(month / 12);
  const lastDay = new Date(Date.UTC(year, (month % 12) + 1, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month % 12, Math.min(Number(day.slice(8)), lastDay)));
}

/** The number of days in a range, both ends included; below 1 if `from` is after `to`. */
export function countDays(from: Day, to: Day): number {
  return (Date.parse(to) - Date.parse(from)) / DAY + 1;
}

/** A number for the weekday of a day, from 0 to 6. */
export function weekdayOf(day: Day): number {
  // Days before 1970 are negative.
  return (((Date.parse(day) / DAY) % WEEK) + WEEK) % WEEK;
}

/** A cache of the days of ranges: a report about 1,000 projects uses the same few ranges many times. */
const ranges = new Map<CacheKey, readonly Day[]>();
const MAX_RANGES = 50;

/** Every day from `from` to `to`, both included; none if `from` is after `to`. */
export function eachDay(from: Day, to: Day): readonly Day[] {
  // A report asks for each of its days, which would drive out the ranges.
  if (from === to) return [from];
  const key = cacheKey(from, to);
  const known = ranges.get(key);
  if (known !== undefined) return known;
  const days: Day[] = [];
  const end = Date.parse(to);
  for (let at = Date.parse(from); at <= end; at += DAY) days.push(nameOf(at));
  if (ranges.size >= MAX_RANGES) ranges.clear();
  ranges.set(key, days);
  return days;
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

export function daysInMonth(month: Month): number {
  return Temporal.PlainYearMonth.from(month).daysInMonth;
}

export function lastDayOf(month: Month): Day {
  return `${month}-${daysInMonth(month)}`;
}

/** Every month from that of `from` to that of `to`, both included. */
export function eachMonth(from: Day, to: Day): Month[] {
  const first = Temporal.PlainYearMonth.from(monthOf(from));
  const { months } = first.until(monthOf(to), { largestUnit: 'month' });
  return Array.from({ length: months + 1 }, (_, index) => first.add({ months: index }).toString());
}

export function earlier(a: Day, b: Day): Day {
  return a < b ? a : b;
}

export function later(a: Day, b: Day): Day {
  return a > b ? a : b;
}
