/** Microseconds since 1970 (UTC), as the catalog stores instants. */
export type Microseconds = number;

/** `2026-11-20T04:21:37.123Z`: instants in responses have milliseconds. */
export function isoInstant(microseconds: Microseconds): string {
  return new Date(Math.floor(microseconds / 1000)).toISOString();
}

export function isoInstantOrNull(microseconds: Microseconds | null): string | null {
  return microseconds === null ? null : isoInstant(microseconds);
}

/** Converts an instant in milliseconds, such as `Date.now()`. */
export function toMicroseconds(milliseconds: number): Microseconds {
  return Math.round(milliseconds * 1000);
}
