// The probabilities behind findings are those of their distributions.
import fc from 'fast-check';
import t from 'tap';
import { LocalCurve } from '../../server/findings/curve.ts';
import { changedSince, fallingSince, type ShownPages, splitOf } from '../../server/findings/finding.ts';
import { BetaBinomials, logGamma, stepUp, studentBelow } from '../../server/findings/statistics.ts';

const near = (a: number, b: number, tolerance = 1e-9): boolean =>
  Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b));

t.test('the gamma function and Student’s t have the values of tables', async (t) => {
  t.ok(near(Math.exp(logGamma(5)), 24));
  t.ok(near(Math.exp(logGamma(0.5)), Math.sqrt(Math.PI)));
  for (const [value, df, below] of [
    [0, 7, 0.5],
    [2.015048, 5, 0.95],
    [-1.812461, 10, 0.05],
    [3.169273, 10, 0.995],
  ] as const) {
    t.ok(near(studentBelow(value, df), below, 1e-6), `${value} with ${df}`);
  }
});

t.test('the p of a count is twice the smaller sum of probabilities on its sides', async () => {
  const given = { trials: fc.integer({ min: 1, max: 60 }), mean: fc.double({ min: 0.02, max: 0.98, noNaN: true }) };
  const spread = fc.double({ min: 0.01, max: 1.5, noNaN: true });
  fc.assert(
    fc.property(fc.record({ ...given, spread, part: fc.nat(60) }), ({ trials, mean, spread, part }) => {
      const count = part % (trials + 1);
      const model = new BetaBinomials(1).set(mean, () => spread);
      const all = Array.from({ length: trials + 1 }, (_, k) => {
        const probability = new Float64Array(1);
        model.probabilities(k, trials, probability);
        return probability[0]!;
      });
      const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
      const below = sum(all.slice(0, count)) + all[count]! / 2;
      const p = model.twoSided(count, trials, Float64Array.of(1));
      return near(sum(all), 1, 1e-6) && near(p, 2 * Math.min(below, 1 - below), 1e-6);
    }),
  );
});

t.test('numbers as they are computed elsewhere', async (t) => {
  // By exact fractions: a = b = 2 of ten trials is 1 + k · (10 − k) … over 286.
  const model = new BetaBinomials(1).set(0.5, () => Math.sqrt(4 / 5));
  const found = new Float64Array(1);
  for (const [count, expected] of [
    [0, 11 / 286],
    [3, 32 / 286],
    [5, 36 / 286],
  ] as const) {
    model.probabilities(count, 10, found);
    t.ok(near(found[0]!, expected), `${count}`);
  }
});

t.test('the step-up p lists exactly what Benjamini and Hochberg do', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }),
      fc.double({ min: 0.01, max: 0.5, noNaN: true }),
      (p, q) => {
        const sorted = p.toSorted((a, b) => a - b);
        const listed = sorted.findLastIndex((one, at) => (one * p.length) / (at + 1) <= q) + 1;
        const parts = [Float64Array.from(p.slice(0, 2)), Float64Array.from(p.slice(2))];
        return (
          stepUp(parts)
            .flatMap((part) => [...part])
            .filter((one) => one <= q).length === listed
        );
      },
    ),
  );
});

t.test('the step-up p of a few tests, by hand: all tests count, and no smaller p has a larger one', async (t) => {
  for (const [p, expected] of [
    [
      [0.01, 0.04, 0.03, 1],
      [0.04, 0.16 / 3, 0.16 / 3, 1],
    ],
    [
      [0.5, 0.001, 1, 1, 1],
      [1, 0.005, 1, 1, 1],
    ],
    [
      [0.02, 0.02],
      [0.02, 0.02],
    ],
    [[1], [1]],
    [[], []],
  ] as const) {
    const [first, second] = stepUp([Float64Array.from(p.slice(0, 1)), Float64Array.from(p.slice(1))]);
    const found = [...first!, ...second!];
    t.ok(found.length === expected.length && found.every((one, at) => near(one, expected[at]!)), found.join());
  }
});

t.test('a curve is what the other rows have, and does not know the row that was taken away', async (t) => {
  const curve = new LocalCurve();
  const ctr = (position: number): number => 0.3 / position;
  for (let row = 0; row < 200; row++) {
    const position = 1 + row / 10;
    curve.add(position, 1000 * ctr(position), 1000, 1);
  }
  const expected = { ctr: 0, variance: 0, perSpread: 0 };
  for (const position of [1, 1.5, 4, 10.05]) {
    t.ok(curve.expect(position, expected));
    t.ok(Math.abs(expected.ctr / ctr(position) - 1) < 0.03, `at ${position}`);
  }
  const before = expected.ctr;
  curve.add(10, 90_000, 100_000, 1);
  curve.remove(10, 90_000, 100_000, 1);
  curve.expect(10.05, expected);
  t.ok(near(expected.ctr, before, 1e-6));
});

t.test('a change is dated by the week from which on counts are another share of what is expected', async (t) => {
  const expected = [100, 100, 120, 100, 100, 100, 80, 100];
  t.equal(changedSince([10, 10, 12, 10, 10, 20, 16, 20], expected, 3), 5);
  t.equal(changedSince([10, 11, 12, 9, 10, 10, 8, 10], expected, 3), null);
  t.equal(changedSince([0, 0], [1, 1], 3), null);
  t.equal(fallingSince([5, 5, 5, 5, 5, 4, 3, 2, 1, 0, -1, -2]), 4);
});

t.test('a query is split if two pages share it and take turns', async (t) => {
  const shown = (pages: readonly (readonly [day: number, page: number, impressions: number])[]): ShownPages => ({
    days: pages.map(([day]) => day),
    pages: pages.map(([, page]) => page),
    impressions: pages.map(([, , impressions]) => impressions),
  });
  const days = Array.from({ length: 10 }, (_, day) => day);
  const turns = shown(days.flatMap((day) => [[day, 1, day % 2 === 0 ? 9 : 1] as const, [day, 2, 5] as const]));
  t.match(splitOf(turns, 100), { shownDays: 10, changes: 9, firstChange: 1, pages: [{ page: 1 }, { page: 2 }] });
  t.equal(splitOf(turns, 400), null, 'both have less than 15 %');
  const still = shown(days.flatMap((day) => [[day, 1, 9] as const, [day, 2, 5] as const]));
  t.equal(splitOf(still, 100), null, 'one is always the main page');
  const equal = shown(days.flatMap((day) => [[day, 1, day === 0 ? 6 : 5] as const, [day, 2, 5] as const]));
  t.equal(splitOf(equal, 100), null, 'equal pages do not change the main one');
  t.equal(splitOf(shown(turns.days.slice(0, 8).map((day, at) => [day, at % 2, 5])), 30), null, 'too few days');
});
