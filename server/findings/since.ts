/** The likelihood ratio from which on a change is dated. */
export const WORTH_DATING = 3;

/** Days from the first day of a week to the last day of all weeks. */
export const ageOf = (week: number | null, weeks: number): number | null =>
  week === null ? null : 7 * (weeks - week) - 1;

/**
 * The first week of the newest state of a series, by the split into two parts whose shares of what is expected differ most
 * (the greatest likelihood ratio of counts). Null if none is likelier than chance: it has always been so.
 * @param counts oldest first @param expected what they would be in proportion to
 */
export function changedSince(counts: ArrayLike<number>, expected: ArrayLike<number>, least: number): number | null {
  let [all, usual] = [0, 0];
  for (let week = 0; week < counts.length; week++) {
    all += counts[week]!;
    usual += expected[week]!;
  }
  if (all === 0 || usual === 0) return null;
  let [found, most, before, expectedBefore]: [number | null, number, number, number] = [null, least, 0, 0];
  for (let week = 1; week < counts.length; week++) {
    before += counts[week - 1]!;
    expectedBefore += expected[week - 1]!;
    const ratio =
      deviance(before, (all * expectedBefore) / usual) +
      deviance(all - before, (all * (usual - expectedBefore)) / usual);
    if (ratio > most) {
      most = ratio;
      found = week;
    }
  }
  return found;
}

const deviance = (count: number, expected: number): number =>
  count === 0 || expected === 0 ? 0 : count * Math.log(count / expected);

/** The week from which on a series falls, by the line that bends down there and fits best; flat before. */
export function fallingSince(series: ArrayLike<number>): number {
  const { length } = series;
  let [found, least] = [0, Number.POSITIVE_INFINITY];
  for (let bend = 0; bend <= length - 6; bend++) {
    let [x, y, xx, xy] = [0, 0, 0, 0];
    for (let week = 0; week < length; week++) {
      const at = Math.max(0, week - bend);
      x += at;
      y += series[week]!;
      xx += at * at;
      xy += at * series[week]!;
    }
    const slope = (length * xy - x * y) / (length * xx - x * x);
    const level = (y - slope * x) / length;
    let squares = 0;
    for (let week = 0; week < length; week++)
      squares += (series[week]! - level - slope * Math.max(0, week - bend)) ** 2;
    if (squares < least - 1e-12) [found, least] = [bend, squares];
  }
  return found;
}
