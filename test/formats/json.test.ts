import fc from 'fast-check';
import t from 'tap';
import { toMetrics } from '../../server/domain/metrics.ts';
import { DayBytes } from '../../server/formats/day-bytes.ts';
import { metricsJson } from '../../server/formats/json.ts';

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
        const bytes = new DayBytes();
        bytes.text(JSON.stringify(text));
        const begun = bytes.take();
        for (const [index, { clicks, impressions, sumPosition }] of measures.entries()) {
          bytes.day(Buffer.from(`{${start}`), index === 0, clicks, impressions, sumPosition);
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
