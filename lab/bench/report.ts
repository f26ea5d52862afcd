import type { Line, Outcome, Target } from './results.ts';

/** The results as aligned Markdown tables. */
export function tables({ lines, targets }: Outcome): string {
  const measured = table(
    ['what', 'median ms', 'p95 ms', 'first byte ms', 'kB', 'rate', 'peak MB', 'growth MB', 'compared with (ratio)'],
    lines.map(lineCells),
  );
  if (targets.length === 0) return measured;
  return `${measured}\n\n${table(['target', 'measured', 'required', ''], targets.map(targetCells))}`;
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
    Object.entries(line.baselines)
      .map(([name, value]) => `${name} ${number(value)}${ratio(line, name, value)}`)
      .join('; '),
  ];
}

function rate({ requestsPerSecond, rowsPerSecond, throughput, processor }: Line): string {
  const parts = [
    requestsPerSecond === undefined ? [] : `${number(requestsPerSecond)} requests/s`,
    rowsPerSecond === undefined ? [] : `${number(rowsPerSecond)} rows/s`,
    throughput === undefined ? [] : `${number(throughput)} MB/s`,
    processor === undefined
      ? []
      : `${number(processor.servers)} ms of processors and ${number(processor.stores)} of the stores each`,
  ];
  return parts.flat().join(', ');
}

/** The measured value divided by the baseline. The end of the baseline's name says which value to compare. */
function ratio(line: Line, name: string, baseline: number): string {
  let measured: number | undefined = line.median;
  if (name.endsWith('requests/s')) measured = line.requestsPerSecond;
  else if (name.endsWith('p95')) measured = line.p95;
  else if (name.endsWith('kB')) measured = (line.bytes ?? 0) / 1000;
  return measured === undefined ? '' : ` (${number(measured / baseline)})`;
}

function targetCells({ name, value, unit, bound, met }: Target): string[] {
  const required = 'max' in bound ? `at most ${bound.max}` : `at least ${bound.min}`;
  const verdict = met === null ? 'not measured' : met ? 'met' : 'missed';
  return [name, value === null ? '' : `${number(value)} ${unit}`, `${required} ${unit}`, verdict];
}

/** Rounded to three significant digits; integers from 100 up. */
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
