import { DECAY_WEEKS } from './decay.ts';
import { gainOf, type KindRows, type RowFinding, type RowTests } from './finding.ts';
import type { RowGrids } from './grids.ts';
import type { MoveTests } from './moves.ts';
import { ageOf, changedSince, WORTH_DATING } from './since.ts';

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
