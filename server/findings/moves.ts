import { ageOf, changedSince, gainOf, type KindRows, type RowFinding, type RowTests, WORTH_DATING } from './finding.ts';
import { DECAY_WEEKS, type RowGrids, type WindowRows } from './grids.ts';
import { BetaBinomials, bounded, posterior, SPREADS } from './statistics.ts';

export interface MoveTests {
  readonly rows: Uint32Array;
  readonly p: Float64Array;
  /** The clicks that the newest window would have if the row had moved like the others. */
  readonly expected: Float64Array;
  /** The standard deviation of the logarithm of a usual move, and of what is known of it. */
  readonly spread: number;
}

/** Clicks that both windows must have together. */
export const LEAST_CLICKS = 20;
/** Pairs of earlier windows that are read at most. */
const MOST_PAIRS = 4000;
/** Rows that a usual move needs; with fewer, all clicks together are what a row is compared with. */
const LEAST_ROWS = 10;
/**
 * Tails as Student's t has them with 16, 8, 4, 2.5 and 1.5 degrees of freedom: the probabilities that a spread is the common
 * one times 2^(-3/2), 2^(-2/2), … 2^(8/2).
 */
const TAILS = [
  [0, 0.0001, 0.1239, 0.6657, 0.2017, 0.0085, 0.0001, 0, 0, 0, 0, 0],
  [0, 0.0039, 0.1807, 0.5011, 0.2591, 0.0494, 0.0055, 0.0005, 0, 0, 0, 0],
  [0.0002, 0.0231, 0.203, 0.3607, 0.2548, 0.1087, 0.0357, 0.0102, 0.0027, 0.0007, 0.0002, 0],
  [0.0016, 0.0452, 0.1938, 0.2825, 0.2263, 0.1322, 0.0656, 0.03, 0.0131, 0.0056, 0.0024, 0.001],
  [0.0077, 0.0667, 0.168, 0.2121, 0.1854, 0.1339, 0.0878, 0.0549, 0.0334, 0.0201, 0.012, 0.0072],
];
const STEPS = TAILS[0]!.length;
const neighbour = (k: number, step: number): number => NEIGHBOURS[k * STEPS + step]!;
const NEIGHBOURS = Uint8Array.from({ length: SPREADS.length * STEPS }, (_, at) =>
  Math.min(SPREADS.length - 1, Math.max(0, Math.floor(at / STEPS) + (at % STEPS) - 3)),
);
/** The share of rows that are taken to have moved. */
const OTHERS = 0.1;
/** Rows in a step of work. */
const STEP = 16;
/** Pairs of earlier windows that are needed. */
const LEAST_PAIRS = 10;

/** Tests which rows moved more from the window before than rows of this site usually do. Null: too little is known. */
export function* testMoves(rows: WindowRows): Generator<void, MoveTests | null> {
  const { windows, clicks } = rows;
  const pairs = windows - 1;
  const usual = Float64Array.from({ length: pairs }, (_, pair) => usualMove(rows, pair).move);
  const { variance } = usualMove(rows, 0);
  yield;
  const mix = yield* mixOfSpreads(rows, usual);
  if (mix === null) return null;
  const tested = testedRows(rows, 0);
  const factor = Math.max(1, (yield* spreadNow(rows, tested, usual[0]!)) / mix.common);
  const p = new Float64Array(tested.length);
  const expected = new Float64Array(tested.length);
  const model = new BetaBinomials(SPREADS.length).set(shareOf(usual[0]!), (k) => SPREADS[k]! * factor);
  for (let at = 0; at < tested.length; at++) {
    const [now, before] = [clicks[tested[at]! * windows]!, clicks[tested[at]! * windows + 1]!];
    expected[at] = before * Math.exp(usual[0]!);
    p[at] = model.twoSided(...bounded(now, now + before, now + before), mix.weights);
    if (at % STEP === 0) yield;
  }
  return { rows: tested, p, expected, spread: Math.sqrt((mix.common * factor) ** 2 + variance) };
}

const shareOf = (move: number): number => 1 / (1 + Math.exp(-move));

function testedRows({ windows, clicks }: WindowRows, pair: number): Uint32Array {
  const found: number[] = [];
  for (let row = 0; row * windows < clicks.length; row++) {
    if (clicks[row * windows + pair]! + clicks[row * windows + pair + 1]! >= LEAST_CLICKS) found.push(row);
  }
  return Uint32Array.from(found);
}

/** The logarithm of what the clicks of the usual row were multiplied by: the weighted median, so that movers do not count. */
function usualMove(rows: WindowRows, pair: number): { readonly move: number; readonly variance: number } {
  const { windows, clicks } = rows;
  const tested = testedRows(rows, pair);
  if (tested.length < LEAST_ROWS) {
    let [now, before] = [0.5, 0.5];
    for (let row = 0; row * windows < clicks.length; row++) {
      now += clicks[row * windows + pair]!;
      before += clicks[row * windows + pair + 1]!;
    }
    return { move: Math.log(now / before), variance: 1 / now + 1 / before };
  }
  const moves = new Float64Array(tested.length);
  const weights = new Float64Array(tested.length);
  for (let at = 0; at < tested.length; at++) {
    const [now, before] = [clicks[tested[at]! * windows + pair]!, clicks[tested[at]! * windows + pair + 1]!];
    moves[at] = Math.log((now + 0.5) / (before + 0.5));
    weights[at] = 1 / (4 / (now + before) + 0.04);
  }
  // The variance of a median of normal values is π/2 times that of their mean.
  return {
    move: weightedMedian(moves, weights),
    variance: Math.PI / 2 / weights.reduce((sum, weight) => sum + weight, 0),
  };
}

/** The mean of the lower and the upper weighted median. */
function weightedMedian(values: Float64Array, weights: Float64Array): number {
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
  const half = weights.reduce((sum, weight) => sum + weight, 0) / 2;
  let sum = 0;
  for (let at = 0; at < order.length; at++) {
    sum += weights[order[at]!]!;
    if (sum > half * (1 + 1e-12)) return values[order[at]!]!;
    if (sum >= half * (1 - 1e-12))
      return (values[order[at]!]! + values[order[Math.min(at + 1, order.length - 1)]!]!) / 2;
  }
  return 0;
}

/**
 * How often rows move with each spread, by earlier pairs of windows: a common spread, and tails around it as Student's t
 * has them with one of some degrees of freedom, each as likely as the pairs make it.
 */
function* mixOfSpreads(rows: WindowRows, usual: Float64Array): Generator<void, Mix | null> {
  const { windows } = rows;
  const all: [row: number, pair: number][] = [];
  for (let pair = 1; pair < windows - 1; pair++) for (const row of testedRows(rows, pair)) all.push([row, pair]);
  if (all.length < LEAST_PAIRS) return null;
  yield;
  const step = Math.max(1, all.length / MOST_PAIRS);
  const length = Math.min(all.length, MOST_PAIRS);
  const models = Array.from(usual, (move) => modelOf(move));
  const like = new Float64Array(SPREADS.length * TAILS.length);
  const chances = new Float64Array(SPREADS.length);
  for (let at = 0; at < length; at++) {
    const [row, pair] = all[Math.floor(at * step)]!;
    models[pair]!.probabilities(...countOf(rows, row, pair), chances);
    addLikelihoods(chances, like);
    if (at % STEP === 0) yield;
  }
  return mixOf(like);
}

const modelOf = (move: number): BetaBinomials =>
  new BetaBinomials(SPREADS.length).set(shareOf(move), (k) => SPREADS[k]!);

/** The clicks of the newer window of a pair, and those of both. */
function countOf({ windows, clicks }: WindowRows, row: number, pair: number): readonly [number, number] {
  const now = clicks[row * windows + pair]!;
  const both = now + clicks[row * windows + pair + 1]!;
  return bounded(now, both, both);
}

interface Mix {
  /** The probability of each spread. */
  readonly weights: Float64Array;
  /** The common spread, without the tails. */
  readonly common: number;
}

function addLikelihoods(chances: Float64Array, like: Float64Array): void {
  for (let tail = 0; tail < TAILS.length; tail++) {
    const parts = TAILS[tail]!;
    for (let k = 0; k < SPREADS.length; k++) {
      let sum = 0;
      for (let step = 0; step < parts.length; step++) sum += parts[step]! * chances[neighbour(k, step)]!;
      like[k * TAILS.length + tail]! += Math.log(sum + 1e-300);
    }
  }
}

function mixOf(like: Float64Array): Mix {
  const likely = new Float64Array(like.length);
  posterior(like, likely);
  const weights = new Float64Array(SPREADS.length);
  let common = 0;
  for (const [at, weight] of likely.entries()) {
    const k = Math.floor(at / TAILS.length);
    common += weight * SPREADS[k]!;
    for (const [step, part] of TAILS[at % TAILS.length]!.entries()) weights[neighbour(k, step)]! += weight * part;
  }
  return { weights, common };
}

/** The common spread of the newest pair of windows, to which the rows that moved most add little. */
function* spreadNow(rows: WindowRows, tested: Uint32Array, usual: number): Generator<void, number> {
  const model = modelOf(usual);
  const like = new Float64Array(SPREADS.length);
  const chances = new Float64Array(SPREADS.length);
  for (let at = 0; at < tested.length; at++) {
    model.probabilities(...countOf(rows, tested[at]!, 0), chances);
    const wide = OTHERS * chances[SPREADS.length - 1]!;
    for (let k = 0; k < SPREADS.length; k++) like[k]! += Math.log((1 - OTHERS) * chances[k]! + wide + 1e-300);
    if (at % STEP === 0) yield;
  }
  posterior(like, chances);
  return chances.reduce((sum, weight, k) => sum + weight * SPREADS[k]!, 0);
}

/** The findings of tests of moves. A gain is what a fallen row would have if it had moved like the others. */
export function moveTests({ kind, grids }: KindRows, tests: MoveTests): RowTests {
  const { windows } = grids.size;
  const all = grids.weekTotals();
  const findingOf = (at: number): RowFinding => {
    const row = tests.rows[at]!;
    const [now, before] = [grids.windowClicks[row * windows]!, grids.windowClicks[row * windows + 1]!];
    const expected = tests.expected[at]!;
    const isRising = now > expected;
    const variance = expected ** 2 * (1 / Math.max(1, before) + tests.spread ** 2) + now;
    return {
      type: isRising ? 'rising' : 'falling',
      kind,
      row,
      evidence: { clicks: now, clicksBefore: before, expectedClicks: expected },
      gain: isRising ? null : gainOf(expected - now, variance),
      p: tests.p[at]!,
      sinceAge: tests.p[at]! < 0.05 ? moveSince(grids, row, all) : null,
    };
  };
  return { p: tests.p, findingOf };
}

function moveSince({ weekClicks, size }: RowGrids, row: number, all: Float64Array): number | null {
  const weeks = Math.min(DECAY_WEEKS, Math.ceil((2 * size.days) / 7));
  const end = (row + 1) * DECAY_WEEKS;
  const found = changedSince(weekClicks.subarray(end - weeks, end), all.subarray(DECAY_WEEKS - weeks), WORTH_DATING);
  return ageOf(found, weeks);
}
