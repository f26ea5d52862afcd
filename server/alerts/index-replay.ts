import type { PageState } from '../catalog/inspections.ts';
import { addDays, type Day, pacificDayOf } from '../domain/dates.ts';
import { INDEXED } from '../domain/index-state.ts';
import { isoInstant, type Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import { wholeText } from '../domain/shown-numbers.ts';
import type { EvaluatedAlert, IndexAlertType } from './alert.ts';
import type { AlertCalendar } from './calendar.ts';
import type { AlertText } from './texts.ts';

/** Inspections in a row that must say the same. */
const OPENS_AFTER = 2;
/** Days after which an alert resolves: the state is the usual one then. */
const EXPIRES_AFTER = { page_dropped_from_index: 90, canonical_changed: 28 } as const;
/** Days whose alerts are known: longer than any of them is open. */
const REPLAYED_DAYS = 120;
/** More alerts of a type on a day are one, which names this many pages. */
const MAX_SINGLE = 10;
const MAX_NAMED = 20;

export function isAboutIndex(type: string): boolean {
  return Object.hasOwn(EXPIRES_AFTER, type);
}

/** The days to evaluate, the last of which is over. */
export function indexRangeUntil(to: Day): Range {
  return { from: addDays(to, -REPLAYED_DAYS), to };
}

/** What was found of a page. */
interface Found {
  readonly type: IndexAlertType;
  readonly url: string;
  readonly at: Microseconds;
  readonly text: AlertText;
  end: { readonly day: Day; readonly why: string } | null;
}

/**
 * The alerts of a range about pages with clicks in the 28 days before, and watched ones: a page that was in the index and
 * was not in two inspections in a row, or whose canonical page was one in two in a row and then another one in two.
 * @param states of pages whose state has changed, by address, oldest first
 */
export function alertsOfIndex(states: readonly PageState[], range: Range, calendar: AlertCalendar): EvaluatedAlert[] {
  const found = [...Map.groupBy(states, ({ url }) => url).values()].flatMap((of) => [
    ...findDrops(of, range.to),
    ...findCanonicalChanges(of, range.to),
  ]);
  const inRange = found.filter(({ at }) => dayOf(at) >= range.from);
  const byDay = Map.groupBy(inRange, ({ type, at }) => `${type} ${dayOf(at)}`);
  return [...byDay.values()]
    .flatMap((of) => (of.length > MAX_SINGLE ? [groupOf(of)] : of))
    .map((each) => {
      return alertOf(each, range.to, calendar);
    });
}

interface Inspected extends PageState {
  readonly at: Microseconds;
}

/** The first two inspections with each state: others tell nothing new. */
function inspections(states: readonly PageState[], last: Day): Inspected[] {
  return states
    .flatMap((state) =>
      [state.since, ...(state.secondAt === null ? [] : [state.secondAt])].map((at) => ({ ...state, at })),
    )
    .filter(({ at }) => dayOf(at) <= last);
}

function findDrops(states: readonly PageState[], last: Day): Found[] {
  const found: Found[] = [];
  let wasIndexed = false;
  let missed = 0;
  for (const { at, url, state, clicks, isWatched } of inspections(states, last)) {
    if (state.verdict === INDEXED) {
      const open = found.at(-1);
      if (open?.end === null) open.end = { day: dayOf(at), why: 'the page is in the index again' };
      wasIndexed = true;
      missed = 0;
    } else if (wasIndexed && ++missed === OPENS_AFTER && (clicks > 0 || isWatched)) {
      const title = `Page is no longer in the index: ${url}`;
      const why = state.coverageState === null ? '' : ` The search engine says: ${state.coverageState}.`;
      const body = `Two inspections in a row found ${url} not in the index.${why}${clicksText(clicks)}`;
      found.push({ type: 'page_dropped_from_index', url, at, text: { title, body }, end: null });
    }
  }
  return found;
}

function findCanonicalChanges(states: readonly PageState[], last: Day): Found[] {
  const found: (Found & { before: string })[] = [];
  let usual: string | null = null;
  let other = { canonical: '', times: 0 };
  for (const { at, url, state, clicks, isWatched } of inspections(states, last)) {
    const canonical = state.googleCanonical;
    if (canonical === null) continue;
    const open = found.at(-1);
    if (open?.end === null && canonical === open.before) open.end = { day: dayOf(at), why: 'it is as before' };
    if (canonical === usual) {
      other = { canonical: '', times: 0 };
      continue;
    }
    other = { canonical, times: other.canonical === canonical ? other.times + 1 : 1 };
    if (other.times < OPENS_AFTER) continue;
    const before = usual;
    usual = canonical;
    other = { canonical: '', times: 0 };
    // What is usual takes as many inspections as a change.
    if (before === null || (clicks === 0 && !isWatched)) continue;
    if (open?.end === null) open.end = { day: dayOf(at), why: 'it changed again' };
    const title = `Another page is canonical for ${url}`;
    const body = `Two inspections in a row found that the search engine takes ${canonical} as the canonical page of ${url}; before, it took ${before}.${clicksText(clicks)}`;
    found.push({ type: 'canonical_changed', url, at, text: { title, body }, end: null, before });
  }
  return found;
}

function clicksText(clicks: number): string {
  return ` It had ${wholeText(clicks)} click${clicks === 1 ? '' : 's'} in the 28 days before.`;
}

/** Those of a type on a day as one, which ends with the last of them. */
function groupOf(found: readonly Found[]): Found {
  const { type, at } = found[0]!;
  const what = type === 'page_dropped_from_index' ? 'are no longer in the index' : 'have another canonical page';
  const named = found.slice(0, MAX_NAMED).map(({ url }) => url);
  const more = found.length > MAX_NAMED ? ` and ${wholeText(found.length - MAX_NAMED)} more` : '';
  const ends = found.map(({ end }) => end?.day ?? null);
  const isOver = ends.every((day) => day !== null);
  return {
    type,
    url: `many ${dayOf(at)}`,
    at: Math.min(...found.map((each) => each.at)),
    text: {
      title: `${wholeText(found.length)} pages ${what}`,
      body: `Two inspections in a row found it: ${named.join(', ')}${more}.`,
    },
    end: isOver ? { day: ends.toSorted().at(-1)!, why: 'it is over for all of these pages' } : null,
  };
}

function alertOf({ type, url, at, text, end }: Found, last: Day, calendar: AlertCalendar): EvaluatedAlert {
  const date = dayOf(at);
  const expires = addDays(date, EXPIRES_AFTER[type]);
  const expired =
    expires <= last ? { day: expires, why: `after ${EXPIRES_AFTER[type]} days this is the new state` } : null;
  const ended = end !== null && end.day <= expires ? end : expired;
  const notes = calendar.notesAbout(calendar.indexOf(date), null);
  return {
    type,
    subject: url,
    basis: isoInstant(at),
    severity: 'warning',
    title: text.title,
    body: text.body + notes + (ended === null ? '' : calendar.resolved(calendar.indexOf(ended.day), ended.why)),
    date,
    keywordId: null,
    resolvedOn: ended?.day ?? null,
  };
}

function dayOf(at: Microseconds): Day {
  return pacificDayOf(at / 1000);
}
