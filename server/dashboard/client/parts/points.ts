import { eachDay } from '../lib/dates.ts';
import type { DailyMetrics, Metric, Range, SiteAnswer } from '../lib/types.ts';
import type { ChartPoint } from './chart-options.ts';

/** A point for each day of the range: those without stored data are gaps. */
export function pointsOf(
  answer: { readonly range: Range; readonly daily: readonly DailyMetrics[] } | undefined,
  metric: Metric,
): ChartPoint[] {
  if (answer === undefined) return [];
  const byDay = new Map(answer.daily.map((day) => [day.date, day[metric]]));
  return eachDay(answer.range).map((date) => ({ date, value: byDay.get(date) ?? null }));
}

/** The reason not to rely on changes where fewer days of the compared range are stored. */
export function missingDays(now: SiteAnswer | undefined, then: SiteAnswer | undefined): string[] {
  return now !== undefined && then !== undefined && then.daily.length < now.daily.length ? ['missing_days'] : [];
}
