import type { CtrFit, CtrTests } from './ctr.ts';
import { DECAY_WEEKS } from './decay.ts';
import { gainOf, type KindRows, type RowFinding, type RowTests } from './finding.ts';
import type { RowGrids } from './grids.ts';
import { ageOf, changedSince, WORTH_DATING } from './since.ts';

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
