import type { MetricName } from './comparison.ts';
import type { Measures } from './metrics.ts';

/** How a row changed between two ranges: better, worse, only in this range, or only in the other. */
export const CHANGE_KINDS = ['up', 'down', 'new', 'gone'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** How a row changed; undefined where the metric is the same, or neither range has impressions. */
export function changeKindOf(metric: MetricName, now: Measures, base: Measures): ChangeKind | undefined {
  if (now.impressions === 0) return base.impressions === 0 ? undefined : 'gone';
  if (base.impressions === 0) return 'new';
  const gain = gainOf(metric, now, base);
  return gain === 0 ? undefined : gain > 0 ? 'up' : 'down';
}

/** By how much a metric became better. A row without impressions in one range counts with what it has in the other. */
export function gainOf(metric: MetricName, now: Measures, base: Measures): number {
  if (metric === 'clicks' || metric === 'impressions') return now[metric] - base[metric];
  if (now.impressions === 0) return -base.impressions;
  if (base.impressions === 0) return now.impressions;
  const ratioOf = (measures: Measures): number =>
    (metric === 'ctr' ? measures.clicks : -measures.sumPosition) / measures.impressions;
  return ratioOf(now) - ratioOf(base);
}
