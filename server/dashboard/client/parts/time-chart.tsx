import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { formatDay, formatRange } from '../lib/dates.ts';
import { exactMetric, formatMetric, METRIC_NAMES } from '../lib/format.ts';
import { type ChartData, type ChartPoint, chartOptions, markerPlaces } from './chart-options.ts';
import { Icon } from './icons.tsx';

interface TimeChartProps extends ChartData {
  /** A sentence for those who do not see it. */
  readonly label: string;
  readonly height?: number;
  /** What markers that are no notes stand for. */
  readonly eventName?: string;
}

/** What hatched points mean. */
const MARKS = { partial: 'Incomplete', provisional: 'May still change' } as const;

const dark = matchMedia('(prefers-color-scheme: dark)');

/** A line over days, with another range dashed; the same as a table behind a button. */
export function TimeChart(props: TimeChartProps) {
  const [isTable, setTable] = useState(false);
  const { points, compared, markers = [], levels = [] } = props;
  const marks = new Set(points.map(({ mark, value }) => (value === null ? undefined : mark)));
  const hatched = (['provisional', 'partial'] as const).filter((mark) => marks.has(mark));
  return (
    <figure class="chart">
      {isTable ? <ChartTable {...props} /> : <Canvas {...props} />}
      <figcaption>
        <span class="key key-line">{METRIC_NAMES[props.metric]}</span>
        {compared && <span class="key key-dashed">Compared days</span>}
        {hatched.length > 0 && <span class="key key-hatched">{hatched.map((mark) => MARKS[mark]).join(' / ')}</span>}
        {levels.map(({ name }, index) => (
          <span key={name} class={`key ${index === 0 ? 'key-level' : 'key-level-dashed'}`}>
            {name}
          </span>
        ))}
        {markers.some(({ kind }) => kind === 'note') && <span class="key key-note">Note</span>}
        {markers.some(({ kind }) => kind === 'event') && (
          <span class="key key-event">{props.eventName ?? 'Change by the search engine'}</span>
        )}
        <button type="button" class="link-button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          <Icon name={isTable ? 'overview' : 'table'} size={14} /> {isTable ? 'Chart' : 'Table'}
        </button>
      </figcaption>
    </figure>
  );
}

function Canvas(props: TimeChartProps) {
  const { label, height = 280, points, compared } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const drawnMarkers = useRef(props.markers);
  drawnMarkers.current = props.markers;
  const [width, setWidth] = useState(0);
  const [isDark, setDark] = useState(dark.matches);
  const [at, setAt] = useState<{ index: number; left: number } | undefined>();

  useLayoutEffect(() => {
    // In the first frame, which an observer misses.
    setWidth(Math.floor(place.current!.clientWidth));
    const resized = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    resized.observe(place.current!);
    const changed = (): void => setDark(dark.matches);
    dark.addEventListener('change', changed);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', changed);
    };
  }, []);
  useEffect(() => {
    if (width === 0) return;
    const onCursor = ({ cursor: { idx, left = -1 }, over }: uPlot): void => {
      setAt(idx === null || idx === undefined || left < 0 ? undefined : { index: idx, left: left + over.offsetLeft });
    };
    const places = points.map((_, index) => index);
    const lines = [compared ?? [], points].map((line) => places.map((index) => line[index]?.value ?? null));
    const drawn = new uPlot(
      chartOptions(props, { width, height, onCursor, markers: () => drawnMarkers.current ?? [] }),
      [places, ...lines] as uPlot.AlignedData,
      place.current!,
    );
    chart.current = drawn;
    return () => {
      setAt(undefined);
      drawn.destroy();
    };
  }, [width, height, isDark, props.metric, points, compared, props.levels]);
  // Notes come later than the line.
  useEffect(() => chart.current?.redraw(false, false), [props.markers]);

  return (
    <div class="chart-canvas" ref={place} style={{ height: `${height}px` }} role="img" aria-label={label}>
      {at && <Tip {...props} index={at.index} left={at.left} width={width} />}
    </div>
  );
}

/** What there is to say of a day, beside the pointer. */
function Tip({
  metric,
  points,
  compared,
  markers = [],
  index,
  left,
  width,
}: TimeChartProps & { index: number; left: number; width: number }) {
  const point = points[index];
  if (point === undefined) return null;
  const before = compared?.[index];
  const about = markers.filter((marker) => {
    const [first, last] = markerPlaces(points, marker) ?? [1, 0];
    return index >= first && index <= last;
  });
  const isLeft = left > width / 2;
  return (
    <div class="tip" style={isLeft ? { right: `${width - left + 14}px` } : { left: `${left + 14}px` }}>
      <p>{pointName(point)}</p>
      <p class="tip-value">
        <strong>{exactMetric(metric, point.value)}</strong> {METRIC_NAMES[metric].toLowerCase()}
      </p>
      {before && (
        <p class="muted">
          {exactMetric(metric, before.value)}
          {isOneDay(before) ? ' on ' : ' in '}
          {pointName(before)}
        </p>
      )}
      {point.mark && <p class="muted">{MARKS[point.mark]}</p>}
      {about.slice(0, 3).map(({ text, kind }) => (
        <p key={text} class={`tip-${kind}`}>
          {text}
        </p>
      ))}
    </div>
  );
}

function isOneDay({ date, to = date }: ChartPoint): boolean {
  return to === date;
}

function pointName(point: ChartPoint): string {
  return isOneDay(point) ? formatDay(point.date) : formatRange({ from: point.date, to: point.to! });
}

function ChartTable({ metric, points, compared, label, markers = [] }: TimeChartProps) {
  return (
    <div class="chart-table">
      <table>
        <caption class="sr-only">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{points.every(isOneDay) ? 'Day' : 'Days'}</th>
            <th scope="col" class="number">
              {METRIC_NAMES[metric]}
            </th>
            {compared && (
              <th scope="col" class="number">
                Compared day
              </th>
            )}
            {markers.length > 0 && <th scope="col">Notes</th>}
          </tr>
        </thead>
        <tbody>
          {points.map((point, index) => (
            <tr key={point.date}>
              <td>{pointName(point)}</td>
              <td class="number">{formatMetric(metric, point.value)}</td>
              {compared && <td class="number">{formatMetric(metric, compared[index]?.value)}</td>}
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
