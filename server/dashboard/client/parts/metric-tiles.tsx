import { hasNothingToCompare } from '../../../domain/unsafe-texts.ts';
import { metricOf } from '../lib/changes.ts';
import { exactMetric, formatMetric, METRIC_NAMES } from '../lib/format.ts';
import { type Compared, METRICS, type Metric, type MetricValues } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Change, Value } from './numbers.tsx';

/** A CTR or position of neither of the ranges has no change. */
function hasNumber(metric: Metric, totals: MetricValues & Compared): boolean {
  return metricOf(metric, totals) !== null || metricOf(metric, totals.comparison!) !== null;
}

/** The four metrics of a range; the chosen one is that of the chart. */
export function MetricTiles({ totals }: { totals: (MetricValues & Compared) | undefined }) {
  const view = useView();
  return (
    <div class="metrics" role="radiogroup" aria-label="Metric of the chart">
      {METRICS.map((name) => (
        <label key={name} class="metric">
          <input
            type="radio"
            name="metric"
            class="sr-only"
            checked={view.metric === name}
            onChange={() => view.change({ metric: name }, { replace: true })}
          />
          <span class="metric-name">{METRIC_NAMES[name]}</span>
          <span class="metric-value">{totals ? <Value metric={name} value={metricOf(name, totals)} /> : '\u00a0'}</span>
          <span class="metric-change">
            {totals && hasNothingToCompare(totals) ? (
              <span class="muted">No data to compare with</span>
            ) : totals?.comparison && hasNumber(name, totals) ? (
              <>
                <Change metric={name} row={totals} />{' '}
                <span class="muted" title={exactMetric(name, metricOf(name, totals.comparison))}>
                  from {formatMetric(name, metricOf(name, totals.comparison))}
                </span>
              </>
            ) : (
              '\u00a0'
            )}
          </span>
        </label>
      ))}
    </div>
  );
}
