import fc from 'fast-check';
import t from 'tap';
import { toMetrics } from '../../server/domain/metrics.ts';
import { metricsJson } from '../../server/formats/json.ts';

t.test('the JSON of metrics is what JSON.stringify would write', (t) => {
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
