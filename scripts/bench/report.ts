import type { Line, Outcome, Target } from './results.ts';

/** The results as tables in Markdown, aligned to be read as they are. */
export function tables({ lines, targets }: Outcome): string {
  const measured = table(
    ['what', 'median ms', 'p95 ms', 'first byte ms', 'kB', 'rate', 'peak MB', 'growth MB', 'compared with (ratio)'],
    lines.map(lineCells),
  );
  if (targets.length === 0) return measured;
  return `${measured}\n\n${table(['target', 'measured', 'wanted', ''], targets.map(targetCells))}`;
}

function lineCells(line: Line): string[] {
  return [
    line.name,
    number(line.median),
    number(line.p95),
    number(line.firstByte),
    number(line.bytes === undefined ? undefined : line.bytes / 1000),
    rate(line),
    number(line.memory?.peak),
    number(line.memory?.growth),
    Object.entries(line.floors)
      .map(([name, value]) => `${name} ${number(value)}${ratio(line, name, value)}`)
      .join('; '),
  ];
}

function rate({ requestsPerSecond, rowsPerSecond, throughput }: Line): string {
  const parts = [
    requestsPerSecond === undefined ? [] : `${number(requestsPerSecond)} requests/s`,
    rowsPerSecond === undefined ? [] : `${number(rowsPerSecond)} rows/s`,
    throughput === undefined ? [] : `${number(throughput)} MB/s`,
  ];
  return parts.flat().join(', ');
}

/** How often the floor fits into what was measured, by the measure that the floor's name tells. */
function ratio(line: Line, name: string, floor: number): string {
  let measured: number | undefined = line.median;
  if (name.endsWith('requests/s')) measured = line.requestsPerSecond;
  else if (name.endsWith('p95')) measured = line.p95;
  else if (name.endsWith('kB')) measured = (line.bytes ?? 0) / 1000;
  return measured === undefined ? '' : ` (${number(measured / floor)})`;
}

function targetCells({ name, value, unit, bound, met }: Target): string[] {
  const wanted = 'most' in bound ? `at most ${bound.most}` : `at least ${bound.least}`;
  const verdict = met === null ? 'not measured' : met ? 'met' : 'missed';
  return [name, value === null ? '' : `${number(value)} ${unit}`, `${wanted} ${unit}`, verdict];
}

/** Three digits that count. */
function number(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
