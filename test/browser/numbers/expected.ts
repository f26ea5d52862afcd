// How the page should write numbers of the API, computed without its code.

// biome-ignore lint/suspicious/noExplicitAny: answers are picked from
export type Answer = any;

export const METRICS = ['clicks', 'impressions', 'ctr', 'position'] as const;
export type Metric = (typeof METRICS)[number];

const whole = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

export const count = (value: number): string => whole.format(value);

/** In tenths of what is shown: of percent, or of places. Halves are rounded up. */
function tenths(metric: 'ctr' | 'position', { clicks, impressions, position }: Answer): number | null {
  if (metric === 'position') return position === null ? null : Math.round(10 * position);
  return impressions ? Math.floor((2000 * clicks + impressions) / (2 * impressions)) : null;
}

/** The number of a metric in a cell: `1,234`, `123.5K`, `4.5%`, `12.3`; `–` for none. */
export function shownOf(metric: Metric, row: Answer): string {
  if (row === null || row === undefined) return '–';
  if (metric === 'clicks' || metric === 'impressions') {
    const value = row[metric];
    if (value === null) return '–';
    return value >= 100_000 ? compact.format(value) : whole.format(Math.round(value));
  }
  const size = tenths(metric, row);
  if (size === null) return '–';
  return metric === 'ctr' ? `${(size / 10).toFixed(1)}%` : (size / 10).toFixed(1);
}

/** How a metric changed: `up 12.3%`, `down 5`, `up 0.3 pt`, `0.0`; empty without a comparison. */
function changeOf(metric: Metric, row: Answer): string {
  const { comparison, change, unsafe } = row ?? {};
  if (!comparison || !change) return '';
  if (comparison.impressions === 0 && unsafe?.impressions?.includes('missing_days')) return '–';
  const { difference, ratio } = change[metric];
  if (difference === null) return '–';
  if (metric === 'clicks' || metric === 'impressions') {
    const size = Math.abs(difference);
    const exact = difference / comparison[metric];
    const shown =
      ratio === null
        ? shownOf(metric, { [metric]: size })
        : exact >= 10
          ? `${(exact + 1).toFixed(1)}×`
          : percent.format(Math.abs(exact));
    return directed(difference, shown);
  }
  const size = tenths(metric, row)! - tenths(metric, comparison)!;
  return directed(size, `${(Math.abs(size) / 10).toFixed(1)}${metric === 'ctr' ? ' pt' : ''}`);
}

function directed(difference: number, text: string): string {
  return difference === 0 ? text : `${difference > 0 ? 'up' : 'down'} ${text}`;
}

/** A cell with a value and its change. */
export function cellOf(metric: Metric, row: Answer): string {
  return [shownOf(metric, row), changeOf(metric, row)].filter(Boolean).join(' ');
}

/** The four cells of a row. */
export function rowOf(name: string, row: Answer): string[] {
  return [name, ...METRICS.map((metric) => cellOf(metric, row))];
}

/** `+1,234`, `−5`, `0`. */
export function signed(value: number): string {
  return value === 0 ? '0' : `${value > 0 ? '+' : '−'}${whole.format(Math.abs(value))}`;
}

/** A share of a whole: `12%`; `< 1 %` for a trace. */
export function share(value: number): string {
  return value > 0 && value < 0.01 ? '< 1%' : `${Math.round(100 * value)}%`;
}

/** Days that are shifted as the page compares them: whole weeks back, or 364 days. */
export function comparedDays(from: string, to: string, compare: 'previous' | 'year'): string {
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
  const back = compare === 'year' ? 364 : 7 * Math.ceil(days / 7);
  const moved = (day: string): string => new Date(Date.parse(day) - back * 86_400_000).toISOString().slice(0, 10);
  return `${moved(from)}..${moved(to)}`;
}

/** Whether compared days are drawn: where they are the same weekdays, or whole months. True without a range. */
export function isDrawn(range?: Answer): boolean {
  if (range?.comparison === undefined) return true;
  const both = [range, range.comparison].map(({ from, to }) => [new Date(from), new Date(Date.parse(to) + 86_400_000)]);
  const [now, then] = both as [Date[], Date[]];
  return now[0]!.getUTCDay() === then[0]!.getUTCDay() || both.flat().every((day) => day.getUTCDate() === 1);
}
