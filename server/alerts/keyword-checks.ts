import { decimalText } from '../domain/shown-numbers.ts';
import type { KeywordAlertType, Lifecycle, Severity } from './alert.ts';
import type { AlertCalendar } from './calendar.ts';
import { KEYWORD_DROP_DAYS, keywordDrop, keywordIsBack, mayDrop } from './keyword-drop.ts';
import type { KeywordFacts } from './keyword-facts.ts';
import { keywordLost, LOOK_BACK, lastShown, MAX_SILENCE, mayBeLost } from './keyword-lost.ts';
import { URL_CHANGED_DAYS, URL_MISMATCH_DAYS, urlChanged, urlMismatch } from './main-page.ts';
import { type AlertText, keywordDropText, keywordLostText, urlChangedText, urlMismatchText } from './texts.ts';

/** Usual values when an alert opened; plain data. */
export type KeywordBaseline = Readonly<Record<string, number>>;

/** A keyword and day to evaluate, both indexed from 0. */
export interface Spot {
  readonly facts: KeywordFacts;
  readonly calendar: AlertCalendar;
  readonly keyword: number;
  readonly day: number;
}

/** A keyword check: its condition, the lifecycle of its alerts, and their texts. */
export interface KeywordCheck extends Lifecycle {
  readonly type: KeywordAlertType;
  readonly severity: Severity;
  /** Whether the condition holds; false if it cannot be evaluated. */
  readonly holds: (spot: Spot) => boolean;
  readonly baseline: (spot: Spot) => KeywordBaseline;
  /** Whether an open alert may resolve; undefined if it cannot be evaluated. */
  readonly isBack: (spot: Spot, baseline: KeywordBaseline) => boolean | undefined;
  readonly text: (spot: Spot) => AlertText;
  readonly resolvedBecause: (spot: Spot, reason: 'back' | 'expired', baseline: KeywordBaseline) => string;
}

/** Days before an evaluated day that the checks read. */
export const KEYWORD_LOOK_BACK = Math.max(KEYWORD_DROP_DAYS, MAX_SILENCE + LOOK_BACK) + 1;

const NEW_LEVEL = 'after 28 days this is the new usual';

/** Undefined if days are missing or not comparable. */
function dropOf({ facts, calendar, keyword, day }: Spot): ReturnType<typeof keywordDrop> | undefined {
  const from = day - KEYWORD_DROP_DAYS + 1;
  if (!facts.areWhole(keyword, from, day) || calendar.crossesEvent(from, day)) return undefined;
  return keywordDrop(facts.sumsOf(keyword), day);
}

const drop: KeywordCheck = {
  type: 'keyword_drop',
  severity: 'warning',
  opensAfter: 3,
  resolvesAfter: 3,
  expiresAfter: 28,
  holds: (spot) => {
    if (spot.day < KEYWORD_DROP_DAYS - 1 || !mayDrop(spot.facts.sumsOf(spot.keyword), spot.day)) return false;
    return dropOf(spot)?.opens ?? false;
  },
  baseline: (spot) => {
    const { usual, margin } = dropOf(spot)!;
    return { usual, margin };
  },
  isBack: (spot, { usual, margin }) => {
    const result = dropOf(spot);
    return result && keywordIsBack(result, { usual: usual!, margin: margin! });
  },
  text: (spot) => {
    const { impressions } = spot.facts.sumsOf(spot.keyword);
    const numbers = { ...dropOf(spot)!, impressions: impressions[spot.day + 1]! - impressions[spot.day - 6]! };
    return keywordDropText({ ...numbers, query: queryOf(spot) }, dayOf(spot));
  },
  resolvedBecause: (spot, reason) =>
    reason === 'back' ? `its average position is back at ${decimalText(dropOf(spot)!.position, 1)}` : NEW_LEVEL,
};

function lostOf({
  facts,
  calendar,
  keyword,
  day,
}: Spot): (ReturnType<typeof keywordLost> & { last: number }) | undefined {
  const sums = facts.sumsOf(keyword);
  const last = lastShown(sums, day);
  const from = last - LOOK_BACK + 1;
  if (from < 0 || !facts.areWhole(keyword, from, day) || calendar.crossesEvent(from, day)) return undefined;
  return { ...keywordLost(sums, day, last), last };
}

const lost: KeywordCheck = {
  type: 'keyword_lost',
  severity: 'warning',
  opensAfter: 1,
  resolvesAfter: 1,
  expiresAfter: 56,
  holds: (spot) => mayBeLost(spot.facts.sumsOf(spot.keyword), spot.day) && (lostOf(spot)?.opens ?? false),
  baseline: () => ({}),
  isBack: (spot) => lostOf(spot)?.isBack,
  text: (spot) => {
    const result = lostOf(spot)!;
    const days = { lastShown: spot.calendar.dayAt(result.last), day: dayOf(spot) };
    return keywordLostText({ ...result, query: queryOf(spot) }, days);
  },
  resolvedBecause: (_spot, reason) =>
    reason === 'back' ? 'it was shown again on 3 of the last 7 days' : 'it was not shown again within 56 days',
};

function changeOf(spot: Spot): ReturnType<typeof urlChanged> | undefined {
  const { facts, calendar, keyword, day } = spot;
  const from = day - URL_CHANGED_DAYS + 1;
  if (!facts.hasPages(keyword) || !facts.arePagesWhole(keyword, from, day) || calendar.crossesEvent(from, day))
    return undefined;
  return urlChanged(facts.mainPage(keyword, day - 6, day), facts.mainPage(keyword, from, day - 7));
}

const changed: KeywordCheck = {
  type: 'url_changed',
  severity: 'info',
  opensAfter: 3,
  resolvesAfter: 1,
  expiresAfter: 28,
  holds: (spot) => changeOf(spot)?.opens ?? false,
  baseline: (spot) => ({ page: changeOf(spot)!.before! }),
  isBack: (spot, { page }) => {
    const result = changeOf(spot);
    return result && result.page === page;
  },
  text: (spot) => {
    const { page, before } = changeOf(spot)!;
    return urlChangedText(queryOf(spot), { page: urlOf(spot, page!), before: urlOf(spot, before!) }, dayOf(spot));
  },
  resolvedBecause: (spot, reason, { page }) =>
    reason === 'back' ? `${urlOf(spot, page!)} ranks again` : 'after 28 days this is the usual page',
};

function mismatchOf(spot: Spot): ReturnType<typeof urlMismatch> {
  const { facts, calendar, keyword, day } = spot;
  if (!facts.hasPages(keyword)) return undefined;
  const target = facts.pages.targets[keyword] ?? Number.NaN;
  const from = day - URL_MISMATCH_DAYS + 1;
  if (Number.isNaN(target) || !facts.arePagesWhole(keyword, from, day) || calendar.crossesEvent(from, day)) {
    return undefined;
  }
  return urlMismatch(facts.mainPage(keyword, from, day), target);
}

const mismatch: KeywordCheck = {
  type: 'url_mismatch',
  severity: 'info',
  opensAfter: 7,
  resolvesAfter: 1,
  expiresAfter: null,
  holds: (spot) => mismatchOf(spot)?.opens ?? false,
  baseline: () => ({}),
  isBack: (spot) => {
    const result = mismatchOf(spot);
    return result && !result.opens;
  },
  text: (spot) => {
    const target = spot.facts.keywords[spot.keyword]!.targetUrl!;
    return urlMismatchText(queryOf(spot), { page: urlOf(spot, mismatchOf(spot)!.page), target }, dayOf(spot));
  },
  resolvedBecause: () => 'the intended page ranks',
};

/** The keyword checks, in the order of their alerts. */
export const KEYWORD_CHECKS: readonly KeywordCheck[] = [drop, lost, changed, mismatch];

function queryOf({ facts, keyword }: Spot): string {
  return facts.keywords[keyword]!.query;
}

function dayOf({ calendar, day }: Spot): string {
  return calendar.dayAt(day);
}

function urlOf({ facts }: Spot, page: number): string {
  return facts.pages.urls.get(page) ?? 'a page that is no longer stored';
}
