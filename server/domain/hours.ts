import { LRUCache } from 'lru-cache';
import type { Day } from './dates.ts';

/** An hour by its start, in milliseconds. */
export type HourStart = number;

export const HOUR = 3_600_000;
const ZONE = 'America/Los_Angeles';

/** When a Pacific day begins, in milliseconds. */
export function startOfPacificDay(day: Day): HourStart {
  return startOf(Temporal.PlainDate.from(day));
}

/** When a Pacific day ends, in milliseconds. The day after 9999-12-31 has no name. */
export function endOfPacificDay(day: Day): HourStart {
  return startOf(Temporal.PlainDate.from(day).add({ days: 1 }));
}

function startOf(day: Temporal.PlainDate): HourStart {
  return day.toZonedDateTime(ZONE).epochMilliseconds;
}

// Cached, because time zones take a thousand times as long as a look-up, and hours are asked for again.
const hours = new LRUCache<Day, readonly HourStart[]>({
  max: 1000,
  memoMethod: (day) => {
    const start = startOfPacificDay(day);
    return Array.from({ length: (endOfPacificDay(day) - start) / HOUR }, (_, hour) => start + hour * HOUR);
  },
});
const texts = new LRUCache<HourStart, string>({
  max: 10_000,
  memoMethod: (start) =>
    Temporal.Instant.fromEpochMilliseconds(start)
      .toZonedDateTimeISO(ZONE)
      .toString({ timeZoneName: 'never', smallestUnit: 'second' }),
});

/** The hours of a Pacific day, in order: 24, or 23 or 25 when clocks change. */
export function hoursOf(day: Day): readonly HourStart[] {
  return hours.memo(day);
}

/**
 * The first hour that may still change; 0 if none is complete. Loaded hours of final days are complete.
 * @param until the first incomplete hour that the provider named, if it was asked
 */
export function firstIncompleteHour(until: HourStart | null, provisionalAfter: Day | null): HourStart {
  return until ?? (provisionalAfter === null ? 0 : endOfPacificDay(provisionalAfter));
}

/** `2026-11-20T07:00:00-08:00`: an hour as the search engine writes it, in Pacific time. The offset tells repeated hours apart. */
export function hourText(start: HourStart): string {
  return texts.memo(start);
}

const INSTANT = /^[1-9]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** An ISO 8601 instant with its offset, in milliseconds; undefined for other texts. */
export function parseInstant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** The start of an hour, as the search engine writes it; undefined for other texts and within an hour. */
export function parseHour(text: string): HourStart | undefined {
  const start = parseInstant(text);
  return start === undefined || start % HOUR !== 0 ? undefined : start;
}
