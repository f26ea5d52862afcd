// Effects of changes are judged alike whatever the order of controls, and p and the interval always agree.
import fc from 'fast-check';
import t from 'tap';
import { type Estimate, estimate } from '../../server/effects/estimate.ts';
import { bundle, clicksIn, type Unit, unitOf } from '../../server/effects/scores.ts';

const LENGTHS = { before: 28, settle: 7, after: 14 };
const DAYS = 150;

function run(units: readonly Unit[], { day = 120, stored = new Uint8Array(DAYS).fill(1) } = {}): Estimate {
  const steps = estimate({ units, stored, day, lengths: LENGTHS });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

const clicks = fc
  .tuple(
    fc.integer({ min: 1, max: 40 }),
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: DAYS, maxLength: DAYS }),
  )
  .map(([size, noise]) => noise.map((more) => size + more));
const site = fc.array(clicks, { minLength: 5, maxLength: 9 });

t.test('p is below 0.05 exactly if the interval leaves out no effect, or neither is told', async (t) => {
  let found = 0;
  fc.assert(
    fc.property(site, fc.integer({ min: 1, max: 30 }), ([first, ...others], factor) => {
      const changed = first!.map((count, at) => (at < 120 ? count : (count * factor) / 10));
      const { effect, placebo, detectable } = run([changed, ...others].map((days) => unitOf(days)));
      // Too few placebos of like size.
      if (effect === null) return detectable === null && placebo.count >= 40;
      const { p, low, high, ratio } = effect;
      found += p < 0.05 ? 1 : 0;
      return (
        p > 0 &&
        p <= 1 &&
        low <= ratio &&
        ratio <= high &&
        p < 0.05 === (low > 0 || high < 0) &&
        placebo.falseAlarmRate <= 0.5
      );
    }),
    { numRuns: 60 },
  );
  t.ok(found > 10, `${found} effects were found`);
});

t.test('the order of controls is irrelevant', async (t) => {
  fc.assert(
    fc.property(site, ([first, ...others]) => {
      const near = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9;
      const one = run([first!, ...others].map((days) => unitOf(days))).effect!;
      const other = run([first!, ...others.toReversed()].map((days) => unitOf(days))).effect!;
      return near(one.p, other.p) && near(one.ratio, other.ratio) && near(one.low, other.low);
    }),
    { numRuns: 20 },
  );
  t.end();
});

const even = (size: number): number[] => Array.from({ length: DAYS }, (_, at) => size + ((at * 7 + size) % 5));

t.test('windows with missing days and changed controls are no placebos', async (t) => {
  const units = Array.from({ length: 8 }, (_, n) => unitOf(even(5 + n)));
  const all = run(units).placebo.count;
  const stored = new Uint8Array(DAYS).fill(1);
  stored[50] = 0;
  t.ok(run(units, { stored }).placebo.count < all, 'a missing day takes the windows that contain it');
  const changed = [...units.slice(0, 7), unitOf(even(12), [60])];
  t.ok(run(changed).placebo.count < all, 'and a change the windows of its unit');
  t.equal(run(changed).control!.members, 7, 'which is a control again later');
  t.equal(run([...units.slice(0, 7), unitOf(even(12), [119])]).control!.members, 6);
});

t.test('without clicks, controls or placebos there is no effect', async (t) => {
  const units = Array.from({ length: 8 }, (_, n) => unitOf(even(5 + n)));
  t.match(run([unitOf(even(0).map(() => 1)), ...units]), { effect: null, detectable: null, clicks: 0 });
  t.match(run(units.slice(0, 1)), { effect: null, control: null });
  const few = run(units.slice(0, 2).concat(unitOf(even(9), [20, 60, 100])));
  t.match(few, { effect: null, control: null });
  t.ok(few.placebo.count < 40, 'too few placebos');
  const unlike = run([unitOf(even(300)), ...units]);
  t.match(unlike, { effect: null, detectable: null, control: null });
  t.ok(unlike.placebo.count >= 40, 'enough placebos, of other sizes');
  const future = run(units, { day: 200 });
  t.equal(future.effect, null);
  t.ok(future.detectable! > 0);
});

t.test('thirty clicks before a change are enough, of the subject and of controls', async (t) => {
  const units = Array.from({ length: 8 }, (_, n) => unitOf(even(n)));
  /** Clicks of the 28 days before the change; as usual on other days. */
  const before = (clicks: number) =>
    unitOf(even(5).map((usual, at) => (at < 92 || at >= 120 ? usual : at === 100 ? clicks - 27 : 1)));
  for (const [clicks, counted, isJudged] of [
    [29, 0, false],
    [30, 30, true],
    [31, 31, true],
  ] as const) {
    const subject = run([before(clicks), ...units]);
    t.strictSame([subject.clicks, subject.effect !== null], [counted, isJudged], `${clicks}`);
    t.equal(run([...units, before(clicks)]).control!.members, isJudged ? 8 : 7, `a control of ${clicks}`);
  }
});

t.test('controls are put together for a subject of several', async (t) => {
  const units = Array.from({ length: 40 }, (_, n) => unitOf(even(40 - n), n === 3 ? [7] : []));
  t.equal(bundle(units, 1).length, 40);
  const threes = bundle(units, 3);
  t.equal(threes.length, 13);
  t.strictSame(threes[3]!.changes, [7]);
  t.equal(
    clicksIn(threes[0]!, 0, 10),
    [0, 13, 26].reduce((sum, n) => sum + clicksIn(units[n]!, 0, 10), 0),
  );
  t.equal(bundle(units, 100).length, 8, 'eight at least, of as many as there are');
});
