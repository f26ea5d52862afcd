import type { CtrFit } from './ctr.ts';
import type { KindRows, RowFinding, Tests } from './finding.ts';
import { listNearTop } from './near-top.ts';

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
