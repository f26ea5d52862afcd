import type { Surface } from '../model/surfaces.ts';
import { addDays, type Day } from './dates.ts';
import { type Measures, sum } from './metrics.ts';
import { type Range, within } from './range.ts';

/** What a provider event can change. */
type AffectedMetric = 'clicks' | 'impressions' | 'ctr' | 'position';

/** A change in how the provider counts, independent of any site. */
export interface ProviderEvent {
  readonly title: string;
  /** Its first and last day, Pacific. */
  readonly from: Day;
  readonly to: Day;
  /**
   * - `span`: its days are counted differently than those before and after it;
   * - `change`: from one of its days on, all days are counted differently.
   */
  readonly kind: 'span' | 'change';
  readonly affects: readonly AffectedMetric[];
  /** The affected device, or null for all. */
  readonly device: 'desktop' | 'mobile' | 'tablet' | null;
  /** When the provider announced it; null if it did not. */
  readonly announcedOn: Day | null;
  /** The URL of a description. */
  readonly source: string;
}

/** The events that a property does not show. */
export type UnseenEvents = ReadonlySet<ProviderEvent>;

/** What counts differently: a surface, days of the bulk export, or search appearances. */
export type EventScope = Surface | 'bulkExport' | 'appearances';

/** Some properties do not show it: see `unseenEvents`. */
const PAGES_OF_100: ProviderEvent = {
  title:
    'Result pages with 100 results were removed, which lowered impressions and average positions on desktop; it was not announced, and about one property in eight shows no change.',
  from: '2025-09-10',
  to: '2025-09-14',
  kind: 'change',
  affects: ['impressions', 'ctr', 'position'],
  device: 'desktop',
  announcedOn: null,
  source: 'https://www.searchenginejournal.com/the-future-of-rank-tracking-can-go-two-ways/556399',
};

/** All known events of web search, oldest first. */
export const PROVIDER_EVENTS: readonly ProviderEvent[] = [
  {
    title: 'Impressions were over-counted by an error in logging; clicks were not. Whether positions were is disputed.',
    from: '2025-05-13',
    to: '2026-04-27',
    kind: 'span',
    affects: ['impressions', 'ctr', 'position'],
    device: null,
    announcedOn: '2026-04-03',
    source: 'https://support.google.com/webmasters/answer/6211453',
  },
  {
    title:
      'AI Mode is counted in the totals of web search: its answers add impressions, at positions of their own. Its clicks are visits like all others.',
    from: '2025-06-16',
    to: '2025-06-17',
    kind: 'change',
    affects: ['impressions', 'ctr', 'position'],
    device: null,
    announcedOn: '2025-06-16',
    source: 'https://www.seroundtable.com/google-search-console-counting-ai-mode-39599.html',
  },
  PAGES_OF_100,
  {
    title:
      'The over-count of impressions was repaired bit by bit, so that even days next to each other were counted differently.',
    from: '2026-04-03',
    to: '2026-04-27',
    kind: 'change',
    affects: ['impressions', 'ctr', 'position'],
    device: null,
    announcedOn: '2026-04-03',
    source: 'https://support.google.com/webmasters/answer/6211453',
  },
];

/** Of a property that shows all events. */
export const ALL_SEEN: UnseenEvents = new Set();
const ALL_METRICS = ['clicks', 'impressions', 'ctr', 'position'] as const;

/** Known events by what they concern; each list is ordered, oldest first. */
const EVENTS: Readonly<Partial<Record<EventScope, readonly ProviderEvent[]>>> = {
  web: PROVIDER_EVENTS,
  discover: [discoverGap('2026-05-21', '2026-05-21'), discoverGap('2026-08-13', '2026-08-17')],
  bulkExport: [
    {
      title: 'The bulk export lacks rows of these days; the reports of the search engine have them.',
      from: '2026-02-28',
      to: '2026-03-01',
      kind: 'span',
      affects: ALL_METRICS,
      device: null,
      announcedOn: null,
      source: 'https://support.google.com/webmasters/answer/6211453',
    },
  ],
  appearances: [
    {
      title: 'FAQ rich results are no longer shown, so their appearance ends.',
      from: '2026-05-07',
      to: '2026-05-07',
      kind: 'change',
      affects: ALL_METRICS,
      device: null,
      announcedOn: null,
      source: 'https://developers.google.com/search/docs/appearance/structured-data/faqpage',
    },
  ],
};

function discoverGap(from: Day, to: Day): ProviderEvent {
  return {
    title: 'Clicks and impressions of Discover were lost by an error in logging; what was shown did not change.',
    from,
    to,
    kind: 'span',
    affects: ['clicks', 'impressions', 'ctr'],
    device: null,
    announcedOn: null,
    source: 'https://support.google.com/webmasters/answer/6211453',
  };
}

/**
 * The events that make it unsafe to compare a metric of ranges, because days of them are counted differently. Empty if
 * the comparison is safe.
 * @param device of the compared rows; null for all devices together
 * @param events those that concern the compared numbers
 */
export function eventsBetween(
  metric: AffectedMetric,
  ranges: readonly Range[],
  device: ProviderEvent['device'],
  events: readonly ProviderEvent[],
): ProviderEvent[] {
  return events.filter((event) => event.affects.includes(metric) && isBetween(event, ranges, device));
}

/** The metrics affected by any of `eventsBetween`. */
export function metricsWithEvents(
  ranges: readonly Range[],
  device: ProviderEvent['device'],
  events: readonly ProviderEvent[],
): Set<AffectedMetric> {
  return new Set(events.filter((event) => isBetween(event, ranges, device)).flatMap(({ affects }) => affects));
}

/** The events that overlap any of some ranges, oldest first. @param events those that concern the numbers */
export function eventsIn(
  ranges: readonly Range[],
  device: ProviderEvent['device'],
  events: readonly ProviderEvent[],
): ProviderEvent[] {
  const isIn = (event: ProviderEvent): boolean =>
    concerns(event, device) && ranges.some((range) => within(event, range.from, range.to) !== null);
  return events.filter(isIn).sort((a, b) => (a.from < b.from ? -1 : Number(a.from > b.from)));
}

/** All known events of something. */
export function eventsOf(of: EventScope): readonly ProviderEvent[] {
  return EVENTS[of] ?? [];
}

function isBetween(event: ProviderEvent, ranges: readonly Range[], device: ProviderEvent['device']): boolean {
  if (!concerns(event, device)) return false;
  const phases = new Set(ranges.flatMap((range) => phasesOf(event, range)));
  if (event.kind === 'change') return phases.size > 1 || phases.has('within');
  // Days before a span are counted like those after it.
  return phases.has('within') && phases.size > 1;
}

function concerns(event: ProviderEvent, device: ProviderEvent['device']): boolean {
  return event.device === null || device === null || event.device === device;
}

/** The parts of time, as an event divides it, that have days of a range. */
function phasesOf(event: ProviderEvent, { from, to }: Range): ('before' | 'within' | 'after')[] {
  return [
    ...(from < event.from ? (['before'] as const) : []),
    ...(from <= event.to && to >= event.from ? (['within'] as const) : []),
    ...(to > event.to ? (['after'] as const) : []),
  ];
}

/** The days that tell whether a property shows the end of pages with 100 results: four whole weeks on either side. */
export const WATCHED_DAYS: Range = { from: addDays(PAGES_OF_100.from, -28), to: addDays(PAGES_OF_100.to, 28) };

type DayMeasures = Measures & { readonly date: Day };

const UNSEEN: UnseenEvents = new Set([PAGES_OF_100]);
/** With fewer impressions in four weeks, a fall could not be told from chance. */
const LEAST_IMPRESSIONS = 1000;
/** Properties that show the change lost more than this share of impressions, or gained more in position. */
const MOST_CHANGE = { impressions: 0.1, position: 0.05 };

/** Whether it matters for some days which events a property shows. */
export function dependsOnProperty({ from, to }: Range): boolean {
  return from <= PAGES_OF_100.to && to >= PAGES_OF_100.from;
}

/**
 * The events that a property does not show. About one property in eight shows nothing of the end of pages with 100 results,
 * the only event that depends on the property. An event counts as shown unless all watched days say otherwise: impressions on
 * desktop did not fall, neither alone nor compared with other devices, and positions there did not improve.
 * @param desktop the days of desktop; zeros for days on which only other devices have rows
 * @param all the days of all devices
 */
export function unseenEvents(desktop: readonly DayMeasures[], all: readonly DayMeasures[]): UnseenEvents {
  const sides = [
    { from: WATCHED_DAYS.from, to: addDays(PAGES_OF_100.from, -1) },
    { from: addDays(PAGES_OF_100.to, 1), to: WATCHED_DAYS.to },
  ];
  const [before, after] = sides.map(({ from, to }) => {
    const days = (of: readonly DayMeasures[]): DayMeasures[] => of.filter(({ date }) => date >= from && date <= to);
    const { impressions, sumPosition } = sum(days(desktop));
    const others = sum(days(all)).impressions - impressions;
    return { days: days(all).length, impressions, position: 1 + sumPosition / impressions, others };
  });
  const isKnown = before!.days === 28 && after!.days === 28 && before!.impressions >= LEAST_IMPRESSIONS;
  if (!isKnown) return ALL_SEEN;
  const kept = after!.impressions / before!.impressions;
  const isCompared = before!.others >= LEAST_IMPRESSIONS && after!.others >= LEAST_IMPRESSIONS;
  const expected = isCompared ? Math.max(1, after!.others / before!.others) : 1;
  const fell = kept < (1 - MOST_CHANGE.impressions) * expected;
  const improved = after!.position < (1 - MOST_CHANGE.position) * before!.position;
  return fell || improved ? ALL_SEEN : UNSEEN;
}
