/** Pauses between attempts, in milliseconds. */
export interface BackOff {
  readonly first: number;
  readonly max: number;
}

/** The pause after some consecutive failures: it doubles with each, up to `max`. @param failures at least 1 */
export function pauseAfter(failures: number, { first, max }: BackOff): number {
  return Math.min(max, first * 2 ** (failures - 1));
}
