import { useMemo } from 'preact/hooks';
import { metricOf } from '../lib/changes.ts';
import { METRIC_NAMES } from '../lib/format.ts';
import { type Dimension, isTime, type QuestionAnswer, type QuestionRow, type Time } from '../lib/question.ts';
import type { DailyMetrics, Metric, MetricValues } from '../lib/types.ts';
import type { ExtraLine } from './chart-data.ts';
import { comparedPointsOf, pointsOf } from './points.ts';
import { TimeChart } from './time-chart.tsx';

interface Props {
  readonly answer: QuestionAnswer;
  readonly dimensions: readonly Dimension[];
  readonly metric: Metric;
  /** What rows are about besides days. */
  readonly nameOf: (row: QuestionRow) => string;
}

/** Lines that fit into one chart. */
const LINES = 5;
const NO_DAYS: ReadonlySet<string> = new Set();

/** The rows over time: one line, or those of the rows with most clicks. Nothing where there are no days or not all rows. */
export function QuestionChart({ answer, dimensions, metric, nameOf }: Props) {
  const time = dimensions.find(isTime);
  const drawn = useMemo(
    () => time && linesOf(answer, time, dimensions, metric, nameOf),
    [answer, metric, dimensions.join()],
  );
  if (drawn === undefined) return null;
  if (answer.rows.length < answer.paging.total) {
    return <p class="muted hint">Too many rows for lines over time: show more rows, or filter them.</p>;
  }
  if (drawn.points.length === 0) return null;
  return (
    <section class="card performance performance-chart">
      <TimeChart
        label={`${METRIC_NAMES[metric]} over time. The table below has the same numbers.`}
        metric={metric}
        {...drawn}
      />
    </section>
  );
}

function linesOf(
  answer: QuestionAnswer,
  time: Time,
  dimensions: readonly Dimension[],
  metric: Metric,
  nameOf: Props['nameOf'],
) {
  const interval = time === 'date' ? 'day' : time;
  const series = (rows: readonly QuestionRow[]) => ({
    range: answer.range,
    daily: rows.map((row) => ({ ...row, date: row[time] }) as unknown as DailyMetrics),
  });
  const pointsFor = (rows: readonly QuestionRow[]) => {
    const points = pointsOf(series(rows), { metric, interval, missing: NO_DAYS });
    // Rows without clicks and impressions are left out of answers. Only of the property it is not known whether days are stored.
    const isCount = metric === 'clicks' || metric === 'impressions';
    if (!isCount || answer.grain === 'site_daily') return points;
    return points.map((point) => ({ ...point, value: point.value ?? 0 }));
  };
  if (dimensions.length === 1) {
    const points = pointsFor(answer.rows);
    return { points, compared: comparedPointsOf(series(answer.rows), metric, interval) };
  }
  const byName = new Map<string, QuestionRow[]>();
  for (const row of answer.rows) {
    const name = nameOf(row);
    byName.set(name, [...(byName.get(name) ?? []), row]);
  }
  const size = (rows: readonly QuestionRow[]): number =>
    rows.reduce((sum, row) => sum + (row.clicks ?? row.impressions ?? metricOf(metric, row as MetricValues) ?? 0), 0);
  const [first, ...others] = [...byName].sort(([, a], [, b]) => size(b) - size(a)).slice(0, LINES);
  const points = pointsFor(first?.[1] ?? []);
  const extra = others.map(
    ([name, rows]): ExtraLine => ({ name, metric, values: pointsFor(rows).map(({ value }) => value) }),
  );
  return { points: first === undefined ? [] : points, extra, lineName: first?.[0] ?? '' };
}
