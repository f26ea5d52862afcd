// The tests of findings, by the numbers of docs/decisions/findings.md: one row after the other, in plain arrays.
import {
  changedSince,
  curveAt,
  type Expectation,
  LEVELS,
  type Part,
  probability,
  scaled,
  shares,
  total,
  twoSided,
} from './oracle-statistics.ts';

/** A day of a row: its age, counted back from the last day of the range, and its sums. */
interface Dated {
  readonly age: number;
  readonly clicks: number;
  readonly impressions: number;
  readonly sumPosition: number;
}
export interface Site {
  readonly name: string;
  readonly days: readonly Dated[];
  readonly isBrand: boolean;
}
/** The rows of a kind, most impressions first, and what is known of their days. */
export interface Span {
  readonly kind: 'query' | 'page';
  readonly rows: readonly Site[];
  /** Days of the range, and windows of that length that are stored. */
  readonly length: number;
  readonly windows: number;
}
export interface Gain {
  readonly clicks: number;
  readonly low: number;
  readonly high: number;
}
/** A test of a row; without a p in a list. */
export interface Test {
  readonly type: string;
  readonly row: Site;
  readonly evidence: Readonly<Record<string, number>>;
  readonly gain: Gain | null;
  readonly p: number | null;
  readonly since: number | null;
}
export interface Found {
  readonly tested: number;
  readonly tests: readonly Test[];
}

export const SURE = 1.645;
export const WEEKS = 26;
const around = (clicks: number, variance: number): Gain => ({
  clicks,
  low: clicks - SURE * Math.sqrt(variance),
  high: clicks + SURE * Math.sqrt(variance),
});
const sumOf = (row: Site, of: 'clicks' | 'impressions' | 'sumPosition', from: number, to: number): number =>
  total(row.days.filter(({ age }) => age >= from && age < to).map((day) => day[of]));
export const clicksIn = (row: Site, from: number, to: number): number => sumOf(row, 'clicks', from, to);
export const shownIn = (row: Site, from: number, to: number): number => sumOf(row, 'impressions', from, to);
const placeIn = (row: Site, from: number, to: number): number =>
  sumOf(row, 'sumPosition', from, to) / shownIn(row, from, to) + 1;
const weeklyOf = new WeakMap<Site, readonly number[]>();
/** Clicks by week, oldest first. */
export function weekly(row: Site): readonly number[] {
  const weeks = Array.from({ length: WEEKS }, (_, at) => at);
  const known = weeklyOf.get(row) ?? weeks.map((week) => clicksIn(row, 7 * (WEEKS - 1 - week), 7 * (WEEKS - week)));
  weeklyOf.set(row, known);
  return known;
}
export const sinceWeek = (week: number | null, weeks: number): number | null =>
  week === null ? null : 7 * (weeks - week) - 1;
export const inRange = (row: Site, length: number) => ({
  clicks: clicksIn(row, 0, length),
  impressions: shownIn(row, 0, length),
  sumPosition: sumOf(row, 'sumPosition', 0, length),
});

// CTR

export interface Fit {
  readonly common: number;
  readonly expect: (row: Site, position: number) => Expectation | null;
}

const at = (levels: readonly number[], k: number): number => levels[Math.min(levels.length - 1, Math.max(0, k))]!;
const TAILS = [0.3, 0.45, 0.2, 0.05];
const SPREADS = LEVELS.slice(2);

export function ctrTests({ rows, length }: Span): Found & { readonly fit: Fit } {
  const parts = new Map(rows.map((row) => [row, partsOf(row, length)]));
  const all = [...parts.values()].flat();
  const reach = (of: readonly Part[]): number => total(of.map(({ shown, position }) => shown / position));
  const rate = total(all.map(({ clicks }) => clicks)) / Math.max(1, reach(all));
  const rough = (row: Site): number => rate * reach(parts.get(row)!);
  const testWith = (phi: number, left: ReadonlySet<Site>) => {
    const weight = (row: Site): number => (left.has(row) ? 0 : 1 / (1 + phi * phi * rough(row)));
    const expect = (row: Site, position: number): Expectation | null =>
      curveAt(
        rows
          .filter((other) => other !== row && other.isBrand === row.isBrand && weight(other) > 0)
          .flatMap((other) => parts.get(other)!.map((part) => [part, weight(other)] as const)),
        position,
      );
    const tested = rows
      .filter((row) => rough(row) >= 2)
      .flatMap((row) => {
        const each = parts.get(row)!.map((part) => ({ part, of: expect(row, part.position) }));
        if (each.some(({ of }) => of === null)) return [];
        const expected = each.map(({ part, of }) => part.shown * of!.ctr);
        const clicks = total(expected);
        const mean = (of: 'chance' | 'perSpread'): number =>
          (total(each.map((one, index) => expected[index]! * Math.sqrt(one.of![of]))) / clicks) ** 2;
        if (clicks < 10 || mean('chance') > 0.04) return [];
        const count = total(parts.get(row)!.map((part) => part.clicks));
        const trials = total(parts.get(row)!.map(({ shown }) => shown));
        const spreads = SPREADS.map((one) => Math.sqrt(one * one * (1 + mean('perSpread')) + mean('chance')));
        const ctr = Math.min(0.999, clicks / trials);
        const P = spreads.map((spread) => probability(scaled(count, trials, count), ctr, spread));
        const logs = SPREADS.map((_, k) =>
          Math.log(0.98 * total(TAILS.map((tail, step) => tail * at(P, k + step - 1))) + 0.02 * P.at(-1)! + 1e-300),
        );
        return [{ row, ctr, count, trials, spreads, logs }];
      });
    const sums = SPREADS.map((_, k) => total(tested.map(({ logs }) => logs[k]!)));
    const judged = tested.map((one) => {
      const levels = shares(sums.map((sum, k) => sum - one.logs[k]!));
      const weights = SPREADS.map(() => 0);
      for (const [k, level] of levels.entries())
        for (const [step, tail] of TAILS.entries())
          weights[Math.min(SPREADS.length - 1, Math.max(0, k + step - 1))]! += tail * level;
      const p = twoSided(scaled(one.count, one.trials, one.count), one.ctr, one.spreads, weights);
      return { ...one, p, spread: Math.sqrt(total(weights.map((weight, k) => weight * one.spreads[k]! ** 2))) };
    });
    const common = tested.length === 0 ? mean(SPREADS) : total(shares(sums).map((level, k) => level * SPREADS[k]!));
    return { judged, fit: { common, expect } };
  };
  const first = testWith(0.1, new Set());
  const { judged, fit } = testWith(
    first.fit.common,
    new Set(first.judged.filter(({ p }) => p < 1e-3).map(({ row }) => row)),
  );
  const tests = judged.map(({ row, ctr, p, spread }): Test => {
    const sums = inRange(row, length);
    const expected = ctr * sums.impressions;
    const isLow = sums.clicks < expected;
    return {
      type: isLow ? 'low_ctr' : 'high_ctr',
      row,
      evidence: { ...sums, expectedCtr: ctr, expectedClicks: expected },
      gain: isLow ? around(expected - sums.clicks, (expected * spread) ** 2 + sums.clicks) : null,
      p,
      since: p < 0.05 ? ctrSince(row, fit) : null,
    };
  });
  return { tested: tests.length, tests, fit };
}

const mean = (values: readonly number[]): number => total(values) / values.length;

function partsOf(row: Site, length: number): Part[] {
  return Array.from({ length: Math.ceil(length / 7) }, (_, week) => {
    const [from, to] = [7 * week, Math.min(7 * week + 7, length)];
    return { clicks: clicksIn(row, from, to), shown: shownIn(row, from, to), position: placeIn(row, from, to) };
  }).filter(({ shown }) => shown > 0);
}

function ctrSince(row: Site, { expect }: Fit): number | null {
  const expected = Array.from({ length: WEEKS }, (_, week) => {
    const [from, to] = [7 * (WEEKS - 1 - week), 7 * (WEEKS - week)];
    const shown = shownIn(row, from, to);
    return shown === 0 ? 0 : shown * (expect(row, placeIn(row, from, to))?.ctr ?? 0);
  });
  return sinceWeek(changedSince(weekly(row), expected), WEEKS);
}

// Near the top

export function nearTop({ rows, length }: Span, { common, expect }: Fit): Found | null {
  const isNear = (place: number): boolean => place >= 3.5 && place <= 15;
  const factors = rows
    .filter((row) => shownIn(row, 0, length) >= 50 && shownIn(row, length, 2 * length) >= 50)
    .filter((row) => isNear(placeIn(row, length, 2 * length)))
    .map((row) => placeIn(row, length, 2 * length) / placeIn(row, 0, length))
    .sort((a, b) => a - b);
  if (factors.length < 10) return null;
  const where = 0.75 * (factors.length - 1);
  const [low, high] = [factors[Math.floor(where)]!, factors[Math.min(factors.length - 1, Math.floor(where) + 1)]!];
  const improvement = low + (where - Math.floor(where)) * (high - low);
  if (improvement <= 1) return null;
  const near = rows.filter((row) => shownIn(row, 0, length) >= 50 && isNear(placeIn(row, 0, length)));
  const prior = common ** -2;
  const tests = near.flatMap((row): Test[] => {
    const sums = inRange(row, length);
    const better = Math.max(1, placeIn(row, 0, length) / improvement);
    const [now, then] = [expect(row, placeIn(row, 0, length)), expect(row, better)];
    if (now === null || then === null || then.ctr <= now.ctr) return [];
    const factor = (sums.clicks + prior) / (sums.impressions * now.ctr + prior);
    const clicks = sums.impressions * factor * (then.ctr - now.ctr);
    if (clicks < 0.5) return [];
    const wide = Math.exp(SURE * Math.sqrt(1 / (sums.clicks + prior) + then.chance + 0.25 ** 2));
    const gain = { clicks, low: clicks / wide, high: clicks * wide };
    return [{ type: 'near_top', row, evidence: { ...sums, betterPosition: better }, gain, p: null, since: null }];
  });
  return { tested: near.length, tests: tests.sort((a, b) => b.gain!.clicks - a.gain!.clicks).slice(0, 20) };
}

// Moves

/** How often a spread is the common one times 2^(-3/2), 2^(-2/2), … by degrees of freedom. */
const STUDENT = [
  [0, 0.0001, 0.1239, 0.6657, 0.2017, 0.0085, 0.0001, 0, 0, 0, 0, 0],
  [0, 0.0039, 0.1807, 0.5011, 0.2591, 0.0494, 0.0055, 0.0005, 0, 0, 0, 0],
  [0.0002, 0.0231, 0.203, 0.3607, 0.2548, 0.1087, 0.0357, 0.0102, 0.0027, 0.0007, 0.0002, 0],
  [0.0016, 0.0452, 0.1938, 0.2825, 0.2263, 0.1322, 0.0656, 0.03, 0.0131, 0.0056, 0.0024, 0.001],
  [0.0077, 0.0667, 0.168, 0.2121, 0.1854, 0.1339, 0.0878, 0.0549, 0.0334, 0.0201, 0.012, 0.0072],
];

export function moveTests({ rows, length, windows }: Span): Found | null {
  const inWindow = (row: Site, window: number): number => clicksIn(row, window * length, (window + 1) * length);
  const pairOf = (row: Site, pair: number): [number, number] => [inWindow(row, pair), inWindow(row, pair + 1)];
  const active = (pair: number): Site[] => rows.filter((row) => total(pairOf(row, pair)) >= 20);
  const moves = Array.from({ length: windows - 1 }, (_, pair) =>
    usualMove(
      active(pair).map((row) => pairOf(row, pair)),
      rows.map((row) => pairOf(row, pair)),
    ),
  );
  const shareOf = (move: number): number => 1 / (1 + Math.exp(-move));
  const chances = (row: Site, pair: number): number[] => {
    const [now, before] = pairOf(row, pair);
    const count = scaled(now, now + before, now + before);
    return LEVELS.map((level) => probability(count, shareOf(moves[pair]!.move), level));
  };
  const earlier = Array.from({ length: Math.max(0, windows - 2) }, (_, pair) => pair + 1).flatMap((pair) =>
    active(pair).map((row) => [row, pair] as const),
  );
  if (earlier.length < 10) return null;
  const every = Math.max(1, earlier.length / 4000);
  const taken = Array.from(
    { length: Math.min(4000, earlier.length) },
    (_, index) => earlier[Math.floor(index * every)]!,
  );
  const seen = taken.map(([row, pair]) => chances(row, pair));
  const cases = LEVELS.flatMap((_, k) => STUDENT.map((tails) => ({ k, tails })));
  const likely = shares(
    cases.map(({ k, tails }) =>
      total(seen.map((P) => Math.log(total(tails.map((tail, step) => tail * at(P, k + step - 3))) + 1e-300))),
    ),
  );
  const weights = LEVELS.map(() => 0);
  for (const [index, { k, tails }] of cases.entries())
    for (const [step, tail] of tails.entries())
      weights[Math.min(LEVELS.length - 1, Math.max(0, k + step - 3))]! += likely[index]! * tail;
  const common = total(cases.map(({ k }, index) => likely[index]! * LEVELS[k]!));
  const newest = active(0).map((row) => chances(row, 0));
  const now = shares(LEVELS.map((_, k) => total(newest.map((P) => Math.log(0.9 * P[k]! + 0.1 * P.at(-1)! + 1e-300)))));
  const factor = Math.max(1, total(now.map((share, k) => share * LEVELS[k]!)) / common);
  const { move, variance } = moves[0]!;
  const all = Array.from({ length: WEEKS }, (_, week) => total(rows.map((row) => weekly(row)[week]!)));
  const weeks = Math.min(WEEKS, Math.ceil((2 * length) / 7));
  const tests = active(0).map((row): Test => {
    const [clicks, before] = pairOf(row, 0);
    const expected = before * Math.exp(move);
    const count = scaled(clicks, clicks + before, clicks + before);
    const p = twoSided(
      count,
      shareOf(move),
      LEVELS.map((level) => level * factor),
      weights,
    );
    const spread = Math.sqrt((common * factor) ** 2 + variance);
    const wide = expected ** 2 * (1 / Math.max(1, before) + spread ** 2) + clicks;
    return {
      type: clicks > expected ? 'rising' : 'falling',
      row,
      evidence: { clicks, clicksBefore: before, expectedClicks: expected },
      gain: clicks > expected ? null : around(expected - clicks, wide),
      p,
      since: p < 0.05 ? sinceWeek(changedSince(weekly(row).slice(-weeks), all.slice(-weeks)), weeks) : null,
    };
  });
  return { tested: tests.length, tests };
}

/** The logarithm of what the clicks of the usual row were multiplied by, and its variance. */
function usualMove(active: readonly [number, number][], all: readonly [number, number][]) {
  if (active.length < 10) {
    const [now, before] = [0.5 + total(all.map(([one]) => one)), 0.5 + total(all.map(([, other]) => other))];
    return { move: Math.log(now / before), variance: 1 / now + 1 / before };
  }
  const moves = active
    .map(([now, before]) => ({ move: Math.log((now + 0.5) / (before + 0.5)), weight: 1 / (4 / (now + before) + 0.04) }))
    .sort((a, b) => a.move - b.move);
  const weight = total(moves.map((one) => one.weight));
  let reached = 0;
  for (const [index, one] of moves.entries()) {
    reached += one.weight;
    if (reached < (weight / 2) * (1 - 1e-12)) continue;
    const isHalf = reached <= (weight / 2) * (1 + 1e-12);
    const move = isHalf ? (one.move + (moves[index + 1] ?? one).move) / 2 : one.move;
    return { move, variance: Math.PI / 2 / weight };
  }
  return { move: 0, variance: Math.PI / 2 / weight };
}
