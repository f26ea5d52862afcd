import type { KeywordSums } from '../../server/alerts/keyword-drop.ts';
import { median, sum } from '../../server/alerts/statistics.ts';
import type { ComparedRule, Judgement } from './openings.ts';
import type { Formula } from './traffic-formulas.ts';

/** The days of a keyword up to one of them. */
export interface KeywordDays {
  readonly sums: KeywordSums;
  /** The last day, at least the 63rd. */
  readonly day: number;
}

export const KEYWORD_RULE: ComparedRule = {
  opensAfter: 3,
  resolvesAfter: 3,
  expiresAfter: 28,
  isBack: (now, { usual }) => now.value <= usual + marginOf(usual) / 2,
};

/** Impressions and position of the last week and of the eight before it. */
interface Weeks {
  readonly last: Week;
  readonly before: readonly Week[];
}

interface Week {
  readonly impressions: number;
  readonly position: number;
}

function windowOf({ impressions, positions }: KeywordSums, from: number, to: number): Week {
  const shown = impressions[to + 1]! - impressions[from]!;
  return { impressions: shown, position: (positions[to + 1]! - positions[from]!) / shown + 1 };
}

function weeksOf({ sums, day }: KeywordDays): Weeks {
  const [last, ...before] = Array.from({ length: 9 }, (_, week) =>
    windowOf(sums, day - 7 * week - 6, day - 7 * week),
  ) as [Week, ...Week[]];
  return { last, before };
}

function marginOf(usual: number): number {
  return Math.max(1.5, 0.35 * usual);
}

interface Scored {
  readonly usual: number;
  readonly last: Week;
  /** Those before it with enough impressions. */
  readonly known: readonly Week[];
  readonly days: KeywordDays;
}

/** All formulas share the conditions of the rule except its deviation. */
function formula(name: string, limit: number, score: (scored: Scored) => number): Formula<KeywordDays> {
  const judge = (days: KeywordDays): Judgement => {
    const { last, before } = weeksOf(days);
    const known = before.filter(({ impressions }) => impressions >= 10);
    const recent = before.slice(0, 4);
    const recentlyKnown = recent.filter(({ impressions }) => impressions >= 10);
    const usual = recentlyKnown.length === 0 ? Number.NaN : median(recentlyKnown.map(({ position }) => position));
    const isEligible =
      last.impressions >= 20 &&
      median(recent.map(({ impressions }) => impressions)) >= 20 &&
      known.length >= 4 &&
      usual <= 30 &&
      last.position - usual >= marginOf(usual);
    return {
      value: last.position,
      usual,
      isEligible,
      score: isEligible ? score({ usual, last, known, days }) : Number.NaN,
    };
  };
  return { name, limit, judge };
}

const logarithmsOf = (weeks: readonly Week[]): number[] => weeks.map(({ position }) => Math.log(position));
const scatterOf = (values: readonly number[]): number => {
  const middle = median(values);
  return 1.4826 * median(values.map((value) => Math.abs(value - middle)));
};

export const KEYWORD_FORMULAS: readonly Formula<KeywordDays>[] = [
  formula('logarithms, median and MAD (the rule)', 4, ({ usual, last, known }) => {
    const deviation = Math.sqrt(scatterOf(logarithmsOf(known)) ** 2 + 0.05 ** 2 + 0.25 / last.impressions);
    return (Math.log(last.position) - Math.log(usual)) / deviation;
  }),
  formula('positions, median and MAD', 4, ({ usual, last, known }) => {
    const scatter = scatterOf(known.map(({ position }) => position));
    return (last.position - usual) / Math.max(0.5, scatter);
  }),
  formula('logarithms, mean and standard deviation', 4, ({ last, known }) => {
    const logarithms = logarithmsOf(known);
    const mean = sum(logarithms) / known.length;
    const variance = sum(logarithms.map((value) => (value - mean) ** 2)) / (known.length - 1);
    return (Math.log(last.position) - mean) / Math.sqrt(variance + 0.05 ** 2 + 0.25 / last.impressions);
  }),
  formula('rank sums of days (Mann and Whitney)', 2.5, ({ days }) => rankScore(days)),
  formula('the margin alone', 0, () => 0),
];

/** The rank sum of the days of the last week among the four weeks before, in standard deviations. */
function rankScore({ sums, day }: KeywordDays): number {
  const positionsOf = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, at) => windowOf(sums, from + at, from + at))
      .filter(({ impressions }) => impressions > 0)
      .map(({ position }) => position);
  const last = positionsOf(day - 6, day);
  const before = positionsOf(day - 34, day - 7);
  if (last.length === 0 || before.length === 0) return Number.NaN;
  const worse = sum(last.flatMap((own) => before.map((other) => (own > other ? 1 : own === other ? 0.5 : 0))));
  const pairs = last.length * before.length;
  return (worse - pairs / 2) / Math.sqrt((pairs * (last.length + before.length + 1)) / 12);
}
