import type { CtrFit } from './ctr.ts';
import type { KindRows, RowFinding, Tests } from './finding.ts';

/** What rows near the first places would gain by a usual good improvement. */
interface NearTop {
  readonly rows: Uint32Array;
  /** Rows at such positions. */
  readonly tested: number;
  /** The position that a row would have. */
  readonly position: Float64Array;
  readonly gain: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** What positions are divided by. */
  readonly improvement: number;
}

const FROM = 3.5;
const TO = 15;
const LEAST_IMPRESSIONS = 50;
const LEAST_ROWS = 10;
const SURE = 1.645;
/** The standard deviation of what a gain is multiplied by because the slope of the curve is not known better. */
const SLOPE_DOUBT = 0.25;

/** Totals of rows in two adjacent ranges. */
interface Positions {
  readonly impressions: Float64Array;
  readonly clicks: Float64Array;
  readonly position: Float64Array;
  readonly impressionsBefore: Float64Array;
  readonly positionBefore: Float64Array;
}

/**
 * Lists what each row at positions 3.5 to 15 would gain if it improved as the best quarter of such rows did: by the curve of the
 * site, with the CTR of the row as far as its clicks tell it. Null: too few rows were there before, or none improved.
 */
function* listNearTop(rows: Positions, fit: CtrFit): Generator<void, NearTop | null> {
  const improvement = usualImprovement(rows);
  if (improvement === null || improvement <= 1) return null;
  const [found, position, gain, low, high]: number[][] = [[], [], [], [], []];
  // What the clicks of a row count against those of all others.
  const prior = 1 / fit.common ** 2;
  let tested = 0;
  for (let row = 0; row < rows.clicks.length; row++) {
    if (row % 256 === 0) yield;
    const at = rows.position[row]!;
    const shown = rows.impressions[row]!;
    if (shown < LEAST_IMPRESSIONS || at < FROM || at > TO) continue;
    tested++;
    const better = Math.max(1, at / improvement);
    const [now, then] = [fit.expect(row, at), fit.expect(row, better)];
    if (now === null || then === null || then.ctr <= now.ctr) continue;
    const clicks = rows.clicks[row]!;
    const factor = (clicks + prior) / (shown * now.ctr + prior);
    const middle = shown * factor * (then.ctr - now.ctr);
    const deviation = Math.sqrt(1 / (clicks + prior) + then.variance + SLOPE_DOUBT ** 2);
    if (middle < 0.5) continue;
    found!.push(row);
    position!.push(better);
    gain!.push(middle);
    low!.push(middle * Math.exp(-SURE * deviation));
    high!.push(middle * Math.exp(SURE * deviation));
  }
  const all = (values: number[]) => Float64Array.from(values);
  return {
    ...{ rows: Uint32Array.from(found!), position: all(position!), gain: all(gain!), low: all(low!), high: all(high!) },
    improvement,
    tested,
  };
}

/** What positions of such rows were divided by from the range before: the upper quartile. */
function usualImprovement({ impressions, impressionsBefore, position, positionBefore }: Positions): number | null {
  const factors: number[] = [];
  for (let row = 0; row < impressions.length; row++) {
    const before = positionBefore[row]!;
    if (Math.min(impressions[row]!, impressionsBefore[row]!) < LEAST_IMPRESSIONS || before < FROM || before > TO)
      continue;
    factors.push(before / position[row]!);
  }
  if (factors.length < LEAST_ROWS) return null;
  factors.sort((a, b) => a - b);
  const at = 0.75 * (factors.length - 1);
  const below = Math.floor(at);
  return factors[below]! + (at - below) * ((factors[below + 1] ?? factors[below]!) - factors[below]!);
}

/** Queries in the list. */
const MOST = 20;

/** The list of what would gain most from a few places; null if the site's usual improvement is not known. */
export function* nearTopFindings({ kind, grids }: KindRows, fit: CtrFit): Generator<void, Tests | null> {
  const { rows } = grids.size;
  const position = new Float64Array(rows);
  const [clicks, impressions] = [new Float64Array(rows), new Float64Array(rows)];
  const positionBefore = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const totals = grids.totals(row);
    clicks[row] = totals.clicks;
    impressions[row] = totals.impressions;
    position[row] = totals.impressions > 0 ? totals.sumPosition / totals.impressions + 1 : 0;
    const shown = grids.earlierImpressions[row]!;
    positionBefore[row] = shown > 0 ? grids.earlierPosition[row]! / shown + 1 : 0;
  }
  yield;
  const impressionsBefore = grids.earlierImpressions;
  const found = yield* listNearTop({ impressions, clicks, position, impressionsBefore, positionBefore }, fit);
  if (found === null) return null;
  const findings = Array.from(
    found.rows,
    (row, at): RowFinding => ({
      type: 'near_top',
      kind,
      row,
      evidence: { ...grids.totals(row), betterPosition: found.position[at]! },
      gain: { clicks: found.gain[at]!, low: found.low[at]!, high: found.high[at]! },
      p: null,
      sinceAge: null,
    }),
  );
  findings.sort((a, b) => b.gain!.clicks - a.gain!.clicks || a.row - b.row);
  return { tested: found.tested, tests: [], list: findings.slice(0, MOST) };
}
