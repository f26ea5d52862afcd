import type { Note } from '../catalog/alerts.ts';
import { withTexts } from '../catalog/entities.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays, countDays, type Day } from '../domain/dates.ts';
import { eventsIn, eventsOf, metricsWithEvents } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import type { KnownRankingUpdates } from '../domain/ranking-updates.ts';
import { type Estimate, estimate, LEVEL } from '../effects/estimate.ts';
import { bundle, clicksIn, MIN_CLICKS, type Unit, type WindowLengths, type Windows } from '../effects/scores.ts';
import { type EffectReason, sentenceOf, type Verdict } from '../effects/verdict.ts';
import { inTurns } from '../runtime/turns.ts';
import type { Subject, SubjectClicks } from './effect-clicks.ts';
import { projectReference } from './preset.ts';

interface EffectPlan {
  readonly project: Project;
  readonly found: Subject;
  readonly date: Day;
  readonly lengths: WindowLengths;
  readonly windows: Windows;
  readonly span: Range;
  /** The last final day. */
  readonly final: Day;
  /** Undefined if no days of the subject's kind are stored, or everything is the subject. */
  readonly clicks: SubjectClicks | undefined;
  readonly rankings: KnownRankingUpdates;
  /** Final days of the window after the change. */
  readonly elapsed: number;
}

/** The effect of a change, with everything that speaks against believing it. */
export async function answerOf(plan: EffectPlan) {
  const { project, found, date, lengths, windows, span, clicks, rankings, elapsed } = plan;
  const isOver = elapsed === lengths.after;
  // An unfinished window is judged as far as it has come, without a p.
  const judged = elapsed > 0 ? { ...lengths, after: elapsed } : lengths;
  const reasons = reasonsAgainst(plan);
  const estimated = clicks === undefined ? undefined : await estimateOf(clicks, date, judged);
  const isComparable = !reasons.some((reason) => reason !== 'other_note');
  if (isComparable && estimated !== undefined) reasons.push(...smallness(estimated));
  const exact = isComparable && elapsed > 0 ? effectOf(estimated, clicks!, windows, { elapsed, isOver }) : null;
  const effect = exact && roundedEffect(exact);
  const verdict = verdictOf(reasons, effect, isOver);
  const detectable = estimated?.detectable ?? null;
  const result = {
    subject: {
      ...(found.note && { note: found.note.id }),
      date,
      scope: found.scope,
      name: found.name,
      ...(found.table !== null && {
        [found.table === 'page_daily' ? 'pages' : 'keywords']: clicks?.members ?? memberCount(found),
      }),
    } as { note?: string; date: Day; scope: Subject['scope']; name: string; pages?: number; keywords?: number },
    windows,
    effect,
    placebo: {
      count: estimated?.placebo.count ?? 0,
      falseAlarmRate: rounded(estimated?.placebo.falseAlarmRate ?? 0),
    },
    detectable: detectable === null ? null : { ratio: rounded(detectable) },
    control: estimated?.control
      ? { members: estimated.control.members, error: rounded(estimated.control.error) }
      : null,
    verdict,
    reasons,
  };
  return {
    project: projectReference(project),
    ...result,
    text: sentenceOf({ verdict, reasons, windows, effect: exact, detectable }, changesOn(plan)),
    daily: clicks === undefined ? [] : dailyOf(clicks, windows, effect),
    events: [
      ...eventsIn([span], null, clicks?.events ?? eventsOf('web')).map(({ title, from, to, source }) => ({
        kind: 'counting' as const,
        title,
        from,
        to,
        source,
      })),
      ...rankings.rankingUpdates.map((update) => ({ kind: 'ranking' as const, ...update })),
    ],
    rankingUpdatesThrough: rankings.rankingUpdatesThrough,
    notes: found.notes
      .filter((note) => note.id !== found.note?.id && touches(note, span))
      .map((note) => withTexts('notes', note)),
  };
}

/** Why the clicks before and after cannot be compared. */
function reasonsAgainst({ found, windows, date, span, final, clicks }: EffectPlan): EffectReason[] {
  if (found.table === null) return ['no_controls'];
  if (clicks === undefined) return ['needs_stored_days'];
  const { range, stored } = clicks;
  const reasons: EffectReason[] = [];
  const lacksDays = (days: Range): boolean => {
    for (let day = days.from; day <= days.to && day <= final; day = addDays(day, 1)) {
      if (day < range.from || stored[countDays(range.from, day) - 1] !== 1) return true;
    }
    return false;
  };
  if (lacksDays(span)) reasons.push('missing_days');
  if (metricsWithEvents([windows.before, windows.after], null, clicks.events).has('clicks'))
    reasons.push('provider_event');
  const others = clicks.notes.filter(({ id, date: day }) =>
    found.note === null ? day !== date : id !== found.note.id,
  );
  if (others.some((note) => touches(note, span))) reasons.push('other_note');
  return reasons;
}

/** Notes about the subject or a part of it that begin on a day which was asked about without one of them. */
function changesOn({ found, date, clicks }: EffectPlan): number {
  return found.note === null && clicks !== undefined ? clicks.notes.filter((note) => note.date === date).length : 1;
}

async function estimateOf(clicks: SubjectClicks, date: Day, lengths: WindowLengths): Promise<Estimate> {
  const units = [clicks.subject, ...bundle(clicks.controls, clicks.members)];
  const day = daysAfter(clicks.range.from, date);
  return inTurns(estimate({ units, stored: clicks.stored, day, lengths }));
}

function smallness({ clicks, control, placebo, effect, detectable }: Estimate): EffectReason[] {
  if (clicks < MIN_CLICKS) return ['few_clicks'];
  if (effect !== null || detectable !== null) return [];
  return [control === null && placebo.count === 0 ? 'no_controls' : 'few_placebos'];
}

function verdictOf(reasons: readonly EffectReason[], effect: Effect | null, isOver: boolean): Verdict {
  const small = reasons.some((reason) => reason === 'few_clicks' || reason === 'few_placebos');
  if (reasons.some((reason) => reason !== 'few_clicks' && reason !== 'few_placebos')) return 'not_comparable';
  if (!isOver) return 'interim';
  if (small || effect === null || effect.p === null) return 'too_small';
  if (effect.p >= LEVEL) return 'no_evidence';
  return effect.ratio > 0 ? 'more' : 'fewer';
}

interface Effect {
  readonly actual: number;
  readonly expected: number;
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly p: number | null;
}

function effectOf(
  estimated: Estimate | undefined,
  { range, subject }: SubjectClicks,
  { after }: Windows,
  { elapsed, isOver }: { readonly elapsed: number; readonly isOver: boolean },
): Effect | null {
  const effect = estimated?.effect ?? null;
  if (effect === null) return null;
  const first = daysAfter(range.from, after.from);
  const actual = clicksIn(subject, first, first + elapsed);
  const certain = (value: number): number | null => (isOver ? value : null);
  return {
    actual,
    expected: effect.expected,
    ratio: effect.ratio,
    low: certain(effect.low),
    high: certain(effect.high),
    p: certain(effect.p),
  };
}

function roundedEffect({ actual, expected, ratio, low, high, p }: Effect) {
  const orNull = (value: number | null): number | null => value && rounded(value);
  const shown = rounded(expected, 100);
  return {
    actual,
    expected: shown,
    // Of the rounded number, so that the three add up.
    difference: rounded(actual - shown, 100),
    ratio: rounded(ratio),
    low: orNull(low),
    high: orNull(high),
    p: orNull(p),
  };
}

/**
 * Clicks by day, and those expected: by the days of the controls together, scaled to the subject's clicks before the
 * change and to the expected ones after it. While it settles, the scale is the mean of both.
 */
function dailyOf({ range, subject, controls }: SubjectClicks, windows: Windows, effect: Effect | null) {
  const first = Math.max(0, daysAfter(range.from, windows.before.from));
  const change = daysAfter(range.from, windows.before.to) + 1;
  const after = daysAfter(range.from, windows.after.from);
  const end = countDays(range.from, range.to);
  const common = (from: number, to: number): number =>
    controls.reduce((sum, unit) => sum + clicksIn(unit, from, to), 0);
  const scaleOf = (total: number, from: number, to: number): number => total / Math.max(1, common(from, to));
  const usual = change > end ? 0 : scaleOf(clicksIn(subject, first, change), first, change);
  const expected = effect === null ? 0 : scaleOf(effect.expected, after, end);
  let [exact, shown] = [0, 0];
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => {
    const day = first + at;
    const scale = day < change ? usual : day < after ? (usual + expected) / 2 : expected;
    if (day === after) [exact, shown] = [0, 0];
    exact += scale * common(day, day + 1);
    // Rounded so that the days sum to what is expected of all of them.
    const value = rounded(exact - shown, 100);
    shown += value;
    return {
      date: addDays(range.from, day),
      actual: clicksOn(subject, day),
      expected: effect === null ? null : value,
    };
  });
}

function clicksOn(unit: Unit, day: number): number {
  return clicksIn(unit, day, day + 1);
}

function memberCount({ pages, keywords }: Subject): number {
  return pages.length + keywords.length;
}

function touches({ date, endDate }: Note, { from, to }: Range): boolean {
  return date <= to && (endDate ?? date) >= from;
}

function daysAfter(first: Day, day: Day): number {
  return day >= first ? countDays(first, day) - 1 : 1 - countDays(day, first);
}

function rounded(value: number, scale = 10_000): number {
  return Math.round(value * scale) / scale;
}
