// CTR, position and shares of a month are rounded as exact fractions are, and shares add up to the month.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { daysInMonth } from '../../server/domain/dates.ts';
import { add, NOTHING, roundRatio, sum, toMetrics } from '../../server/domain/metrics.ts';
import { hasPartOfMonth, partOfTotal, Total } from '../../server/domain/spread.ts';

/** Rounded half away from zero with integers of any size, as decimal text. */
function rounded(numerator: bigint, denominator: bigint, decimals: number): number {
  const scale = 10n ** BigInt(decimals);
  const [quotient, rest] = [(numerator * scale) / denominator, (numerator * scale) % denominator];
  const digits = String(quotient + (2n * rest >= denominator ? 1n : 0n)).padStart(decimals + 1, '0');
  return Number(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
}

/** Small numbers, where halves occur, and large ones, beyond the precision of doubles. */
const counts = fc.oneof(
  fc.integer({ min: 0, max: 200 }),
  fc.integer({ min: 0, max: 10_000_000 }),
  fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
);
const measures = fc.record({ clicks: counts, impressions: counts, sumPosition: counts });

t.test('ctr and position are rounded as exact fractions are, halves away from zero', async () => {
  // ratios with few enough digits for a double
  const whole = measures.filter(
    ({ clicks, impressions, sumPosition }) =>
      Math.max(clicks, sumPosition) / impressions < 1e9 && sumPosition <= Number.MAX_SAFE_INTEGER - impressions,
  );
  fc.assert(
    fc.property(whole, ({ clicks, impressions, sumPosition }) => {
      const metrics = toMetrics({ clicks, impressions, sumPosition });
      const [shown, sumOf] = [BigInt(impressions), BigInt(sumPosition)];
      return (
        metrics.clicks === clicks &&
        metrics.impressions === impressions &&
        metrics.ctr === rounded(BigInt(clicks), shown, 4) &&
        metrics.position === rounded(sumOf + shown, shown, 1)
      );
    }),
    { numRuns: 3000 },
  );
});

t.test('just below, at and above a half', async () => {
  fc.assert(
    fc.property(
      // Above 2^40 the products do not fit into the whole numbers that are exact.
      fc.oneof(fc.integer({ min: 1, max: 2 ** 40 }), fc.integer({ min: 2 ** 40, max: 2 ** 45 })),
      fc.integer({ min: 0, max: 2000 }),
      fc.integer({ min: -1, max: 1 }),
      (denominator, tenths, off) => {
        // (tenths + 1/2) / 10 of the denominator, moved by one
        const numerator = Math.max(0, Math.floor((denominator * (2 * tenths + 1)) / 20) + off);
        return roundRatio(numerator, denominator, 10) === rounded(BigInt(numerator), BigInt(denominator), 1);
      },
    ),
    { numRuns: 3000 },
  );
});

t.test('examples', async (t) => {
  const metrics = (clicks: number, impressions: number, sumPosition: number) => {
    const { ctr, position } = toMetrics({ clicks, impressions, sumPosition });
    return [ctr, position];
  };
  t.strictSame(metrics(0, 0, 0), [null, null]);
  t.strictSame(metrics(3, 0, 0), [null, null]);
  t.strictSame(metrics(0, 9, 0), [0, 1]);
  t.strictSame(metrics(1, 1, 0), [1, 1]);
  // 0.03125, 0.00005, 0.00004999…
  t.strictSame(metrics(1, 32, 0), [0.0313, 1]);
  t.strictSame(metrics(1, 20_000, 0), [0.0001, 1]);
  t.strictSame(metrics(1, 20_001, 0), [0, 1]);
  // 1.05, 1.15, 2.25, 1.0499…
  t.strictSame(metrics(0, 20, 1), [0, 1.1]);
  t.strictSame(metrics(0, 20, 3), [0, 1.2]);
  t.strictSame(metrics(0, 4, 5), [0, 2.3]);
  t.strictSame(metrics(0, 10_000, 499), [0, 1]);
});

t.test('measures add up', async (t) => {
  const small = fc.record({ clicks: fc.nat(), impressions: fc.nat(), sumPosition: fc.nat() });
  fc.assert(
    fc.property(fc.array(small), (all) => {
      const { clicks, impressions, sumPosition } = sum(all);
      const of = (name: keyof typeof NOTHING): number => all.reduce((total, each) => total + each[name], 0);
      return clicks === of('clicks') && impressions === of('impressions') && sumPosition === of('sumPosition');
    }),
  );
  t.strictSame(sum([]), NOTHING);
  t.strictSame(add(NOTHING, { clicks: 1, impressions: 2, sumPosition: 3 }), {
    clicks: 1,
    impressions: 2,
    sumPosition: 3,
  });
});

const measuresOfMonth = fc
  .record({ clicks: fc.nat(50), impressions: fc.nat(400), sumPosition: fc.nat(9000) })
  .map((all) => (all.impressions === 0 ? NOTHING : all));

const month = fc
  .record({ year: fc.integer({ min: 2000, max: 2040 }), month: fc.integer({ min: 1, max: 12 }) })
  .map(({ year, month: number }) => `${year}-${String(number).padStart(2, '0')}`);

t.test('a day of a month has floor(T d / n) - floor(T (d - 1) / n) of its total', async () => {
  fc.assert(
    fc.property(counts, month, fc.integer({ min: 1, max: 31 }), (total, name, date) => {
      const [n, d] = [daysInMonth(name), Math.min(date, daysInMonth(name))];
      const upTo = (day: number): bigint => (BigInt(total) * BigInt(day)) / BigInt(n);
      return partOfTotal(total, n, d, d) === Number(upTo(d) - upTo(d - 1));
    }),
    { numRuns: 1000 },
  );
});

t.test('days are whole and add up to the month, and to each part of it', async () => {
  fc.assert(
    fc.property(counts, month, fc.nat(30), fc.nat(30), (total, name, a, b) => {
      const n = daysInMonth(name);
      const [first, last] = [Math.min(a, b, n - 1) + 1, Math.min(Math.max(a, b), n - 1) + 1];
      const days = Array.from({ length: n }, (_, index) => partOfTotal(total, n, index + 1, index + 1));
      const addUp = (some: readonly number[]): number => some.reduce((x, y) => x + y, 0);
      return (
        days.every((day) => Number.isSafeInteger(day) && day >= 0) &&
        addUp(days) === total &&
        addUp(days.slice(first - 1, last)) === partOfTotal(total, n, first, last) &&
        partOfTotal(total, n, 1, n) === total
      );
    }),
    { numRuns: 500 },
  );
});

t.test("any part of a month has the month's average position", async () => {
  const total = fc.record({
    clicks: fc.nat(1000),
    impressions: fc.integer({ min: 1, max: 100_000 }),
    sumPosition: fc.nat(10_000_000),
  });
  fc.assert(
    fc.property(total, month, fc.nat(30), fc.nat(30), (measured, name, a, b) => {
      const n = daysInMonth(name);
      const part = new Total();
      part.addPartOfMonth(name, measured, Math.min(a, b, n - 1) + 1, Math.min(Math.max(a, b), n - 1) + 1);
      const { impressions, position } = part.metrics();
      return impressions === 0 ? position === null : position === toMetrics(measured).position;
    }),
    { numRuns: 1000 },
  );
});

t.test('a month without impressions has no position, whatever its sum', async (t) => {
  const total = new Total();
  total.addPartOfMonth('2026-02', { clicks: 0, impressions: 0, sumPosition: 9 }, 1, 28);
  t.strictSame(total.metrics(), { clicks: 0, impressions: 0, ctr: null, position: null });
  total.addDay({ clicks: 0, impressions: 1, sumPosition: 0 });
  t.equal(total.metrics().position, 1);
});

t.test('whole months and parts at both ends add up to what the days do', async () => {
  const names = ['2025-12', '2026-01', '2026-02'];
  const totals = fc.tuple(measuresOfMonth, measuresOfMonth, measuresOfMonth);
  fc.assert(
    fc.property(totals, fc.integer({ min: 1, max: 31 }), fc.integer({ min: 1, max: 28 }), (all, first, last) => {
      const [months, days] = [new Total(), new Total()];
      for (const [index, name] of names.entries()) {
        const [from, to] = [index === 0 ? first : 1, index === 2 ? last : daysInMonth(name)];
        months.addPartOfMonth(name, all[index]!, from, to);
        for (let day = from; day <= to; day++) days.addPartOfMonth(name, all[index]!, day, day);
      }
      return isDeepStrictEqual(months.metrics(), days.metrics());
    }),
  );
});

t.test('parts of months and days together weigh by their impressions, exactly', async () => {
  const parts = fc.array(
    fc.record({
      name: month,
      last: fc.integer({ min: 1, max: 28 }),
      impressions: fc.integer({ min: 1, max: 1_000_000_000 }),
      sumPosition: fc.nat(2_000_000_000),
    }),
    { minLength: 1, maxLength: 16 },
  );
  fc.assert(
    fc.property(parts, fc.nat(1000), fc.nat(10_000), (months, impressions, sumPosition) => {
      const total = new Total();
      total.addDay({ clicks: 0, impressions, sumPosition });
      let shown = BigInt(impressions);
      let [numerator, denominator] = [BigInt(sumPosition), 1n];
      for (const each of months) {
        total.addPartOfMonth(each.name, { clicks: 0, ...each }, 1, each.last);
        const share = (BigInt(each.impressions) * BigInt(each.last)) / BigInt(daysInMonth(each.name));
        shown += share;
        numerator = numerator * BigInt(each.impressions) + BigInt(each.sumPosition) * share * denominator;
        denominator *= BigInt(each.impressions);
      }
      const { position } = total.metrics();
      return shown === 0n
        ? position === null
        : position === rounded(numerator + shown * denominator, shown * denominator, 1);
    }),
    { numRuns: 300 },
  );
});

t.test('a range that has a part of a stored month', async (t) => {
  for (const [from, to, expected] of [
    ['2026-02-01', '2026-02-28', false],
    ['2026-02-01', '2026-02-27', true],
    ['2026-02-02', '2026-02-28', true],
    ['2026-02-28', '2026-03-31', true],
    ['2026-02-01', '2026-03-10', false],
    ['2026-03-01', '2026-03-10', false],
    ['2026-03-05', '2026-03-31', false],
    ['2025-12-01', '2026-01-31', false],
    ['2025-12-01', '2026-01-30', true],
    ['2025-12-31', '2026-03-10', true],
  ] as const) {
    t.equal(hasPartOfMonth({ from, to }, '2026-02-28'), expected, `${from} to ${to}`);
    t.equal(hasPartOfMonth({ from, to }, null), false);
  }
});
