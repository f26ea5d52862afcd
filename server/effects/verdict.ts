import type { Day } from '../domain/dates.ts';
import { percentText, wholeText } from '../domain/shown-numbers.ts';
import { MIN_PLACEBOS } from './estimate.ts';
import { MIN_CLICKS, type Windows } from './scores.ts';

export const VERDICTS = ['more', 'fewer', 'no_evidence', 'too_small', 'not_comparable', 'interim'] as const;
export type Verdict = (typeof VERDICTS)[number];

export const EFFECT_REASONS = [
  'no_controls',
  'needs_stored_days',
  'missing_days',
  'provider_event',
  'other_note',
  'few_clicks',
  'few_placebos',
] as const;
export type EffectReason = (typeof EFFECT_REASONS)[number];

/** What a sentence says; its numbers are not rounded. */
interface Judged {
  readonly verdict: Verdict;
  readonly reasons: readonly EffectReason[];
  readonly windows: Windows;
  readonly effect: {
    readonly actual: number;
    readonly expected: number;
    readonly low: number | null;
    readonly high: number | null;
  } | null;
  /** As a ratio. */
  readonly detectable: number | null;
}

const BECAUSE: Readonly<Record<EffectReason, string>> = {
  no_controls: 'there is nothing unchanged to compare with',
  needs_stored_days: 'the project stores no days of these pages or keywords',
  missing_days: 'days of the compared windows are missing',
  provider_event: 'the search engine counts clicks of the compared windows differently',
  other_note:
    'another noted change of the same pages or keywords lies in the compared windows, so the effect belongs to neither alone',
  few_clicks: `there were fewer than ${MIN_CLICKS} clicks before the change`,
  few_placebos: `there are fewer than ${MIN_PLACEBOS} comparisons without a change to judge it by, or too few of like size`,
};

/**
 * The verdict on a change in one to three sentences with its numbers.
 * @param changes how many noted changes of the day it is about
 */
export function sentenceOf(judged: Judged, changes = 1): string {
  const shared = changes > 1 && judged.effect !== null ? ` ${changes} notes of this day share it.` : '';
  return `${verdictIn(judged)}${shared}`;
}

function verdictIn(judged: Judged): string {
  const { verdict, reasons, effect } = judged;
  const because = reasons.map((reason) => BECAUSE[reason]).join(', and ');
  switch (verdict) {
    case 'more':
    case 'fewer': {
      const { actual, expected, low, high } = effect!;
      const direction = verdict === 'more' ? 'more' : 'fewer';
      return `${share(actual, expected)}${direction} clicks than expected (95% interval: ${signed(low!)} to ${signed(high!)}): ${numbers(effect!)}.`;
    }
    case 'no_evidence':
      return `No evidence of an effect: ${numbers(effect!)}. ${unseen(judged)}`.trim();
    case 'interim':
      return [
        `Too early to say: the days after the change end on ${judged.windows.after.to}.`,
        because === '' ? unseen(judged) : `As of now, it would be too small to judge: ${because}.`,
      ]
        .join(' ')
        .trim();
    case 'too_small':
      return `Too small to judge: ${because}.`;
    case 'not_comparable':
      return `Not comparable: ${because}.`;
  }
}

function unseen({ detectable, windows }: Judged): string {
  if (detectable === null) return '';
  return `A change under ${percentText(detectable)} could not be seen here within ${daysIn(windows.after)} days.`;
}

function numbers({ actual, expected }: NonNullable<Judged['effect']>): string {
  return `${wholeText(actual)} against ${wholeText(expected)}`;
}

/** How far the clicks are from those expected; empty where none were. */
function share(actual: number, expected: number): string {
  return expected === 0 ? '' : `${percentText(Math.abs(actual - expected) / expected)} `;
}

function signed(ratio: number): string {
  return `${ratio < 0 ? '−' : '+'}${percentText(Math.abs(ratio))}`;
}

function daysIn({ from, to }: { readonly from: Day; readonly to: Day }): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
}
