import { formatDay, formatRange } from '../lib/dates.ts';
import { exactMetric, formatMetric, METRIC_NAMES } from '../lib/format.ts';
import type { Metric, Range } from '../lib/types.ts';
import type { ChartData, ChartPoint, ExtraLine } from './chart-data.ts';
import { NumberHeading } from './numbers.tsx';

interface ChartTableProps extends ChartData {
  readonly label: string;
  /** Shows only these days. */
  readonly onZoom?: (range: Range) => void;
}

/** Expected clicks are shown with their decimals, as the answer has them. */
function lineText(metric: Metric, value: number | null | undefined): string {
  const isFraction = (metric === 'clicks' || metric === 'impressions') && value && !Number.isInteger(value);
  return isFraction ? exactMetric(metric, value) : formatMetric(metric, value);
}

/** Whether a point is of a single day. */
export function isOneDay({ date, to = date }: ChartPoint): boolean {
  return to === date;
}

/** The days of a point. */
export function pointName({ date, to = date, pieces = [{ from: date, to }] }: ChartPoint): string {
  return pieces.map((days) => (days.from === days.to ? formatDay(days.from) : formatRange(days))).join(', ');
}

/** Further lines as columns, each followed by that of its compared days. */
export function columnsOf(extra: readonly ExtraLine[]): readonly Omit<ExtraLine, 'compared'>[] {
  return extra.flatMap(({ name, metric, values, compared }) => [
    { name, metric, values },
    ...(compared === undefined ? [] : [{ name: `${name}, compared`, metric, values: compared }]),
  ]);
}

/** The points of a chart as rows. */
export function ChartTable({
  metric,
  lineName,
  points,
  compared,
  extra = [],
  label,
  markers = [],
  onZoom,
}: ChartTableProps) {
  const columns = columnsOf(extra);
  return (
    <div class="chart-table">
      <table>
        <caption class="sr-only">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{points.every(isOneDay) ? 'Day' : 'Days'}</th>
            <NumberHeading>{lineName ?? METRIC_NAMES[metric]}</NumberHeading>
            {compared && <NumberHeading>Compared day</NumberHeading>}
            {columns.map(({ name }) => (
              <th key={name} scope="col" class="number" dir="auto">
                {name}
              </th>
            ))}
            {markers.length > 0 && <th scope="col">Notes</th>}
          </tr>
        </thead>
        <tbody>
          {points.map((point, index) => (
            <tr key={point.date}>
              <td>
                {onZoom === undefined || points.length === 1 ? (
                  pointName(point)
                ) : (
                  <button
                    type="button"
                    class="link-button"
                    onClick={() => onZoom({ from: point.date, to: point.to ?? point.date })}
                  >
                    {pointName(point)}
                  </button>
                )}
              </td>
              <td class="number">{formatMetric(metric, point.value)}</td>
              {compared && <td class="number">{formatMetric(metric, compared[index]?.value)}</td>}
              {columns.map((line) => (
                <td key={line.name} class="number">
                  {lineText(line.metric, line.values[index])}
                </td>
              ))}
              {markers.length > 0 && (
                <td>
                  {markers
                    .filter(({ from }) => from >= point.date && from <= (point.to ?? point.date))
                    .map(({ text }) => text)
                    .join('; ')}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
