// What comparisons must be, worked out from rows in exact fractions and by nothing of the server.
import type { Row } from '../world.ts';

/** Sums of rows; `sum` is a fraction where a month is spread. */
export interface Sum {
  clicks: bigint;
  impressions: bigint;
  sum: Fraction;
}
type Fraction = readonly [numerator: bigint, denominator: bigint];
export type Metric = 'clicks' | 'impressions' | 'ctr' | 'position';
const METRICS: readonly Metric[] = ['clicks', 'impressions', 'ctr', 'position'];
const DECIMALS: Readonly<Record<Metric, number>> = { clicks: 0, impressions: 0, ctr: 4, position: 1 };

/** The order of reasons in answers. */
const REASONS = [
  'low_base',
  'provisional',
  'missing_days',
  'different_length',
  'cut_off',
  'monthly_spread',
  'different_source',
  'provider_event',
];

export function addUp(rows: readonly Row[]): Sum {
  const total = (name: string): bigint => rows.reduce((sum, row) => sum + BigInt(row[name] as number), 0n);
  return { clicks: total('clicks'), impressions: total('impressions'), sum: [total('sum_position'), 1n] };
}

/** Half away from zero. */
function rounded([numerator, denominator]: Fraction, decimals: number): number {
  const scaled = (numerator < 0n ? -numerator : numerator) * 10n ** BigInt(decimals);
  const units = scaled / denominator + (2n * (scaled % denominator) >= denominator ? 1n : 0n);
  const number = Number(units) / 10 ** decimals;
  return numerator < 0n ? 0 - number : number;
}

function quotientOf({ clicks, impressions, sum: [numerator, denominator] }: Sum, metric: Metric): Fraction | null {
  if (metric === 'clicks') return [clicks, 1n];
  if (metric === 'impressions') return [impressions, 1n];
  if (impressions === 0n) return null;
  if (metric === 'ctr') return [clicks, impressions];
  return [numerator + impressions * denominator, impressions * denominator];
}

export function metricsOf(sum: Sum): Record<Metric, number | null> {
  return fromMetrics((metric) => {
    const value = quotientOf(sum, metric);
    return value && rounded(value, DECIMALS[metric]);
  });
}

/** Sums over each range, and why each metric would be unsafe besides a low base. */
export interface Pair {
  readonly now: Sum;
  readonly base: Sum;
  readonly reasons?: (metric: Metric) => readonly string[];
}

/** What must stand beside metrics. */
export function comparedOf({ now, base: before, reasons = () => [] }: Pair) {
  const unsafe: Partial<Record<Metric, string[]>> = {};
  for (const metric of METRICS) {
    const base = metric === 'clicks' ? before.clicks : before.impressions;
    const isLow = base < 10n || (metric === 'ctr' && before.clicks === 0n);
    const all = new Set([...(isLow ? ['low_base'] : []), ...reasons(metric)]);
    // Averages do not depend on the number of days.
    if (metric === 'ctr' || metric === 'position') all.delete('different_length');
    if (all.size > 0) unsafe[metric] = REASONS.filter((reason) => all.has(reason));
  }
  const change = fromMetrics((metric) => {
    const [a, b] = [quotientOf(now, metric), quotientOf(before, metric)];
    if (a === null || b === null) return { difference: null, ratio: null };
    const difference: Fraction = [a[0] * b[1] - b[0] * a[1], a[1] * b[1]];
    const isSafe = unsafe[metric] === undefined && b[0] > 0n;
    return {
      difference: rounded(difference, DECIMALS[metric]),
      ratio: isSafe ? rounded([difference[0] * b[1], difference[1] * b[0]], 4) : null,
    };
  });
  return { comparison: metricsOf(before), change, unsafe };
}

function fromMetrics<T>(of: (metric: Metric) => T): Record<Metric, T> {
  return Object.fromEntries(METRICS.map((metric) => [metric, of(metric)])) as Record<Metric, T>;
}

const DAY = 86_400_000;

export function eachDay({ from, to }: { from: string; to: string }): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / DAY + 1;
  return Array.from({ length: count }, (_, index) => shift(from, index));
}

export function shift(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);
}
