import { exactMetric, formatMetric, formatPercent, formatPoints, formatTimes, METRIC_NAMES } from './format.ts';
import { type Compared, METRICS, type Metric } from './types.ts';

export interface ChangeText {
  readonly text: string;
  readonly exact: string;
  readonly direction: 'up' | 'down' | 'same';
  /** Whether it is for the better; null where it is neither. */
  readonly isGood: boolean | null;
}

/**
 * How a metric changed, by the API's own numbers: positions by places, where fewer are better; the others by percent,
 * or by their difference where a percentage would mislead. Undefined without a comparison.
 */
export function describeChange(metric: Metric, { comparison, change }: Compared): ChangeText | undefined {
  if (!comparison || !change) return undefined;
  const { difference, ratio } = change[metric] ?? { difference: null, ratio: null };
  if (difference === null) {
    return { text: formatMetric(metric, null), exact: 'Nothing to compare with', direction: 'same', isGood: null };
  }
  const exact = `${exactMetric(metric, comparison[metric])} before`;
  const direction = difference === 0 ? 'same' : difference > 0 ? 'up' : 'down';
  // Smaller positions are better.
  const isGood = difference === 0 ? null : difference > 0 !== (metric === 'position');
  return { text: changeText(metric, Math.abs(difference), ratio), exact, direction, isGood };
}

function changeText(metric: Metric, size: number, ratio: number | null): string {
  if (metric === 'position') return formatMetric(metric, size);
  if (ratio !== null) return ratio >= 10 ? formatTimes(ratio + 1) : formatPercent(Math.abs(ratio));
  // The difference of two percentages is in points.
  return metric === 'ctr' ? formatPoints(size) : formatMetric(metric, size);
}

/** The comparison of a keyword, whose metrics the API has one level below. */
export function comparedOf({ comparison, change, unsafe }: Compared): Compared {
  return comparison && change && unsafe ? { comparison, change, unsafe } : {};
}

const REASONS: Readonly<Record<string, string>> = {
  low_base: 'the compared days have fewer than 10 clicks or impressions',
  provisional: 'the newest days may still change',
  missing_days: 'days of the compared range are not stored',
  different_length: 'one of the two ranges has more days',
  cut_off: 'the search engine left out rows on some days',
  monthly_spread: 'older days are stored as months and count with an even share',
  different_source: 'the two ranges come from different sources',
  provider_event: 'the search engine changed how it counts',
};

/** Why a percentage would mislead, in words. */
export function describeReasons(reasons: readonly string[]): string {
  return reasons.map((reason) => REASONS[reason] ?? reason).join('; ');
}

/**
 * The same for all metrics: each reason once, with the metrics that it concerns where these are not all.
 * @param known what is known of a reason beyond its name
 */
export function describeUnsafe({ unsafe = {} }: Compared, known: Readonly<Record<string, string>>): string[] {
  const reasons = new Set(METRICS.flatMap((metric) => unsafe[metric] ?? []));
  return [...reasons].map((reason) => {
    const about = METRICS.filter((metric) => unsafe[metric]?.includes(reason));
    const names = about.map((metric) => (metric === 'ctr' ? 'CTR' : METRIC_NAMES[metric].toLowerCase()));
    const text = known[reason] ?? describeReasons([reason]);
    return about.length === METRICS.length ? text : `${text} (${names.join(', ')})`;
  });
}
