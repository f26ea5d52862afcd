import { saveFile } from '../lib/save-file.ts';
import type { ChartData } from './chart-data.ts';
import { columnsOf } from './chart-table.tsx';

/** Saves the chart of a figure as a picture, on the colour of the page. */
export function savePicture(figure: HTMLElement, name: string): void {
  const drawn = figure.querySelector('canvas');
  if (drawn === null) return;
  const picture = document.createElement('canvas');
  picture.width = drawn.width;
  picture.height = drawn.height;
  const context = picture.getContext('2d')!;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--surface');
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(drawn, 0, 0);
  picture.toBlob((blob) => {
    if (blob !== null) saveFile(blob, `${name}.png`);
  });
}

/** Saves the points of a chart: numbers as precise as they are known, empty where there is none. */
export function saveTable({ metric, points, compared, extra = [] }: ChartData, name: string): void {
  const columns = columnsOf(extra);
  const more = columns.map((line) => quoted(line.name));
  const heading = ['from', 'to', metric, ...(compared ? ['compared_from', `compared_${metric}`] : []), ...more];
  const rows = points.map(({ date, to = date, value }, index) => {
    const other = compared?.[index];
    return [
      date,
      to,
      value ?? '',
      ...(compared ? [other?.date ?? '', other?.value ?? ''] : []),
      ...columns.map(({ values }) => values[index] ?? ''),
    ];
  });
  const text = [heading, ...rows].map((row) => row.join(',')).join('\r\n');
  saveFile(new Blob([`${text}\r\n`], { type: 'text/csv' }), `${name}.csv`);
}

/** A text that spreadsheets take as one, and as no formula. */
function quoted(text: string): string {
  return `"${text.replace(/^[=+\-@]/, "'$&").replaceAll('"', '""')}"`;
}
