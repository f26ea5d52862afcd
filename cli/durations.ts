import { parseDay } from '../server/domain/dates.ts';

const UNITS = { h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a text such as `90d` or `12h`. Throws for other texts. */
export function readDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`'${text}' is not a number of days or hours, such as 90d or 12h.`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** Milliseconds since 1970 when a duration from `now`, or a day (UTC, to its end), has passed. Throws for other texts. */
export function readEnd(text: string, now: number): number {
  const day = parseDay(text);
  if (day !== undefined) return Date.parse(day) + UNITS.d;
  if (/^\d+-/.test(text)) throw new Error(`'${text}' is not a day written YYYY-MM-DD.`);
  return now + readDuration(text);
}
