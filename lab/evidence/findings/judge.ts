import { listedFindings, testKind, together } from '../../../server/findings/find.ts';
import type { Family, RowFinding, RowKind } from '../../../server/findings/finding.ts';
import { RowGrids, RowTimes } from '../../../server/findings/grids.ts';
import { WEEKS, type WeekRows, type World } from './worlds.ts';

/** A finding with its step-up p; 1 in lists. */
export interface Judged extends RowFinding {
  readonly adjusted: number;
}

const DAYS = 28;
const ALL = { ctr: true, nearTop: true, moves: true, decay: true, presence: true };

/** Tests a world, as a report about its last 28 days does. */
export function judge(world: World): Map<Family, Judged[]> {
  const kinds = [kindOf('query', world.queries), kindOf('page', world.pages)];
  const found = together(kinds.map((kind) => ended(testKind(kind, ALL))));
  return new Map(
    [...found].map(([family, tests]) => {
      const listed = ended(listedFindings(tests, 1));
      return [family, listed.map((one) => ({ ...one, adjusted: one.adjusted ?? 1 }))];
    }),
  );
}

function kindOf(kind: RowKind, rows: WeekRows) {
  const { count, clicks, impressions, position, stratum } = rows;
  const times = new RowTimes({ rows: count, days: DAYS, windows: (7 * WEEKS) / DAYS });
  for (let row = 0; row < count; row++) {
    for (let week = 0; week < WEEKS; week++) {
      const cell = row * WEEKS + week;
      const age = 7 * (WEEKS - 1 - week);
      if (impressions[cell]! > 0) {
        times.add(row, age, age, clicks[cell]!, impressions[cell]!, impressions[cell]! * (position[cell]! - 1));
      }
    }
  }
  return { kind, grids: ended(RowGrids.of(times)), stratum };
}

function ended<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
