import { formatDate } from '../lib/dates.ts';
import type { Day, Metric, Note, ProviderEvent, Range } from '../lib/types.ts';
import type { Marker } from './chart-data.ts';

interface Shown {
  readonly range: Range | undefined;
  readonly metric: Metric;
  readonly device: string;
}

/** Notes, and the days in the range on which the search engine began to count the metric in another way. */
export function markersOf(notes: readonly Note[], events: readonly ProviderEvent[], shown: Shown): Marker[] {
  const { range, metric, device } = shown;
  if (range === undefined) return [];
  const written = notes.map(({ date, endDate, text }): Marker => {
    return { from: date, to: endDate ?? date, text, kind: 'note' };
  });
  const isShown = (event: ProviderEvent): boolean =>
    event.affects.includes(metric) && (event.device === null || device === 'all' || event.device === device);
  return [...events.filter(isShown).flatMap((event) => edgesOf(event, range)), ...written];
}

function edgesOf({ kind, from, to, title }: ProviderEvent, range: Range): Marker[] {
  const isIn = (day: Day): boolean => day >= range.from && day <= range.to;
  if (kind === 'change') return isIn(from) || isIn(to) ? [{ from, to, text: title, kind: 'event' }] : [];
  const begins: Marker = { from, to: from, text: `${title} Until ${formatDate(to)}.`, kind: 'event' };
  const ends: Marker = { from: to, to, text: `Last day of: ${title}`, kind: 'event' };
  return [begins, ends].filter((edge) => isIn(edge.from));
}
