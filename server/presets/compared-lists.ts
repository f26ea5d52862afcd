import { cacheKey } from '../domain/cache-key.ts';
import { Comparer, lengthReasons, type UnsafeReason } from '../domain/comparison.ts';
import { type Day, eachDay, monthsEarlier, pacificDayOf } from '../domain/dates.ts';
import { eventsOf, metricsWithEvents, type ProviderEvent } from '../domain/provider-events.ts';
import { HISTORY_MONTHS } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { Rendering } from '../lists/blocks.ts';
import type { RangeList } from '../lists/list-pages.ts';
import { OTHER_ENGINES, type Surface } from '../model/surfaces.ts';
import { KnownDays, type KnownDaysPlan, readUnseenEvents } from '../query/known-days.ts';

interface ComparedLists {
  /** The rendering without a comparison. */
  readonly rendering: Rendering;
  readonly open: RangeList;
  readonly other: RangeList;
  /** The days of stored facts; null for lists from a provider. */
  readonly known: KnownDaysPlan | null;
  /** See `planWatchedDays`. */
  readonly watchedFiles: KnownDaysPlan['watchedFiles'];
  /** Further reasons. */
  readonly reasons: readonly UnsafeReason[];
  readonly type: Surface | undefined;
  readonly signal: AbortSignal;
}

/** The rendering of a list that is compared with another one. */
export async function comparedRendering(
  facts: Facts,
  { rendering, open, other, known, watchedFiles, reasons: more, type, signal }: ComparedLists,
): Promise<Rendering> {
  const lists = [open, other] as const;
  const days = known && (await readDays(facts, known, lists, signal));
  const reasons = new Set<UnsafeReason>(known === null ? lists.flatMap(providerReasons) : days?.reasons);
  for (const reason of [...more, ...lengthReasons(open.range, other.range)]) reasons.add(reason);
  if (open.list.source !== other.list.source) reasons.add('different_source');
  const [unseen] = await readUnseenEvents(facts, [watchedFiles], signal);
  const ranges = [open.range, other.range] as const;
  const seen = eventsOf(type ?? 'web').filter((event) => !unseen!.has(event));
  const events = metricsWithEvents(ranges, null, days?.events ?? [...seen, ...eventsOfLists(lists)]);
  const total = new Comparer(reasons, events);
  // A row that is missing from a truncated list may have any numbers.
  const absent = other.list.capped ? total.with(['cut_off']) : total;
  const { file, fetchedAt } = other.list;
  return {
    ...rendering,
    variant: cacheKey(rendering.variant, file, fetchedAt, open.range, other.range, [...reasons], [...events]),
    comparerOf: ({ base }) => (base === undefined ? absent : total),
  };
}

/** What is known of the days of lists from stored facts; null if all lists were exported as a whole, which have no days. */
async function readDays(
  facts: Facts,
  known: KnownDaysPlan,
  lists: readonly RangeList[],
  signal: AbortSignal,
): Promise<{ readonly reasons: readonly UnsafeReason[]; readonly events: readonly ProviderEvent[] } | null> {
  const ranges = lists.filter(({ list }) => list.source !== 'gsc').map(({ range }) => range);
  if (ranges.length === 0) return null;
  const days = await KnownDays.read(facts, { ...known, ranges }, signal);
  const reasons = ranges.flatMap(({ from, to }) => eachDay(from, to).flatMap((day) => days.reasonsOn(day)));
  return { reasons, events: days.events };
}

function providerReasons({ list, range }: RangeList): UnsafeReason[] {
  // Other engines do not say which weeks may change.
  const isFinal = list.final || OTHER_ENGINES.some((engine) => engine === list.source);
  const reasons: UnsafeReason[] = isFinal ? [] : ['provisional'];
  if (beginsBeforeApi(list, range)) reasons.push('missing_days');
  return reasons;
}

/** The events of the provider that concern what lists of a provider were read from. */
export function eventsOfLists(lists: readonly Pick<RangeList, 'list'>[]): readonly ProviderEvent[] {
  return lists.some(({ list }) => list.source === 'bigquery') ? eventsOf('bulkExport') : [];
}

/** Whether a list of the reporting API lacks days, which are older than it keeps. */
export function beginsBeforeApi({ source, fetchedAt }: RangeList['list'], { from }: RangeList['range']): boolean {
  return source === 'gsc' && from < firstDayOfApi(fetchedAt);
}

/** @param fetchedAt microseconds */
function firstDayOfApi(fetchedAt: number): Day {
  return monthsEarlier(pacificDayOf(fetchedAt / 1000), HISTORY_MONTHS);
}
