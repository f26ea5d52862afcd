import { type ComponentChildren, h } from 'preact';
import { describeReasons } from '../../../domain/unsafe-texts.ts';
import { describeChange } from '../lib/changes.ts';
import { exactMetric, formatMetric } from '../lib/format.ts';
import type { Compared, Metric, MetricValues } from '../lib/types.ts';
import { useExplainLink } from '../lib/view.ts';

/** The heading of a column of numbers. */
export function NumberHeading({ children }: { children: ComponentChildren }) {
  return (
    <th scope="col" class="number">
      {children}
    </th>
  );
}

/** A number of a metric; hovering shows it exactly. */
export function Value({ metric, value }: { metric: Metric; value: number | null | undefined }) {
  return (
    <span class="value" title={exactMetric(metric, value)}>
      {formatMetric(metric, value)}
    </span>
  );
}

const ARROWS = { up: '▲', down: '▼', same: '' } as const;

interface ChangeProps {
  readonly metric: Metric;
  readonly row: MetricValues & Compared;
  /** What the rows of the explanation are. */
  readonly by?: string;
  /** Whether the change can be explained. */
  readonly isExplained?: boolean;
}

/**
 * How a metric changed: an arrow for its direction, a colour for better or worse, and why it may mislead on hover. Leads to
 * what explains it.
 */
export function Change({ metric, row, by, isExplained = true }: ChangeProps) {
  const why = useExplainLink(by);
  const change = describeChange(metric, row);
  if (change === undefined) return null;
  const { text, exact, direction, isGood } = change;
  const reasons = row.unsafe?.[metric] ?? [];
  // The newest days are in every usual range: that they may change is said once, and in the chart.
  const isUnsafe = reasons.some((reason) => reason !== 'provisional');
  const title = reasons.length > 0 ? `${exact}. No percentage: ${describeReasons(reasons)}` : exact;
  const kind = isGood === null ? '' : isUnsafe ? 'unsafe' : isGood ? 'good' : 'bad';
  const link = isExplained && why !== undefined && direction !== 'same' ? { href: why } : {};
  // Only links have an address.
  return h(
    'href' in link ? 'a' : 'span',
    { class: `change ${kind}`, title, ...link },
    direction !== 'same' && <span aria-hidden="true">{ARROWS[direction]}</span>,
    direction !== 'same' && <span class="sr-only">{direction} </span>,
    <span class="size">{text}</span>,
    isUnsafe && <span class="sr-only"> (not safe to compare)</span>,
  );
}
