import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { exactMetric, METRIC_NAMES } from '../lib/format.ts';
import { theme } from '../lib/theme.ts';
import type { Metric, Range } from '../lib/types.ts';
import type { ChartData, ExtraLine } from './chart-data.ts';
import { markerPlaces } from './chart-drawing.ts';
import { savePicture, saveTable } from './chart-files.ts';
import { chartOptions, comparedLines, DRAG } from './chart-options.ts';
import { ChartTable, isOneDay, pointName } from './chart-table.tsx';
import { Icon } from './icons.tsx';
import { MarkerSigns, type Sign, signsOf } from './marker-signs.tsx';

interface TimeChartProps extends ChartData {
  /** A sentence for those who do not see it. */
  readonly label: string;
  readonly height?: number;
  /** Shows only these days; without it nothing can be dragged. */
  readonly onZoom?: (range: Range) => void;
  /** What markers that are no notes stand for. */
  readonly eventName?: string;
}

/** The least height of a chart in wide windows, in pixels. */
export const WIDE_HEIGHT = 460;

/** The height of a chart in pixels: wide windows have room for more. */
export function usualHeight(): number {
  return innerWidth >= 1700 ? Math.min(740, Math.max(WIDE_HEIGHT, innerHeight - 560)) : 280;
}

/** What hatched points mean. */
const MARKS = { partial: 'Incomplete', provisional: 'May still change' } as const;

/** A line over days, with another range dashed; the same as a table behind a button. */
export function TimeChart(props: TimeChartProps) {
  const [isTable, setTable] = useState(false);
  const figure = useRef<HTMLElement>(null);
  const { points, compared, levels = [], band, extra = [] } = props;
  const markers = (props.markers ?? []).filter((marker) => markerPlaces(points, marker) !== undefined);
  const marks = new Set(points.map(({ mark, value }) => (value === null ? undefined : mark)));
  const name = `${props.metric}-${points[0]?.date ?? ''}-${points.at(-1)?.to ?? points.at(-1)?.date ?? ''}`;
  const hatched = (['provisional', 'partial'] as const).filter((mark) => marks.has(mark));
  return (
    <figure class="chart" ref={figure}>
      {isTable ? <ChartTable {...props} /> : <Canvas {...props} />}
      <figcaption>
        <span class="key key-line" dir="auto">
          {props.lineName ?? METRIC_NAMES[props.metric]}
        </span>
        {extra.map((line, index) => (
          <span key={line.name} class={`key key-series series-${index + 1}`} dir="auto">
            {line.name}
          </span>
        ))}
        {band && <span class="key key-band">{band.name}</span>}
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
        {markers.some(({ kind }) => kind === 'ranking') && <span class="key key-ranking">Ranking update</span>}
        {markers.some(({ kind }) => kind === 'alert') && <span class="key key-alert">Alert</span>}
        <span class="chart-files">
          {!isTable && (
            <button type="button" class="link-button" onClick={() => savePicture(figure.current!, name)}>
              <Icon name="download" size={14} /> PNG
            </button>
          )}
          <button type="button" class="link-button" onClick={() => saveTable(props, name)}>
            <Icon name="download" size={14} /> CSV
          </button>
        </span>
        <button type="button" class="link-button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          <Icon name={isTable ? 'overview' : 'table'} size={14} /> {isTable ? 'Chart' : 'Table'}
        </button>
      </figcaption>
    </figure>
  );
}

function Canvas(props: TimeChartProps) {
  const { label, height = usualHeight(), points, compared, extra = NO_LINES } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const drawnMarkers = useRef(props.markers);
  drawnMarkers.current = props.markers;
  const zoom = useRef(props.onZoom);
  zoom.current = props.onZoom;
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState<{ index: number; left: number } | undefined>();
  const [signs, setSigns] = useState<readonly Sign[]>([]);

  useLayoutEffect(() => {
    // In the first frame, which an observer misses.
    setWidth(Math.floor(place.current!.clientWidth));
    const resized = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    resized.observe(place.current!);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return;
    const onCursor = ({ cursor: { idx, left = -1 }, over }: uPlot): void => {
      setAt(idx === null || idx === undefined || left < 0 ? undefined : { index: idx, left: left + over.offsetLeft });
    };
    const onSelect =
      zoom.current === undefined
        ? undefined
        : (first: number, last: number) =>
            zoom.current?.({ from: points[first]!.date, to: points[last]!.to ?? points[last]!.date });
    const places = points.map((_, index) => index);
    const lines = [compared ?? [], points].map((line) => places.map((index) => line[index]?.value ?? null));
    const further = [...extra, ...comparedLines(extra)].map(({ values }) =>
      places.map((index) => values[index] ?? null),
    );
    const drawn = new uPlot(
      chartOptions(props, { width, height, onCursor, onSelect, markers: () => drawnMarkers.current ?? [] }),
      [places, ...lines, ...further] as uPlot.AlignedData,
      place.current!,
    );
    chart.current = drawn;
    place.current!.dataset['scheme'] = getComputedStyle(document.documentElement).colorScheme;
    // The chart takes its scales in a microtask of its own.
    queueMicrotask(() => {
      if (chart.current === drawn) setSigns(signsOf(drawn, points, drawnMarkers.current ?? []));
    });
    // A finger shows the day; only a mouse, which showed it already, goes there. The end of dragging is no click.
    let pressedAt = 0;
    drawn.over.addEventListener('mousedown', ({ clientX }) => {
      pressedAt = clientX;
    });
    drawn.over.addEventListener('click', (event) => {
      const isTouch = event instanceof PointerEvent && event.pointerType !== 'mouse';
      const { idx } = drawn.cursor;
      if (isTouch || Math.abs(event.clientX - pressedAt) >= DRAG || idx === null || idx === undefined) return;
      showPoint(idx);
    });
    return () => {
      setAt(undefined);
      chart.current = undefined;
      drawn.destroy();
    };
  }, [width, height, theme.value, props.metric, points, compared, props.levels, props.band, extra]);
  // Notes come later than the line.
  useEffect(() => {
    if (chart.current === undefined) return;
    chart.current.redraw(false, false);
    setSigns(signsOf(chart.current, points, props.markers ?? []));
  }, [props.markers]);

  const showPoint = (index: number): void => {
    const { date, to = date } = points[index]!;
    if (points.length > 1) zoom.current?.({ from: date, to });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && at !== undefined) showPoint(at.index);
    const next = nextPlace(event.key, at?.index, points.length);
    if (next === undefined || chart.current === undefined) return;
    event.preventDefault();
    chart.current.setCursor({ left: chart.current.valToPos(next, 'x'), top: 0 });
  };
  const point = at && points[at.index];
  return (
    <div class="chart-place">
      <div
        class="chart-canvas"
        ref={place}
        style={{ height: `${height}px` }}
        role="img"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read the days
        tabIndex={0}
        onKeyDown={onKey}
      >
        {at && <Tip {...props} index={at.index} left={at.left} width={width} />}
      </div>
      <MarkerSigns signs={signs} width={width} />
      <p class="sr-only" role="status">
        {point && at && [mainText(props, at.index), ...extra.map((line) => extraText(line, at.index))].join(', ')}
      </p>
    </div>
  );
}

const NO_LINES: readonly ExtraLine[] = [];

/** The first line at a place. */
function mainText({ metric, points, compared }: ChartData, index: number): string {
  const point = points[index]!;
  const before = compared?.[index];
  const text = lineText(METRIC_NAMES[metric], metric, point.value, before?.value);
  return `${pointName(point)}, ${text}${point.mark ? `, ${MARKS[point.mark].toLowerCase()}` : ''}`;
}

function extraText({ name, metric, values, compared }: ExtraLine, index: number): string {
  return lineText(name, metric, values[index] ?? null, compared && (compared[index] ?? null));
}

/** @param before the value of the compared days; undefined without them */
function lineText(name: string, metric: Metric, now: number | null, before: number | null | undefined): string {
  const text = `${name}: ${exactMetric(metric, now)}`;
  return before === undefined ? text : `${text} (${exactMetric(metric, before)} compared)`;
}

/** The place that a key leads to; undefined for other keys. */
function nextPlace(key: string, from: number | undefined, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined;
  if (from === undefined) return count - 1;
  return Math.min(count - 1, Math.max(0, from + (key === 'ArrowLeft' ? -1 : 1)));
}

/** What there is to say of a day, beside the pointer. */
function Tip({
  metric,
  lineName,
  points,
  compared,
  extra = [],
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
        <strong>{exactMetric(metric, point.value)}</strong> {lineName ?? METRIC_NAMES[metric].toLowerCase()}
      </p>
      {extra.map((line, at) => (
        <p key={line.name} class={`tip-line series-${at + 1}`} dir="auto">
          {extraText(line, index)}
        </p>
      ))}
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
