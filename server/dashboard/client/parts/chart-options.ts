import type uPlot from 'uplot';
import { countDays, formatMonth, formatMonthOfYear, formatShortDay } from '../lib/dates.ts';
import { axisMetric } from '../lib/format.ts';
import { METRICS, type Metric } from '../lib/types.ts';
import type { ChartData, ChartPoint, ExtraLine, Marker } from './chart-data.ts';
import { drawBand, drawLevels, drawMarkers, hatchMarked } from './chart-drawing.ts';

/** Pixels from which on a moved pointer drags. */
export const DRAG = 8;

/** Colours and fonts of the page, which change between light and dark. */
function theme(): Record<'accent' | 'compare' | 'line' | 'text' | 'warn' | 'bad' | 'surface' | 'font', string> {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    accent: read('accent'),
    compare: read('compare'),
    line: read('line'),
    text: read('text-soft'),
    warn: read('warn'),
    bad: read('bad'),
    surface: read('surface'),
    font: `12px ${read('font')}`,
  };
}

/** Colours of further lines, in their order. */
function lineColors(): string[] {
  const style = getComputedStyle(document.documentElement);
  return [1, 2, 3, 4].map((number) => style.getPropertyValue(`--series-${number}`).trim());
}

/** Whether months tell more than days. */
function isLong(points: readonly ChartPoint[]): boolean {
  const [first, last] = [points[0], points.at(-1)];
  return first !== undefined && last !== undefined && countDays({ from: first.date, to: last.date }) > 100;
}

/** Places of the labels below the axis: first days of months in long ranges, else every so many days up to the last. */
function labelPlaces(points: readonly ChartPoint[], width: number): number[] {
  const most = Math.max(2, Math.floor(width / 76));
  const months = points.flatMap(({ date }, index) =>
    date.slice(0, 7) === points[index - 1]?.date.slice(0, 7) ? [] : [index],
  );
  // The first month is labelled only where all of it is there.
  const whole = months.filter((index) => index > 0 || points[0]?.date.endsWith('-01'));
  if (isLong(points)) {
    const step = [1, 2, 3, 6, 12].find((size) => whole.length / size <= most) ?? 12;
    return whole.filter((_, index) => index % step === 0);
  }
  const step = [1, 2, 4, 7, 14, 28].find((size) => points.length / size <= most) ?? 28;
  const last = points.length - 1;
  return points.flatMap((_, index) => ((last - index) % step === 0 ? [index] : []));
}

function labelsAt(points: readonly ChartPoint[], places: readonly number[]): string[] {
  return places.map((place, index) => {
    const date = points[place]?.date;
    if (date === undefined) return '';
    if (!isLong(points)) return formatShortDay(date);
    return index === 0 || date.slice(5, 7) === '01' ? formatMonthOfYear(date) : formatMonth(date);
  });
}

/** 1, 2, 5, 10, 20, 25, 50, … */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 2.5, 5].map((digit) => digit * 10 ** power))
  .flat()
  .filter(Number.isInteger);

interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly onCursor: (chart: uPlot) => void;
  /** Places of the first and last point of a dragged range. */
  readonly onSelect: ((first: number, last: number) => void) | undefined;
  /** Those to draw now. */
  readonly markers: () => readonly Marker[];
}

/** The compared days of further lines, with the place of the line that they belong to. */
export function comparedLines(extra: readonly ExtraLine[]) {
  return extra.flatMap(({ metric, compared }, of) =>
    compared === undefined ? [] : [{ of, metric, values: compared }],
  );
}

/** What uPlot draws a chart by. The places of days are their numbers: all lines share them. */
export function chartOptions(
  { metric, points, levels = [], band, extra = [] }: ChartData,
  { width, height, onCursor, onSelect, markers }: Drawing,
): uPlot.Options {
  const colors = theme();
  const isPosition = metric === 'position';
  const alone = alonePlaces(points);
  const further = lineColors();
  // Lines of the same metric share its axis.
  const others = METRICS.filter((name) => name !== metric && extra.some((line) => line.metric === name));
  const scaleOf = (name: Metric): string => (name === metric ? 'y' : name);
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: onSelect !== undefined, y: false, setScale: false, dist: DRAG },
      points: { size: 7 },
    },
    scales: {
      x: { time: false, range: [0, Math.max(1, points.length - 1)] },
      y: {
        dir: isPosition ? -1 : 1,
        range: (_, least, most) =>
          yRange(isPosition, least, most, [
            ...levels.map(({ value }) => value),
            ...(band?.high ?? []).filter((value) => value !== null),
          ]),
      },
      ...Object.fromEntries(others.map((name) => [name, scaleFor(name)])),
    },
    axes: [
      {
        font: colors.font,
        stroke: colors.text,
        grid: { show: false },
        ticks: { show: false },
        size: 28,
        splits: (chart) => labelPlaces(points, chart.width),
        values: (_, places) => labelsAt(points, places),
      },
      {
        font: colors.font,
        stroke: colors.text,
        grid: { stroke: colors.line, width: 1 },
        ticks: { show: false },
        // There is no half of a click.
        ...(metric === 'clicks' || metric === 'impressions' ? { incrs: WHOLE_STEPS } : {}),
        size: (_, labels) => 18 + 7 * Math.max(2, ...(labels ?? []).map((label) => String(label).length)),
        space: 44,
        values: (_, values) => values.map((value) => axisMetric(metric, value)),
      },
      ...others.slice(0, MAX_AXES).map(
        (name): uPlot.Axis => ({
          scale: name,
          side: 1,
          font: colors.font,
          // An axis has the colour of its line.
          stroke: further[extra.findIndex((line) => line.metric === name)]!,
          grid: { show: false },
          ticks: { show: false },
          ...(name === 'clicks' || name === 'impressions' ? { incrs: WHOLE_STEPS } : {}),
          size: (_, labels) => 18 + 7 * Math.max(2, ...(labels ?? []).map((label) => String(label).length)),
          space: 44,
          values: (_, values) => values.map((value) => axisMetric(name, value)),
        }),
      ),
    ],
    series: [
      {},
      { stroke: colors.compare, width: 1.5, dash: [4, 4], points: { show: false } },
      {
        stroke: colors.accent,
        width: 2,
        // Below several lines, an area would belong to none.
        ...(isPosition || extra.length > 0 ? {} : { fill: `${colors.accent}14` }),
        // Between gaps, a single day has no line.
        points: { show: true, filter: () => alone, size: 6 },
      },
      ...extra.map(
        (line, index): uPlot.Series => ({
          scale: scaleOf(line.metric),
          stroke: further[index]!,
          width: 2,
          points: { show: true, filter: () => aloneValues(line.values), size: 6 },
        }),
      ),
      ...comparedLines(extra).map(
        (line): uPlot.Series => ({
          scale: scaleOf(line.metric),
          stroke: further[line.of]!,
          width: 1.5,
          dash: [4, 4],
          points: { show: false },
        }),
      ),
    ],
    hooks: {
      drawAxes: [
        (chart) => {
          hatchMarked(chart, points, colors.text);
          if (band) drawBand(chart, band, further[0]!);
        },
      ],
      draw: [
        (chart) => {
          drawLevels(chart, levels, colors.warn);
          drawMarkers(chart, points, markers(), colors);
        },
      ],
      setCursor: [onCursor],
      setSelect: [
        (chart) => {
          const { left, width: size } = chart.select;
          if (size === 0) return;
          const at = (x: number): number =>
            Math.min(points.length - 1, Math.max(0, Math.round(chart.posToVal(x, 'x'))));
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          onSelect?.(at(left), at(left + size));
        },
      ],
    },
  };
}

/** Axes besides that of the main line; the lines of further metrics have their own scales all the same. */
const MAX_AXES = 2;

function scaleFor(metric: Metric): uPlot.Scale {
  const isPosition = metric === 'position';
  return { dir: isPosition ? -1 : 1, range: (_, least, most) => yRange(isPosition, least, most, []) };
}

/** The places of points whose neighbours have no value. */
function alonePlaces(points: readonly ChartPoint[]): number[] {
  return aloneValues(points.map(({ value }) => value));
}

function aloneValues(values: readonly (number | null)[]): number[] {
  const has = (index: number): boolean => (values[index] ?? null) !== null;
  return values.flatMap((_, index) => (has(index) && !has(index - 1) && !has(index + 1) ? [index] : []));
}

function yRange(
  isPosition: boolean,
  least: number | null,
  most: number | null,
  levels: readonly number[],
): [number, number] {
  const values = [...levels, ...(least === null || most === null ? [] : [least, most])];
  if (values.length === 0) return isPosition ? [1, 10] : [0, 10];
  const top = Math.max(...values);
  if (!isPosition) return [0, top === 0 ? 10 : top * 1.08];
  const bottom = Math.min(...values);
  const margin = Math.max(0.5, (top - bottom) * 0.12);
  return [Math.max(0.8, bottom - margin), top + margin];
}
