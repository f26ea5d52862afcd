import { METRIC_NAMES } from '../lib/format.ts';
import { type Compared, METRICS, type Metrics } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Change, Value } from './numbers.tsx';

interface MetricTilesProps {
  readonly totals: (Metrics & Compared) | undefined;
  /** The metrics of the compared days; undefined where there are none. */
  readonly comparison: Metrics | undefined;
  /** Why none of the changes is to be relied on. */
  readonly unsafe?: readonly string[];
}

/** The four metrics of a range; the chosen one is that of the chart. */
export function MetricTiles({ totals, comparison, unsafe = [] }: MetricTilesProps) {
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
          <span class="metric-value">{totals ? <Value metric={name} value={totals[name]} /> : '\u00a0'}</span>
          <span class="metric-change">
            {totals && comparison ? (
              <Change
                metric={name}
                now={totals[name]}
                then={comparison[name]}
                unsafe={totals.unsafe?.[name] ?? unsafe}
              />
            ) : (
              '\u00a0'
            )}
          </span>
        </label>
      ))}
    </div>
  );
}
