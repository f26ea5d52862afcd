import { previousWeeks, yearBefore } from '../../../domain/compared-days.ts';
import type { Day, Range } from './types.ts';

const DAY = 86_400_000;
/** The longest range that the API answers, in days. */
export const MAX_DAYS = 486;

export function addDays(day: Day, days: number): Day {
  return new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);
}

/** The last whole day (UTC), as far as the browser knows. */
export function yesterday(): Day {
  return addDays(new Date().toISOString().slice(0, 10), -1);
}

/** Days of a range, both ends counted. */
export function countDays({ from, to }: Range): number {
  return (Date.parse(to) - Date.parse(from)) / DAY + 1;
}

/** Every day of a range. */
export function eachDay({ from, to }: Range): Day[] {
  return Array.from({ length: Math.max(0, countDays({ from, to })) }, (_, index) => addDays(from, index));
}

/** The range of a period such as `28d` or `3m` that ends at a day, as the API resolves it. */
export function periodRange(period: string, to: Day): Range {
  const count = Number.parseInt(period, 10);
  const earliest = addDays(to, 1 - MAX_DAYS);
  if (period.endsWith('d')) return { from: addDays(to, 1 - count), to };
  const [year = 0, month = 1, day = 1] = to.split('-').map(Number);
  const lastDay = new Date(Date.UTC(year, month - count, 0)).getUTCDate();
  const start = new Date(Date.UTC(year, month - 1 - count, Math.min(day, lastDay) + 1)).toISOString().slice(0, 10);
  return { from: start < earliest ? earliest : start, to };
}

/** Periods by the calendar, up to a day: this month, quarter and year so far, and the last whole ones. */
export const CALENDAR_PERIODS: Readonly<Record<string, { readonly name: string; readonly range: (to: Day) => Range }>> =
  {
    'month-to-date': { name: 'Month to date', range: (to) => ({ from: startOf(to, 1), to }) },
    'last-month': { name: 'Last month', range: (to) => before(startOf(to, 1), 1) },
    'quarter-to-date': { name: 'Quarter to date', range: (to) => ({ from: startOf(to, 3), to }) },
    'last-quarter': { name: 'Last quarter', range: (to) => before(startOf(to, 3), 3) },
    'year-to-date': { name: 'Year to date', range: (to) => ({ from: startOf(to, 12), to }) },
  };

/** The first day of the month, quarter or year of a day, by its length in months. */
function startOf(day: Day, months: number): Day {
  const [year = 0, month = 1] = day.split('-').map(Number);
  return monthStart(year, month - 1 - ((month - 1) % months));
}

/** The so many months before the first day of one. */
function before(start: Day, months: number): Range {
  const [year = 0, month = 1] = start.split('-').map(Number);
  return { from: monthStart(year, month - 1 - months), to: addDays(start, -1) };
}

/** @param month from 0; others count into the years beside */
function monthStart(year: number, month: number): Day {
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10);
}

/** Whether a text is a day of the calendar: 2026-02-30 is none. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true;
}

/** The range to compare with. */
export function comparedRange(range: Range, compare: string): Range {
  return compare === 'year' ? yearBefore(range) : previousWeeks(range);
}

const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const longDay = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const dayOfYear = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const monthName = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' });
const monthOfYear = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const instantText = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** `3 Mar`, as the browser's language writes it. */
export function formatShortDay(day: Day): string {
  return shortDay.format(Date.parse(day));
}

/** `Tue, 3 Mar 2026`. */
export function formatDay(day: Day): string {
  return longDay.format(Date.parse(day));
}

/** `3 Mar 2026`. */
export function formatDate(day: Day): string {
  return dayOfYear.format(Date.parse(day));
}

/** A sentence of the API with its days as `formatDate` writes them; those in addresses stay. */
export function withDates(text: string): string {
  return text.replaceAll(/(?<=\s)\d{4}-\d\d-\d\d(?=[\s.,;:]|$)/g, (day) => (isDay(day) ? formatDate(day) : day));
}

/** The UTC day of an instant. */
export function formatDateOf(instant: string): string {
  return formatDate(instant.slice(0, 10));
}

export function formatMonth(day: Day): string {
  return monthName.format(Date.parse(day));
}

export function formatMonthOfYear(day: Day): string {
  return monthOfYear.format(Date.parse(day));
}

/** `2 Feb – 1 Mar 2026`. */
export function formatRange({ from, to }: Range): string {
  return dayOfYear.formatRange(Date.parse(from), Date.parse(to));
}

/** When something happened that may still go on. */
export function formatSpan({ from, to }: { readonly from: Day; readonly to: Day | null }): string {
  return to === null ? `since ${formatDate(from)}` : formatRange({ from, to });
}

export function formatInstant(instant: string): string {
  return instantText.format(Date.parse(instant));
}

/** `3 hours ago`. */
export function formatAgo(instant: string, now = Date.now()): string {
  const seconds = (Date.parse(instant) - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 90) return relative.format(0, 'minute');
  if (size < 5400) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 36 * 3600) return relative.format(Math.round(seconds / 3600), 'hour');
  return relative.format(Math.round(seconds / 86_400), 'day');
}
