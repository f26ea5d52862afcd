import type { ChartData } from './chart-data.ts';

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
    if (blob !== null) save(blob, `${name}.png`);
  });
}

/** Saves the points of a chart: numbers as precise as they are known, empty where there is none. */
export function saveTable({ metric, points, compared }: ChartData, name: string): void {
  const heading = ['from', 'to', metric, ...(compared ? ['compared_from', `compared_${metric}`] : [])];
  const rows = points.map(({ date, to = date, value }, index) => {
    const other = compared?.[index];
    return [date, to, value ?? '', ...(compared ? [other?.date ?? '', other?.value ?? ''] : [])];
  });
  const text = [heading, ...rows].map((row) => row.join(',')).join('\r\n');
  save(new Blob([`${text}\r\n`], { type: 'text/csv' }), `${name}.csv`);
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The download has begun by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
