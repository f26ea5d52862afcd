const MINUTE = 60_000;

/**
 * Tells at most once a minute, and drops what else there is to tell.
 * @param now milliseconds
 */
export function onceAMinute<Words extends readonly unknown[]>(
  tell: (...words: Words) => void,
  now: () => number = () => performance.now(),
): (...words: Words) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (...words) => {
    if (now() - toldAt < MINUTE) return;
    toldAt = now();
    tell(...words);
  };
}
