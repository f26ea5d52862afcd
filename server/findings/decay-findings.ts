import { DECAY_WEEKS, type DecayTests } from './decay.ts';
import { type KindRows, type RowFinding, type RowTests, SURE } from './finding.ts';
import type { RowGrids } from './grids.ts';
import { ageOf, fallingSince } from './since.ts';

/** The findings of tests of decay. A gain is what the page would have with its share of 26 weeks ago. */
export function decayTests({ kind, grids }: KindRows, tests: DecayTests): RowTests {
  const all = grids.weekTotals();
  const weeks = Math.min(DECAY_WEEKS, grids.size.days / 7);
  // From the first week to the middle of the range.
  const elapsed = DECAY_WEEKS - 0.5 - weeks / 2;
  const findingOf = (at: number): RowFinding => {
    const row = tests.rows[at]!;
    const { clicks } = grids.totals(row);
    const [slope, error] = [tests.slope[at]!, tests.error[at]!];
    const back = (change: number): number => clicks * (Math.exp(-change * elapsed) - 1);
    return {
      type: 'decaying_page',
      kind,
      row,
      evidence: { clicks, weeklyChange: Math.exp(slope) - 1, change: Math.exp(slope * (DECAY_WEEKS - 1)) - 1 },
      gain: { clicks: back(slope), low: back(slope + SURE * error), high: back(slope - SURE * error) },
      p: tests.p[at]!,
      sinceAge: tests.p[at]! < 0.05 ? ageOf(fallingSince(sharesOf(grids, row, all)), DECAY_WEEKS) : null,
    };
  };
  return { p: tests.p, findingOf };
}

/** The logarithms of a page's odds against all others, by week. */
function sharesOf({ weekClicks }: RowGrids, row: number, all: Float64Array): Float64Array {
  return all.map((total, week) => {
    const count = weekClicks[row * DECAY_WEEKS + week]!;
    return Math.log((count + 0.5) / (total - count + 0.5));
  });
}
