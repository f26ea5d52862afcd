import { liesBeside, pairingOf } from '../../../domain/compared-days.ts';
import { metricOf } from '../lib/changes.ts';
import { addDays, eachDay } from '../lib/dates.ts';
import type { DailyMetrics, Day, Interval, Metric, Range } from '../lib/types.ts';
import type { ChartPoint } from './chart-data.ts';

interface Series {
  readonly range: Range & { readonly comparison?: Range; readonly provisionalAfter?: Day | null };
  readonly daily: readonly DailyMetrics[];
  /** The compared days by the days that they stand beside, where `daily` has only days with rows. */
  readonly comparison?: readonly DailyMetrics[] | null;
}

/** A point for each day, week or month of the range: those without stored data are gaps. */
export function pointsOf(
  answer: Series | undefined,
  { metric, interval, missing }: { metric: Metric; interval: Interval; missing: ReadonlySet<Day> },
): ChartPoint[] {
  if (answer === undefined) return [];
  const { range, daily } = answer;
  const byDay = new Map(daily.map((day) => [day.date, metricOf(metric, day)]));
  return bucketsOf(range, interval).map(({ from, to }) => ({
    date: from,
    to,
    // A week of which one day is stored has a value.
    value: eachDay({ from, to }).every((day) => missing.has(day)) ? null : (byDay.get(from) ?? null),
    mark: markOf({ from, to }, interval, range.provisionalAfter ?? null),
  }));
}

/**
 * The other range in the same places; a place without such days is undefined. Undefined as a whole without a comparison, and
 * if its days do not lie beside those of this range.
 */
export function comparedPointsOf(
  answer: Series | undefined,
  metric: Metric,
  interval: Interval = 'day',
): (ChartPoint | undefined)[] | undefined {
  const comparison = answer?.range.comparison;
  if (answer === undefined || comparison === undefined) return undefined;
  // Sundays under Mondays would look like a change.
  if (interval === 'day' && !liesBeside(answer.range, comparison)) return undefined;
  // Days that are not stored are zeros in the answer, and gaps in a chart.
  const isStored = ({ unsafe }: DailyMetrics): boolean => unsafe?.[metric]?.includes('missing_days') !== true;
  const beside = answer.daily
    .filter(isStored)
    .flatMap(({ date, comparison: then }) => (then ? [{ ...then, date }] : []));
  const byDay = new Map((answer.comparison ?? beside).map((day) => [day.date, metricOf(metric, day)]));
  const daysOf = pairingOf(answer.range, comparison);
  return bucketsOf(answer.range, interval).map((bucket) => {
    const days = daysOf(bucket);
    if (days.length === 0) return undefined;
    const pieces = days.length > 1 ? { pieces: days } : {};
    return { date: days[0]!.from, to: days.at(-1)!.to, ...pieces, value: byDay.get(bucket.from) ?? null };
  });
}

/** The days of a range as the API sums them: weeks from Monday and months, cut off at its ends. */
function bucketsOf({ from, to }: Range, interval: Interval): Range[] {
  const starts = eachDay({ from, to }).filter((day, index) => index === 0 || isStart(day, interval));
  return starts.map((start, index) => {
    const next = starts[index + 1];
    return { from: start, to: next === undefined ? to : addDays(next, -1) };
  });
}

function isStart(day: Day, interval: Interval): boolean {
  if (interval === 'day') return true;
  return interval === 'week' ? new Date(day).getUTCDay() === 1 : day.endsWith('-01');
}

/** What keeps a point from being compared with its neighbours. */
function markOf({ from, to }: Range, interval: Interval, provisionalAfter: Day | null): ChartPoint['mark'] {
  const isWhole = isStart(from, interval) && isStart(addDays(to, 1), interval);
  if (!isWhole) return 'partial';
  return provisionalAfter !== null && to > provisionalAfter ? 'provisional' : undefined;
}
