import { describeReasons, hasNothingToCompare } from '../../../domain/unsafe-texts.ts';
import {
  exactMetric,
  formatMetric,
  formatPercent,
  formatPoints,
  formatTimes,
  METRIC_NAMES,
  nameInSentence,
  shownMetric,
} from './format.ts';
import { type Compared, type Keyword, METRICS, type Metric, type MetricValues } from './types.ts';

export interface ChangeText {
  readonly text: string;
  readonly exact: string;
  readonly direction: 'up' | 'down' | 'same';
  /** Whether it is for the better; null where it is neither. */
  readonly isGood: boolean | null;
}

/** A metric as exactly as it is known: ratios of the API are rounded, the counts are not. */
export function metricOf(metric: Metric, row: MetricValues): number | null {
  const { clicks, impressions } = row;
  return metric === 'ctr' && clicks !== null && impressions ? clicks / impressions : row[metric];
}

/**
 * How a metric changed: clicks and impressions by percent, or by their difference where a percentage would mislead; the
 * CTR by points and positions by places, as the difference of the numbers shown. Undefined without a comparison.
 */
export function describeChange(metric: Metric, row: MetricValues & Compared): ChangeText | undefined {
  const { comparison, change } = row;
  if (!comparison || !change) return undefined;
  const none = (exact: string): ChangeText => ({
    text: formatMetric(metric, null),
    exact,
    direction: 'same',
    isGood: null,
  });
  if (hasNothingToCompare(row)) return none('No data to compare with');
  const { difference: exactly, ratio } = change[metric] ?? { difference: null, ratio: null };
  if (exactly === null) return none('Nothing to compare with');
  const before = metricOf(metric, comparison);
  const isCount = metric === 'clicks' || metric === 'impressions';
  const difference = isCount ? exactly : shownMetric(metric, metricOf(metric, row)) - shownMetric(metric, before);
  const size = Math.abs(difference);
  const isSame = isCount ? size === 0 : size < SMALLEST;
  const direction = isSame ? 'same' : difference > 0 ? 'up' : 'down';
  // Smaller positions are better.
  const isGood = isSame ? null : difference > 0 !== (metric === 'position');
  const exact = `${exactMetric(metric, before)} before`;
  // The ratio of the API is rounded already, so a percentage is made of the counts.
  const text = isCount ? countText(difference, ratio === null ? null : before, metric) : ratioText(metric, size);
  return { text, exact, direction, isGood };
}

/** Differences of rounded numbers have an error of this size. */
const SMALLEST = 1e-9;

/** @param before null where a percentage would mislead */
function countText(difference: number, before: number | null, metric: Metric): string {
  if (before === null || before === 0) return formatMetric(metric, Math.abs(difference));
  const ratio = difference / before;
  return ratio >= 10 ? formatTimes((before + difference) / before) : formatPercent(Math.abs(ratio));
}

/** The difference of two percentages is in points. */
function ratioText(metric: Metric, size: number): string {
  return metric === 'ctr' ? formatPoints(size) : formatMetric(metric, size);
}

/** The comparison of a keyword, whose metrics the API has one level below; none of what is unknown. */
export function comparedOf({
  comparison,
  change,
  unsafe,
}: Pick<Keyword, 'comparison' | 'change' | 'unsafe'>): Compared {
  return comparison && change && unsafe ? { comparison, change, unsafe } : {};
}

/**
 * Why percentages would mislead: each reason once, with the metrics that it concerns where these are not all.
 * @param known what is known of a reason beyond its name
 */
export function describeUnsafe({ unsafe = {} }: Compared, known: Readonly<Record<string, string>>): string[] {
  const reasons = new Set(METRICS.flatMap((metric) => unsafe[metric] ?? []));
  return [...reasons].map((reason) => {
    const about = METRICS.filter((metric) => unsafe[metric]?.includes(reason));
    const names = about.map((metric) => nameInSentence(METRIC_NAMES[metric]));
    const text = known[reason] ?? describeReasons([reason]);
    return about.length === METRICS.length ? text : `${text} (${names.join(', ')})`;
  });
}
