import { describeChange, describeReasons, exactMetric, formatMetric } from '../lib/format.ts';
import type { Compared, Metric, Metrics } from '../lib/types.ts';

/** A number of a metric; hovering shows it exactly. */
export function Value({ metric, value }: { metric: Metric; value: number | null | undefined }) {
  return (
    <span class="value" title={exactMetric(metric, value)}>
      {formatMetric(metric, value)}
    </span>
  );
}

interface ChangeProps {
  readonly metric: Metric;
  readonly now: number | null;
  readonly then: number | null | undefined;
  /** Why it is not to be relied on. */
  readonly unsafe?: readonly string[] | undefined;
}

/** How a metric changed: an arrow for its direction, and a colour for better or worse. */
export function Change({ metric, now, then, unsafe }: ChangeProps) {
  const change = describeChange(metric, now, then);
  if (change === undefined) return null;
  const reasons = unsafe ?? [];
  // The newest days are in every usual range: that they may change is said on hover, and in the chart.
  const isUnsafe = reasons.some((reason) => reason !== 'provisional');
  const why = `${isUnsafe ? 'Not safe to compare' : 'With'}: ${describeReasons(reasons)}`;
  const title = reasons.length > 0 ? `${change.exact}. ${why}` : change.exact;
  if (change.isGood === null) {
    return (
      <span class="change" title={title}>
        {change.text}
      </span>
    );
  }
  const isUp = (now ?? 0) > (then ?? 0);
  // A position that goes up in number got worse; the arrow shows the number.
  return (
    <span class={`change ${isUnsafe ? 'unsafe' : change.isGood ? 'good' : 'bad'}`} title={title}>
      <span aria-hidden="true">{isUp ? '▲' : '▼'}</span>
      <span class="sr-only">{isUp ? 'up' : 'down'} </span>
      {change.text}
      {isUnsafe && <span class="sr-only"> (not safe to compare)</span>}
    </span>
  );
}

/** The change of one metric of a row that carries a comparison. */
export function RowChange({ metric, row, now }: { metric: Metric; row: Compared; now: Metrics }) {
  if (!row.comparison) return null;
  return <Change metric={metric} now={now[metric]} then={row.comparison[metric]} unsafe={row.unsafe?.[metric]} />;
}
