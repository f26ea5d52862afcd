// JSON written as bytes equals the output of JSON.stringify, and comparisons equal exact fractions.
import fc from 'fast-check';
import t from 'tap';
import { CHANGES, Comparer, UNSAFE_REASONS } from '../../server/domain/comparison.ts';
import { toMetrics } from '../../server/domain/metrics.ts';
import { MetricsBytes, metricsJson } from '../../server/formats/json.ts';
import { Piece } from '../../server/runtime/text-bytes.ts';
import { beside } from '../contract/oracle-compare.ts';
import type { Sum } from '../contract/oracle-terms.ts';

t.test('the JSON of metrics equals that of JSON.stringify', (t) => {
  const count = fc.oneof(fc.nat(20), fc.nat(2 ** 32), fc.maxSafeNat());
  fc.assert(
    fc.property(count, count, count, (clicks, impressions, sum) => {
      const sumPosition = Math.min(sum, Number.MAX_SAFE_INTEGER - impressions);
      const text = `{${metricsJson(clicks, impressions, sumPosition)}`;
      return text === JSON.stringify(toMetrics({ clicks, impressions, sumPosition }));
    }),
  );
  t.end();
});

t.test('days written as bytes equal those of JSON.stringify', (t) => {
  const count = fc.oneof(fc.nat(20), fc.nat(2 ** 32), fc.maxSafeNat());
  const day = fc.record({ clicks: count, impressions: count, sum: count });
  const start = '"date":"2026-03-01",';
  fc.assert(
    fc.property(
      fc.array(day, { maxLength: 1200 }),
      fc.string({ unit: 'grapheme', maxLength: 70_000 }),
      (days, text) => {
        const measures = days.map(({ clicks, impressions, sum }) => ({
          clicks,
          impressions,
          sumPosition: Math.min(sum, Number.MAX_SAFE_INTEGER - impressions),
        }));
        const bytes = new MetricsBytes();
        bytes.text(JSON.stringify(text));
        const begun = bytes.take();
        for (const [index, { clicks, impressions, sumPosition }] of measures.entries()) {
          bytes.day(new Piece(`{${start}`), index === 0, clicks, impressions, sumPosition);
        }
        t.equal(bytes.take().toString(), measures.map(writtenDay).join(','));
        // Bytes that were taken are not overwritten.
        return begun.toString() === JSON.stringify(text);
      },
    ),
    { numRuns: 30 },
  );
  t.end();

  function writtenDay(measures: Parameters<typeof toMetrics>[0]): string {
    return `{${start}${JSON.stringify(toMetrics(measures)).slice(1)}`;
  }
});

t.test('comparisons equal exact fractions, as objects and as bytes', (t) => {
  // Products of the largest ones are beyond the precision of doubles.
  const count = fc.oneof(fc.nat(20), fc.nat(100_000), fc.nat(2 ** 40));
  const measures = fc.record({ clicks: count, impressions: count, sumPosition: count });
  const reasons = fc.subarray(UNSAFE_REASONS.filter((reason) => reason !== 'low_base'));
  // Rows share their comparers.
  const comparers = new Map<string, Comparer>();
  fc.assert(
    fc.property(measures, measures, reasons, (now, base, common) => {
      const comparer = comparers.get(common.join()) ?? new Comparer(new Set(common));
      comparers.set(common.join(), comparer);
      const compared = comparer.compare(now, base);
      const sums = ({ clicks, impressions, sumPosition }: typeof now): Sum => ({
        clicks: BigInt(clicks),
        impressions: BigInt(impressions),
        top: BigInt(sumPosition),
        bottom: 1n,
      });
      t.strictSame(
        compared,
        beside(sums(now), sums(base), () => new Set(common)),
      );
      const changes = new Float64Array(CHANGES);
      const bytes = new MetricsBytes();
      const other = { base, changes, unsafe: comparer.changes(now, base, changes) };
      bytes.comparedDay(new Piece('{"date":"2026-03-01",'), true, now, other);
      return bytes.take().toString() === JSON.stringify({ date: '2026-03-01', ...toMetrics(now), ...compared });
    }),
    { numRuns: 1000 },
  );
  t.end();
});
