import { addDays, type Day, later } from '../domain/dates.ts';
import { eventsIn, type ProviderEvent } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';

/** What an agent must know of the days of an answer before it draws conclusions. */
interface Quality {
  readonly quality: {
    /** Days after it may still change. */
    readonly finalThrough: Day | null;
    /** The days of the range that may still change; null where none. */
    readonly provisional: Range | null;
  };
  /** Changes of what the provider counts that lie in the range. */
  readonly events: readonly Pick<ProviderEvent, 'title' | 'from' | 'to' | 'affects' | 'device' | 'source'>[];
}

/** @param finalThrough the last final day of the project, if it is known */
export function quality({ from, to }: Range, finalThrough: Day | null): Quality {
  const firstProvisional = finalThrough === null ? from : later(from, addDays(finalThrough, 1));
  return {
    quality: { finalThrough, provisional: firstProvisional <= to ? { from: firstProvisional, to } : null },
    events: eventsOf({ from, to }),
  };
}

export function eventsOf(range: Range): Quality['events'] {
  return eventsIn(range, null).map(({ title, from, to, affects, device, source }) => ({
    title,
    from,
    to,
    affects,
    device,
    source,
  }));
}
