import { type Expected, LocalCurve } from './curve.ts';
import { ageOf, changedSince, gainOf, type KindRows, type RowFinding, type RowTests, WORTH_DATING } from './finding.ts';
import { DECAY_WEEKS, type RangeRows, type RowGrids } from './grids.ts';
import { SPREADS as ALL, BetaBinomials, bounded, posterior } from './statistics.ts';

/** The tests of CTR: of each tested row what is expected, and the p of being as far off by chance. */
export interface CtrTests {
  readonly rows: Uint32Array;
  readonly p: Float64Array;
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  /** The CTR that the other rows have at this position. */
  readonly expected: Float64Array;
  /** The standard deviation of the logarithm of the expected odds: what rows differ by, and how sure the curve is. */
  readonly spread: Float64Array;
}

/** No curve is known more exactly than to 2 %. */
const SPREADS = ALL.subarray(2);
/** Clicks that must be expected of a row, and the variance that its expectation may have. */
const LEAST_EXPECTED = 10;
/** Rows with fewer clicks by a rough CTR are not looked at more closely: most rows are small. */
const LEAST_ROUGH = 2;
const LEAST_SURE = 0.04;
/** Rows with a smaller p are left out of the curve of the others, which they would bend. */
const LEFT_OUT = 1e-3;
/** What rows are taken to differ by before it is known. */
const FIRST_SPREAD = 0.1;
/** The share of rows that may be of another kind, with the widest spread: they must not widen what is usual. */
const OTHERS = 0.02;
/**
 * Single rows spread less or more than the common spread: by 1/√2, 1, √2 and 2 with these probabilities. So tails are
 * those of Student's t with about eight degrees of freedom, and not those of a beta distribution.
 */
const TAILS = [0.3, 0.45, 0.2, 0.05];
const neighbour = (k: number, step: number): number => Math.min(SPREADS.length - 1, Math.max(0, k + step - 1));
const STRATA = 2;
/** Rows in a step of work. */
const STEP = 16;

/** The curves of a site, and what its rows differ by. */
export interface CtrFit {
  /** What the other rows have at a position; null if there are none near it. */
  readonly expect: (row: number, position: number) => Readonly<Expected> | null;
  /** The common standard deviation of the logarithm of the odds. */
  readonly common: number;
}

/** Tests which rows have another CTR than the others at their position. */
export function* testCtr(rows: RangeRows): Generator<void, CtrTests & CtrFit> {
  const left = new Uint8Array(rows.stratum.length);
  const first = yield* testWith(rows, FIRST_SPREAD, left);
  for (let at = 0; at < first.rows.length; at++) if (first.p[at]! < LEFT_OUT) left[first.rows[at]!] = 1;
  return yield* testWith(rows, first.common, left);
}

/** @param left 1 for rows that are left out of the curve */
function* testWith(rows: RangeRows, usual: number, left: Uint8Array): Generator<void, CtrTests & CtrFit> {
  const { tested, clicks, impressions, ctr, variance, perSpread, expect } = yield* expectedRows(rows, usual, left);
  const [length, width] = [tested.length, SPREADS.length];
  const model = new BetaBinomials(width);
  const spreadAt = (at: number) => (k: number) => Math.sqrt(SPREADS[k]! ** 2 * (1 + perSpread[at]!) + variance[at]!);
  const countOf = (at: number) => bounded(clicks[at]!, impressions[at]!, clicks[at]!);
  const like = new Float64Array(length * width);
  const total = new Float64Array(width);
  const chances = new Float64Array(width);
  for (let at = 0; at < length; at++) {
    model.set(ctr[at]!, spreadAt(at)).probabilities(...countOf(at), chances);
    for (let k = 0; k < width; k++) {
      let sum = 0;
      for (let step = 0; step < TAILS.length; step++) sum += TAILS[step]! * chances[neighbour(k, step)]!;
      const log = Math.log((1 - OTHERS) * sum + OTHERS * chances[width - 1]! + 1e-300);
      like[at * width + k] = log;
      total[k]! += log;
    }
    if (at % STEP === 0) yield;
  }
  const p = new Float64Array(length);
  const spread = new Float64Array(length);
  const without = new Float64Array(width);
  const weights = new Float64Array(width);
  for (let at = 0; at < length; at++) {
    for (let k = 0; k < width; k++) without[k] = total[k]! - like[at * width + k]!;
    posterior(without, chances);
    weights.fill(0);
    let square = 0;
    for (let k = 0; k < width; k++) {
      for (let step = 0; step < TAILS.length; step++) weights[neighbour(k, step)]! += TAILS[step]! * chances[k]!;
    }
    for (let k = 0; k < width; k++) square += weights[k]! * spreadAt(at)(k) ** 2;
    p[at] = model.set(ctr[at]!, spreadAt(at)).twoSided(...countOf(at), weights);
    spread[at] = Math.sqrt(square);
    if (at % STEP === 0) yield;
  }
  posterior(total, weights);
  const common = weights.reduce((sum, weight, k) => sum + weight * SPREADS[k]!, 0);
  return { rows: tested, p, clicks, impressions, expected: ctr, spread, common, expect };
}

/** The rows of which enough clicks are expected, by the curve of all other rows of their stratum. */
function* expectedRows(rows: RangeRows, usual: number, left: Uint8Array) {
  const { stratum, parts } = rows;
  const curves = Array.from({ length: STRATA }, () => new LocalCurve());
  const rough = roughClicks(rows);
  const weights = rough.map((few, row) => (left[row] === 1 ? 0 : 1 / (1 + usual ** 2 * few)));
  for (let row = 0; row < stratum.length; row++) {
    changeCurve(curves[stratum[row]!]!, rows, row, weights[row]!, 'add');
    if (row % 1024 === 0) yield;
  }
  const found: number[] = [];
  const [clicks, impressions, ctr, variance, perSpread]: number[][] = [[], [], [], [], []];
  for (let row = 0; row < stratum.length; row++) {
    if (row % 64 === 0) yield;
    if (rough[row]! < LEAST_ROUGH) continue;
    let clicked = 0;
    let shown = 0;
    for (let cell = row * parts; cell < (row + 1) * parts; cell++) {
      clicked += rows.clicks[cell]!;
      shown += rows.impressions[cell]!;
    }
    const curve = curves[stratum[row]!]!;
    changeCurve(curve, rows, row, weights[row]!, 'remove');
    const expected = expectRow(curve, rows, row);
    changeCurve(curve, rows, row, weights[row]!, 'add');
    if (expected === null || expected.ctr * shown < LEAST_EXPECTED || expected.variance > LEAST_SURE) continue;
    found.push(row);
    clicks!.push(clicked);
    impressions!.push(shown);
    ctr!.push(Math.min(0.999, expected.ctr));
    variance!.push(expected.variance);
    perSpread!.push(expected.perSpread);
  }
  return {
    tested: Uint32Array.from(found),
    clicks: Float64Array.from(clicks!),
    impressions: Float64Array.from(impressions!),
    ctr: Float64Array.from(ctr!),
    variance: Float64Array.from(variance!),
    perSpread: Float64Array.from(perSpread!),
    expect: (row: number, position: number): Expected | null => {
      const curve = curves[stratum[row]!]!;
      const into: Expected = { ctr: 0, variance: 0, perSpread: 0 };
      changeCurve(curve, rows, row, weights[row]!, 'remove');
      const isFound = curve.expect(position, into);
      changeCurve(curve, rows, row, weights[row]!, 'add');
      return isFound ? into : null;
    },
  };
}

/**
 * The clicks of rows by a rough CTR, which falls like 1 / position. What a row tells about the curve is little more than its
 * difference from others allows, and that must not depend on its clicks.
 */
function roughClicks({ stratum, parts, clicks, impressions, position }: RangeRows): Float64Array {
  const near = new Float64Array(stratum.length);
  let allClicks = 0;
  let all = 0;
  for (let cell = 0; cell < clicks.length; cell++) {
    const reach = impressions[cell]! / Math.max(1, position[cell]!);
    near[Math.floor(cell / parts)]! += reach;
    all += reach;
    allClicks += clicks[cell]!;
  }
  const rate = allClicks / Math.max(1, all);
  return near.map((reach) => rate * reach);
}

function changeCurve(curve: LocalCurve, rows: RangeRows, row: number, weight: number, how: 'add' | 'remove'): void {
  if (weight === 0) return;
  for (let cell = row * rows.parts; cell < (row + 1) * rows.parts; cell++) {
    if (rows.impressions[cell]! > 0) {
      curve[how](rows.position[cell]!, rows.clicks[cell]!, rows.impressions[cell]!, weight);
    }
  }
}

/** What a curve expects of all parts of a row; their doubts are taken to be the same ones. */
function expectRow(curve: LocalCurve, rows: RangeRows, row: number): Expected | null {
  const part: Expected = { ctr: 0, variance: 0, perSpread: 0 };
  let clicks = 0;
  let shown = 0;
  let deviation = 0;
  let perSpread = 0;
  for (let cell = row * rows.parts; cell < (row + 1) * rows.parts; cell++) {
    const impressions = rows.impressions[cell]!;
    if (impressions === 0) continue;
    if (!curve.expect(rows.position[cell]!, part)) return null;
    const expected = impressions * part.ctr;
    clicks += expected;
    shown += impressions;
    deviation += expected * Math.sqrt(part.variance);
    perSpread += expected * Math.sqrt(part.perSpread);
  }
  return { ctr: clicks / shown, variance: (deviation / clicks) ** 2, perSpread: (perSpread / clicks) ** 2 };
}

/** The findings of tests of CTR. A gain is what the row would have with the CTR that others have at its position. */
export function ctrTests({ kind, grids }: KindRows, tests: CtrTests & CtrFit): RowTests {
  const findingOf = (at: number): RowFinding => {
    const row = tests.rows[at]!;
    const [clicks, shown, ctr] = [tests.clicks[at]!, tests.impressions[at]!, tests.expected[at]!];
    const expected = ctr * shown;
    const isLow = clicks < expected;
    return {
      type: isLow ? 'low_ctr' : 'high_ctr',
      kind,
      row,
      evidence: { ...grids.totals(row), expectedCtr: ctr, expectedClicks: expected },
      gain: isLow ? gainOf(expected - clicks, (expected * tests.spread[at]!) ** 2 + clicks) : null,
      p: tests.p[at]!,
      sinceAge: tests.p[at]! < 0.05 ? ctrSince(grids, row, tests) : null,
    };
  };
  return { p: tests.p, findingOf };
}

function ctrSince(grids: RowGrids, row: number, fit: CtrFit): number | null {
  const from = row * DECAY_WEEKS;
  const expected = Array.from({ length: DECAY_WEEKS }, (_, week) => {
    const shown = grids.weekImpressions[from + week]!;
    if (shown === 0) return 0;
    return shown * (fit.expect(row, grids.weekPosition[from + week]! / shown + 1)?.ctr ?? 0);
  });
  return ageOf(changedSince(grids.weekClicks.subarray(from, from + DECAY_WEEKS), expected, WORTH_DATING), DECAY_WEEKS);
}
