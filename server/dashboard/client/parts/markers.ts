import type { Note, Range } from '../lib/types.ts';
import type { Marker } from './chart-options.ts';

/** Notes about the site or the workspace, and changes of what the search engine counts, for a chart of the whole site. */
export function markersOf(notes: readonly Note[], range: Range | undefined, device: string): Marker[] {
  if (range === undefined) return [];
  const written = notes.map(({ date, endDate, text }): Marker => {
    return { from: date, to: endDate ?? date, text, kind: 'note' };
  });
  const events = EVENTS.filter(
    (event) =>
      event.from <= range.to &&
      event.to >= range.from &&
      (event.device === null || device === 'all' || event.device === device),
  ).map(({ from, to, text }): Marker => ({ from, to, text, kind: 'event' }));
  return [...events, ...written];
}

const EVENTS: readonly {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly device: string | null;
}[] = [];
