import type { InspectionAttempts } from '../catalog/inspections.ts';
import { addDays, type Day, pacificDayOf } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';

/** A page that may be inspected. */
export interface PageToInspect {
  readonly url: string;
  /** Target page of a keyword, or pinned to a group. */
  readonly isWatched: boolean;
  /** The day since which it has impressions, if it is new; null otherwise. */
  readonly newSince: Day | null;
  /** In 28 days, and in the newest seven. */
  readonly clicks: number;
  readonly newestClicks: number;
  readonly impressions: number;
}

interface PlanOptions {
  readonly attempts: ReadonlyMap<string, InspectionAttempts>;
  /** Milliseconds. */
  readonly now: number;
  /** How many pages to choose. */
  readonly count: number;
}

const DAY = 86_400_000;
/** The share of watched and new pages, and of pages whose state has just changed. */
const FIRST_SHARE = 1 / 4;
/** Of what is left by pages that are due, the share of pages that wait longest, whatever their clicks. */
const LONGEST_SHARE = 1 / 2;
/** Days after which a page with clicks is due: one less than a week, so that a full day may be one late. */
const CLICKED_EVERY = 6;
/** Days after its first impressions on which a new page is inspected. */
const NEW_ON = [1, 3, 7, 14, 28] as const;
/** Pages change once in this many days, as long as nothing is known of them: a prior that weighs as much time. */
const USUAL_DAYS = 90;
/** A page without impressions that was not in the index for longer is forgotten: a season's page comes back after a year. */
const FORGOTTEN_AFTER = 400;
/** Of more known pages, those without impressions are forgotten that were not inspected for longest. */
const MAX_KNOWN = 100_000;
/** Pages that are forgotten with a batch. */
const MAX_FORGOTTEN = 200;
/** Nothing is inspected twice within this time; a page that failed waits a day, and longer each time. */
const SHORTEST = 0.8 * DAY;
const MAX_WAIT_DAYS = 28;

/**
 * The pages to inspect next, most urgent first: watched and new ones and those to confirm a change, pages with clicks that
 * were not inspected in six days, then by the clicks that are expected on pages whose state has changed since.
 */
export function planInspections(
  pages: readonly PageToInspect[],
  { attempts, now, count }: PlanOptions,
): PageToInspect[] {
  const candidates = pages
    .map((page) => candidateOf(page, attempts.get(page.url), now))
    .filter(({ isReady }) => isReady);
  const chosen = new Set<Candidate>();
  const take = (some: readonly Candidate[], most: number): void => {
    for (const one of some) {
      if (most <= 0 || chosen.size >= count) return;
      if (chosen.has(one)) continue;
      chosen.add(one);
      most -= 1;
    }
  };
  const byScore = candidates.toSorted((a, b) => b.score - a.score || compare(a, b));
  const byAge = candidates.toSorted((a, b) => b.age - a.age || b.score - a.score || compare(a, b));
  const first = byScore.filter(({ isFirst }) => isFirst);
  take([...first.filter(({ page }) => page.isWatched), ...first], Math.ceil(count * FIRST_SHARE));
  take(
    byAge.filter(({ isDue }) => isDue),
    count,
  );
  take(byAge, Math.floor((count - chosen.size) * LONGEST_SHARE));
  take(byScore, count);
  return [...chosen].map(({ page }) => page);
}

/**
 * Known pages to forget: without impressions, not watched, and not in the index for 400 days, without any answer, or too
 * many. A part of them if they are many.
 */
export function pagesToForget(
  pages: readonly PageToInspect[],
  { attempts, now }: Omit<PlanOptions, 'count'>,
): Set<string> {
  const before = toMicroseconds(now - FORGOTTEN_AFTER * DAY);
  const forgotten = pages
    .filter(({ isWatched, impressions }) => !isWatched && impressions === 0)
    .flatMap(({ url }) => attempts.get(url) ?? [])
    .toSorted((a, b) => a.triedAt - b.triedAt)
    .filter(({ goneSince }, at) => (goneSince ?? before) < before || at < attempts.size - MAX_KNOWN);
  return new Set(forgotten.slice(0, MAX_FORGOTTEN).map(({ url }) => url));
}

interface Candidate {
  readonly page: PageToInspect;
  /** Days since the last answer; infinite without one. */
  readonly age: number;
  readonly isReady: boolean;
  readonly isFirst: boolean;
  readonly isDue: boolean;
  /** Expected clicks in 28 days times the probability that the state has changed. */
  readonly score: number;
}

function candidateOf(page: PageToInspect, known: InspectionAttempts | undefined, now: number): Candidate {
  const at = toMicroseconds(now);
  const days = (from: number): number => (at - from) / 1000 / DAY;
  const age = known?.inspectedAt == null ? Number.POSITIVE_INFINITY : days(known.inspectedAt);
  const wait = known === undefined || known.failures === 0 ? 0 : Math.min(2 ** (known.failures - 1), MAX_WAIT_DAYS);
  const isReady = known === undefined || days(known.triedAt) >= Math.max(wait, SHORTEST / DAY);
  const observed = known?.firstAt == null ? 0 : days(known.firstAt);
  const rate = (1 + (known?.changes ?? 0)) / (USUAL_DAYS + observed);
  const isToConfirm = known !== undefined && known.changes > 0 && known.repeats === 1;
  return {
    page,
    age,
    isReady,
    isFirst: page.isWatched || isToConfirm || isNewAndDue(page, known, now),
    isDue: page.newestClicks > 0 && age >= CLICKED_EVERY,
    // Pages without clicks differ by their impressions.
    score: (page.clicks + page.impressions / 1e4 + 0.01) * (1 - Math.exp(-rate * age)),
  };
}

/** Whether one of the days of a new page has come since its last inspection. */
function isNewAndDue({ newSince }: PageToInspect, known: InspectionAttempts | undefined, now: number): boolean {
  if (newSince === null) return false;
  const today = pacificDayOf(now);
  const last = NEW_ON.map((days) => addDays(newSince, days)).findLast((day) => day <= today);
  return last !== undefined && (known?.inspectedAt == null || pacificDayOf(known.inspectedAt / 1000) < last);
}

function compare(a: Candidate, b: Candidate): number {
  return a.page.url < b.page.url ? -1 : 1;
}
