// What CTR a position is expected to have comes from the rows of the property, and never rises with the position.
import fc from 'fast-check';
import t from 'tap';
import { CtrCurve, LAST_POSITION, PositionSums, positionOf } from '../../server/domain/ctr-curve.ts';
import type { Measures } from '../../server/domain/metrics.ts';

const row: fc.Arbitrary<Measures> = fc
  .record({
    impressions: fc.integer({ min: 1, max: 20_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    position: fc.double({ min: 1, max: 80, noNaN: true }),
  })
  .map(({ impressions, share, position }) => ({
    clicks: Math.floor(impressions * share * share),
    impressions,
    sumPosition: Math.round((position - 1) * impressions),
  }));
const rows = fc.array(row, { maxLength: 120 });

function sumsOf(all: readonly Measures[]): PositionSums {
  const sums = new PositionSums();
  for (const one of all) sums.add(one);
  return sums;
}

/** Rows of one position. */
function at(position: number, clicks: number, impressions: number): Measures {
  return { clicks, impressions, sumPosition: (position - 1) * impressions };
}

const POSITIONS = Array.from({ length: LAST_POSITION }, (_, index) => index + 1);

/** Each position's CTR and weight: its rows and 50 impressions at the mean CTR. */
function beforePooling({ clicks, impressions }: PositionSums): { ctr: number; weight: number }[] {
  const mean =
    clicks.reduce((a, b) => a + b) /
    Math.max(
      1,
      impressions.reduce((a, b) => a + b),
    );
  return POSITIONS.map((position) => {
    const weight = impressions[position]! + 50;
    return { ctr: (clicks[position]! + 50 * mean) / weight, weight };
  });
}

/**
 * The least-squares fit that never rises, by its formula: at each position the lowest, over all starts up to it, of the
 * highest mean, over all ends from it on.
 */
function isotonic(all: readonly { ctr: number; weight: number }[]): number[] {
  const mean = (from: number, to: number): number => {
    const part = all.slice(from, to + 1);
    return (
      part.reduce((sum, { ctr, weight }) => sum + ctr * weight, 0) / part.reduce((sum, { weight }) => sum + weight, 0)
    );
  };
  return all.map((_, at) => {
    const starts = all.slice(0, at + 1).map((_row, start) => {
      const ends = all.slice(at).map((_end, index) => mean(start, at + index));
      return Math.max(...ends);
    });
    return Math.min(...starts);
  });
}

t.test('the curve is the fit that never rises, and linear between positions', async () => {
  fc.assert(
    fc.property(rows, fc.double({ min: 0, max: 1, noNaN: true }), (all, between) => {
      const sums = sumsOf(all);
      const curve = new CtrCurve(sums);
      const expected = isotonic(beforePooling(sums));
      for (const [index, ctr] of expected.entries()) {
        const position = index + 1;
        const next = expected[index + 1] ?? ctr;
        const wanted = ctr + between * (next - ctr);
        const found = curve.at(position + between);
        if (Math.abs(found - wanted) > 1e-9 * Math.max(wanted, 1e-6)) return false;
        if (curve.at(position) < curve.at(position + 1)) return false;
      }
      return curve.at(60) === curve.at(1000);
    }),
    { numRuns: 60 },
  );
});

t.test('all of a curve, by hand', async () => {
  // Mean 0.1: 40 of 400 impressions. Position 3 has a higher CTR than position 2.
  const curve = new CtrCurve(sumsOf([at(1, 25, 100), at(2, 0, 150), at(3, 15, 150)]));
  t.equal(curve.at(1), 30 / 150);
  // Positions 2 and 3 are pooled, and then with the 57 that follow, each 5 clicks of 50 impressions.
  t.equal(curve.at(2), (25 + 57 * 5) / (400 + 57 * 50));
  t.equal(curve.at(60), curve.at(2));
});

t.test('without clicks nothing is expected', async () => {
  t.equal(new CtrCurve(sumsOf([])).at(1), 0);
  t.equal(new CtrCurve(sumsOf([at(1, 0, 100)])).at(5), 0);
});

t.test('halves of positions are rounded up, and what is beyond 60 counts there', async () => {
  const sums = sumsOf([
    { clicks: 1, impressions: 2, sumPosition: 1 },
    { clicks: 1, impressions: 1, sumPosition: 98 },
  ]);
  t.equal(positionOf({ clicks: 1, impressions: 2, sumPosition: 1 }), 1.5);
  t.equal(sums.impressions[2], 2);
  t.equal(sums.impressions[60], 1);
});

t.test('a row that was taken out has left nothing', async () => {
  fc.assert(
    fc.property(rows, row, (all, one) => {
      const sums = sumsOf([...all, one]);
      sums.remove(one);
      const [found, wanted] = [new CtrCurve(sums), new CtrCurve(sumsOf(all))];
      return POSITIONS.every((position) => found.at(position) === wanted.at(position));
    }),
  );
});
