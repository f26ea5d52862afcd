import type uPlot from 'uplot';
import type { Band, ChartPoint, Level, Marker } from './chart-data.ts';

/** Hatches the points that must not be compared with their neighbours. */
export function hatchMarked(chart: uPlot, points: readonly ChartPoint[], color: string): void {
  const { ctx, bbox } = chart;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.beginPath();
  for (const [index, { mark, value }] of points.entries()) {
    if (mark === undefined || value === null) continue;
    const from = Math.max(bbox.left, chart.valToPos(index - 0.5, 'x', true));
    const to = Math.min(right, chart.valToPos(index + 0.5, 'x', true));
    ctx.rect(from, bbox.top, to - from, bbox.height);
  }
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.globalAlpha = 0.28;
  ctx.lineWidth = devicePixelRatio;
  const step = 7 * devicePixelRatio;
  ctx.beginPath();
  for (let x = bbox.left - bbox.height; x < right; x += step) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

/** Shades a range of values, behind the lines. */
export function drawBand(chart: uPlot, { low, high }: Band, color: string): void {
  const { ctx } = chart;
  const edge = (values: readonly (number | null)[]) =>
    values.flatMap((value, index) =>
      value === null ? [] : [[chart.valToPos(index, 'x', true), chart.valToPos(value, 'y', true)] as const],
    );
  ctx.save();
  ctx.fillStyle = color;
  ctx.globalAlpha = 0.22;
  ctx.beginPath();
  for (const [x, y] of [...edge(high), ...edge(low).toReversed()]) ctx.lineTo(x, y);
  ctx.fill();
  ctx.restore();
}

export function drawLevels(chart: uPlot, levels: readonly Level[], color: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const [index, { value }] of levels.entries()) {
    const y = chart.valToPos(value, 'y', true);
    ctx.setLineDash(index === 0 ? [] : [3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}

const MARKER_COLORS = { note: 'accent', event: 'warn', alert: 'bad', ranking: 'compare' } as const;

/** Where markers stand: the places of their first and last day in the chart; none where it has neither. */
export function markerPlaces(points: readonly ChartPoint[], { from, to }: Marker): [number, number] | undefined {
  const first = points.findIndex(({ date, to: end = date }) => end >= from);
  const last = points.findLastIndex(({ date }) => date <= to);
  return first < 0 || last < first ? undefined : [first, last];
}

/** A sign for each note, change by the provider, ranking update and alert, at the lower edge, with a line for its days. */
export function drawMarkers(
  chart: uPlot,
  points: readonly ChartPoint[],
  markers: readonly Marker[],
  colors: Readonly<Record<'accent' | 'compare' | 'warn' | 'bad' | 'surface', string>>,
): void {
  const { ctx, bbox } = chart;
  ctx.save();
  const bottom = bbox.top + bbox.height;
  const size = 4 * devicePixelRatio;
  for (const marker of markers) {
    const places = markerPlaces(points, marker);
    if (places === undefined) continue;
    const [left, right] = places.map((place) => chart.valToPos(place, 'x', true)) as [number, number];
    ctx.fillStyle = colors[MARKER_COLORS[marker.kind]];
    if (right > left) {
      ctx.globalAlpha = 0.35;
      ctx.fillRect(left, bottom - size / 2, right - left, size / 2);
      ctx.globalAlpha = 1;
    }
    ctx.beginPath();
    if (marker.kind === 'note') ctx.arc(left, bottom - size, size, 0, 2 * Math.PI);
    else if (marker.kind === 'ranking') ctx.rect(left - size, bottom - 2 * size, 2 * size, 2 * size);
    else if (marker.kind === 'alert') {
      ctx.moveTo(left, bottom - 2 * size);
      ctx.lineTo(left + size, bottom - size);
      ctx.lineTo(left, bottom);
      ctx.lineTo(left - size, bottom - size);
    } else {
      ctx.moveTo(left, bottom - 2 * size);
      ctx.lineTo(left + size, bottom);
      ctx.lineTo(left - size, bottom);
    }
    ctx.fill();
    ctx.strokeStyle = colors.surface;
    ctx.lineWidth = devicePixelRatio;
    ctx.stroke();
  }
  ctx.restore();
}
