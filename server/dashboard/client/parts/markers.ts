import { formatDate } from '../lib/dates.ts';
import type { Alert, Day, Metric, Note, ProviderEvent, Range, RankingUpdate } from '../lib/types.ts';
import type { Marker } from './chart-data.ts';

interface Shown {
  readonly range: Range | undefined;
  readonly metric: Metric;
  readonly device: string;
  /** Its screens are linked to; undefined on shared pages. */
  readonly project: string | undefined;
}

interface Subjects {
  readonly notes: readonly Note[];
  readonly events: readonly ProviderEvent[];
  readonly alerts: readonly Alert[];
  readonly rankingUpdates: readonly RankingUpdate[];
}

/** Notes, alerts, ranking updates, and the days in the range on which the search engine began to count the metric in another way. */
export function markersOf({ notes, events, alerts, rankingUpdates }: Subjects, shown: Shown): Marker[] {
  const { range, metric, device, project } = shown;
  if (range === undefined) return [];
  const root = project && `/app/p/${project}`;
  const written = notes.map(({ id, date, endDate, text }): Marker => {
    const more = project && { href: `${root}/notes`, note: { project, id } };
    return { from: date, to: endDate ?? date, text, kind: 'note', ...more };
  });
  const updates = rankingUpdates.map(({ from, to, title, source }): Marker => {
    const text = to === null ? `${title}, still rolling out` : title;
    return { from, to: to ?? range.to, text, kind: 'ranking', href: source };
  });
  const opened = alerts.flatMap(({ id, date, title }): Marker[] => {
    const isIn = date !== null && date >= range.from && date <= range.to;
    return isIn
      ? [{ from: date, to: date, text: title, kind: 'alert', ...(root && { href: `${root}/alerts?alert=${id}` }) }]
      : [];
  });
  const isShown = (event: ProviderEvent): boolean =>
    event.affects.includes(metric) && (event.device === null || device === 'all' || event.device === device);
  const changes = events.filter(isShown).flatMap((event) => edgesOf(event, range));
  return [...changes, ...updates, ...opened, ...written];
}

function edgesOf({ kind, from, to, title }: ProviderEvent, range: Range): Marker[] {
  const isIn = (day: Day): boolean => day >= range.from && day <= range.to;
  if (kind === 'change') return isIn(from) || isIn(to) ? [{ from, to, text: title, kind: 'event' }] : [];
  const begins: Marker = { from, to: from, text: `${title} Until ${formatDate(to)}.`, kind: 'event' };
  const ends: Marker = { from: to, to, text: `Last day of: ${title}`, kind: 'event' };
  return [begins, ends].filter((edge) => isIn(edge.from));
}
