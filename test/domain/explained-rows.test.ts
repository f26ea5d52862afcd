// The parts of a change of clicks are whole numbers that add up to it, for all rows together and for each row.
import fc from 'fast-check';
import t from 'tap';
import { type ChangeParts, partsOfRow, type Split, sharedParts, wholeParts } from '../../server/domain/change-parts.ts';
import { CtrCurve, PositionSums } from '../../server/domain/ctr-curve.ts';
import { type ComparedSums, type ExplainedRows, explainRows, RowSums } from '../../server/domain/explained-rows.ts';
import { type Measures, NOTHING } from '../../server/domain/metrics.ts';

const shown: fc.Arbitrary<Measures> = fc
  .record({
    impressions: fc.integer({ min: 1, max: 100_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    position: fc.double({ min: 1, max: 90, noNaN: true }),
  })
  .map(({ impressions, share, position }) => ({
    clicks: Math.floor(impressions * share ** 3),
    impressions,
    sumPosition: Math.round((position - 1) * impressions),
  }));
const row: fc.Arbitrary<ComparedSums> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ now: shown, base: shown }) },
  { weight: 1, arbitrary: fc.record({ now: shown, base: fc.constant(NOTHING) }) },
  { weight: 1, arbitrary: fc.record({ now: fc.constant(NOTHING), base: shown }) },
);
const options = fc.record({ hasPositions: fc.boolean(), isSafe: fc.boolean() });

function explained(rows: readonly ComparedSums[], how: { hasPositions: boolean; isSafe: boolean }): ExplainedRows {
  const steps = explainRows(RowSums.of(rows), how);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function sumOf(parts: ChangeParts): number {
  const values: readonly (number | null)[] = Object.values(parts);
  return values.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

const isWhole = (parts: ChangeParts): boolean =>
  Object.values(parts).every((part) => part === null || (Number.isInteger(part) && !Object.is(part, -0)));

t.test('all rows together, and each row by itself', async () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), options, (rows, how) => {
      const { split, sums, parts } = explained(rows, how);
      const difference = rows.reduce((sum, { now, base }) => sum + now.clicks - base.clicks, 0);
      const isOfRow = ({ now, base }: ComparedSums): boolean => {
        const own = partsOfRow(now, base, split);
        return isWhole(own) && sumOf(own) === now.clicks - base.clicks;
      };
      return (
        isWhole(parts) &&
        sumOf(parts) === difference &&
        sums.now.clicks - sums.base.clicks === difference &&
        rows.every(isOfRow)
      );
    }),
  );
});

t.test('what is not known is null, and then one part has all clicks of shared rows', async () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 20 }), options, (rows, how) => {
      const { parts } = explained(rows, how);
      return (
        (parts.clicks === null) === how.isSafe &&
        (parts.impressions === null) === !how.isSafe &&
        (parts.ctr === null) === !how.isSafe &&
        (parts.position === null) === !(how.isSafe && how.hasPositions)
      );
    }),
  );
});

t.test('exact parts add up, change their sign with the direction, and are near what whole ones say', async () => {
  fc.assert(
    fc.property(shown, shown, fc.array(shown, { maxLength: 30 }), fc.boolean(), (now, base, others, hasPositions) => {
      const sums = new PositionSums();
      for (const one of [now, base, ...others]) sums.add(one);
      const split: Split = { curve: hasPositions ? new CtrCurve(sums) : null, isSafe: true };
      const [there, back] = [sharedParts(now, base, split), sharedParts(base, now, split)];
      const whole = partsOfRow(now, base, split);
      const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(a));
      return (
        isNear(there.impressions + there.position + there.ctr, now.clicks - base.clicks) &&
        isNear(there.impressions, -back.impressions) &&
        isNear(there.position, -back.position) &&
        isNear(there.ctr, -back.ctr) &&
        Math.abs(there.ctr - whole.ctr!) < 1 + 1e-6 &&
        Math.abs(there.impressions - whole.impressions!) < 1 + 1e-6
      );
    }),
  );
});

t.test('a factor that has not changed explains nothing', async () => {
  const at = (clicks: number, impressions: number, position: number): Measures => ({
    clicks,
    impressions,
    sumPosition: (position - 1) * impressions,
  });
  const split = ({ now, base }: ComparedSums) => explained([{ now, base }], { hasPositions: true, isSafe: true }).parts;
  // Twice the impressions at the same position and CTR.
  t.match(split({ now: at(40, 400, 3), base: at(20, 200, 3) }), { impressions: 20, position: 0, ctr: 0 });
  // The same impressions and position.
  t.match(split({ now: at(10, 200, 3), base: at(20, 200, 3) }), { impressions: 0, position: 0, ctr: -10 });
});

t.test('remainders: the largest first, equal ones in the order of the parts', async () => {
  const split: Split = { curve: new CtrCurve(new PositionSums()), isSafe: true };
  const whole = (impressions: number, position: number, ctr: number, total: number) => {
    const parts = wholeParts({ impressions, position, ctr }, total, { gained: 0, lost: 0 }, split);
    return [parts.impressions, parts.position, parts.ctr];
  };
  t.strictSame(whole(1.2, 2.5, 3.3, 7), [1, 3, 3]);
  t.strictSame(whole(0.5, 0.5, 0, 1), [1, 0, 0]);
  t.strictSame(whole(-0.5, 0.2, -0.7, -1), [0, 0, -1]);
  t.strictSame(whole(0.4, 0.3 + 1e-8, 0.3, 1), [1, 0, 0]);
  t.strictSame(whole(0.1, 0.45, 0.45 + 1e-8, 1), [0, 1, 0], 'nearer than a millionth');
  t.strictSame(whole(0.1, 0.45, 0.45 + 1e-5, 1), [0, 0, 1]);
  t.strictSame(whole(3 - 1e-12, 1e-12, -1 - 1e-12, 2), [3, 0, -1], 'inexact sums of whole numbers');
});

t.test('without any click nothing is explained', async () => {
  const rows = [{ now: { clicks: 0, impressions: 5, sumPosition: 9 }, base: NOTHING }];
  t.match(explained(rows, { hasPositions: true, isSafe: true }).parts, { impressions: 0, gained: 0, lost: 0 });
});
