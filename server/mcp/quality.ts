import { addDays, type Day, later } from '../domain/dates.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import type { Quality } from '../domain/quality.ts';
import type { Range } from '../domain/range.ts';
import { OTHER_ENGINES } from '../model/surfaces.ts';

/** Tools send this to presets to get the quality of the data. */
export const WITH_QUALITY = { quality: '1' } as const;

/** A range of an answer. */
type Days = Range & { readonly engine?: string | undefined };

/** What an agent must know about the days of a response before it draws conclusions. */
interface Known {
  readonly quality: Omit<Quality, 'events'> & {
    /** The days of the range that may still change; null if none. */
    readonly provisional: Range | null;
  };
  /** Changes in how the provider counts that overlap the range. */
  readonly events: readonly Pick<ProviderEvent, 'title' | 'from' | 'to' | 'affects' | 'device' | 'source'>[];
}

/** @param known the quality in an answer with `WITH_QUALITY` */
export function quality(range: Days, known: Quality | undefined): Known {
  if (known === undefined) throw new Error('the report was asked without quality');
  const { events, finalThrough, ...counts } = known;
  return {
    quality: {
      finalThrough,
      provisional: counts.daysProvisional === 0 ? null : provisional(range, finalThrough),
      ...counts,
    },
    events: events.map(shortEvent),
  };
}

/** @param finalThrough the last final day of the project, if it is known */
function provisional({ from, to, engine }: Days, finalThrough: Day | null): Range | null {
  if (OTHER_ENGINES.some((other) => other === engine)) return null;
  const first = finalThrough === null ? from : later(from, addDays(finalThrough, 1));
  return first <= to ? { from: first, to } : null;
}

/** What an agent is told of an event. */
export function shortEvent({ title, from, to, affects, device, source }: ProviderEvent): Known['events'][number] {
  return { title, from, to, affects, device, source };
}
