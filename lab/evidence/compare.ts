import type { KeywordSums } from '../../server/alerts/keyword-drop.ts';
import { KEYWORD_FORMULAS, KEYWORD_RULE, type KeywordDays } from './keyword-formulas.ts';
import { type ComparedRule, type Judgement, openings, worstWeek } from './openings.ts';
import { DAYS, dayOfDrop, droppedSite, FIRST_DAYS, keywordOf, siteOf } from './synthetic.ts';
import { type Formula, TRAFFIC_FORMULAS, TRAFFIC_RULE } from './traffic-formulas.ts';

/** A drop is found if an alert opens within this many days. */
const FOUND_WITHIN = 14;
/** Days before a drop that are judged too: an alert may already be open. */
const BEFORE_DROP = 40;

/** Formulas for a kind of subject, and synthetic subjects to compare them with. */
interface Comparison<Subject, Days> {
  readonly formulas: readonly Formula<Days>[];
  readonly rule: ComparedRule;
  /** Clicks or impressions a day of the synthetic subjects. */
  readonly sizes: readonly number[];
  /** Subjects with a drop. */
  readonly drops: readonly { readonly name: string; readonly of: (size: number, name: string) => Subject }[];
  readonly quiet: (size: number, name: string) => Subject;
  /** The days up to one of them; undefined if there are too few before it. */
  readonly until: (subject: Subject, day: number) => Days | undefined;
}

/** A formula with a limit. */
export interface LimitedFormula<Days> {
  readonly formula: Formula<Days>;
  readonly limit: number;
  /** Whether the limit was chosen to give as many false alerts as the first formula. */
  readonly isMatched: boolean;
}

export const TRAFFIC: Comparison<ArrayLike<number>, ArrayLike<number>> = {
  formulas: TRAFFIC_FORMULAS,
  rule: TRAFFIC_RULE,
  sizes: [7, 20, 200, 2000],
  drops: [0.3, 0.5, 0.8].map((drop) => ({
    name: `−${drop * 100} %`,
    of: (size: number, name: string) => droppedSite(size, name, drop),
  })),
  quiet: siteOf,
  until: (clicks, day) =>
    day < FIRST_DAYS ? undefined : Array.prototype.slice.call(clicks, day - FIRST_DAYS, day + 1),
};

export const KEYWORDS: Comparison<KeywordSums, KeywordDays> = {
  formulas: KEYWORD_FORMULAS,
  rule: KEYWORD_RULE,
  sizes: [4, 15, 150],
  drops: [1.5, 2, 3].map((factor) => ({
    name: `× ${factor}`,
    of: (size: number, name: string) => keywordOf(size, name, factor),
  })),
  quiet: (size, name) => keywordOf(size, name),
  until: (sums, day) => (day < FIRST_DAYS ? undefined : { sums, day }),
};

/** The judgement of a formula on each day of a subject. */
function judge<Subject, Days>(
  { until }: Pick<Comparison<Subject, Days>, 'until'>,
  formula: Formula<Days>,
  subject: Subject,
  { from, to }: { from: number; to: number },
): (Judgement | undefined)[] {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const days = until(subject, from + at);
    return days && formula.judge(days);
  });
}

/** Places of the days on which a formula opens for a real subject. @param isKnown whether a window is complete and comparable */
export function openingsOf<Subject, Days>(
  comparison: Comparison<Subject, Days>,
  { formula, limit }: Pick<LimitedFormula<Days>, 'formula' | 'limit'>,
  subject: Subject,
  days: number,
  isKnown: (from: number, day: number) => boolean,
): number[] {
  const judged = judge(comparison, formula, subject, { from: 0, to: days - 1 });
  const known = judged.map((judgement, day) => (isKnown(day - FIRST_DAYS, day) ? judgement : undefined));
  return openings(known, comparison.rule, limit);
}

/**
 * Each formula at its usual limit, and at the limit that gives as many false alerts as the first formula on other
 * subjects: only then are the shares of drops found comparable.
 */
export function withLimits<Subject, Days>(
  comparison: Comparison<Subject, Days>,
  subjects: number,
): LimitedFormula<Days>[] {
  const { formulas, rule, sizes, quiet } = comparison;
  const made = sizes.flatMap((size) => namesOf('calibration', subjects).map((name) => quiet(size, name)));
  const counterOf = (formula: Formula<Days>): ((limit: number) => number) => {
    const judged = made.map((subject) => judge(comparison, formula, subject, { from: 0, to: DAYS - 1 }));
    return (limit) => judged.reduce((total, each) => total + openings(each, rule, limit).length, 0);
  };
  const [first, ...others] = formulas;
  const wanted = counterOf(first!)(first!.limit);
  return [
    { formula: first!, limit: first!.limit, isMatched: false },
    ...others.flatMap((formula) => {
      const usual = { formula, limit: formula.limit, isMatched: false };
      if (formula.limit === 0) return [usual];
      const count = counterOf(formula);
      let [low, high] = [0, 300];
      while (high - low > 0.02) {
        const middle = (low + high) / 2;
        if (count(middle) > wanted) low = middle;
        else high = middle;
      }
      return [usual, { formula, limit: high, isMatched: true }];
    }),
  ];
}

/** Markdown rows, one for each formula and limit: false alerts a year and the share of drops found, by size. */
export function* comparedRows<Subject, Days>(
  comparison: Comparison<Subject, Days>,
  limited: readonly LimitedFormula<Days>[],
  subjects: number,
): Generator<string> {
  const { rule, sizes, drops, quiet } = comparison;
  const names = namesOf('', subjects);
  yield `| formula | opens at | false alerts a year | worst week | ${drops.map(({ name }) => `${name} found`).join(' | ')} |`;
  yield `| --- | --- | --- | --- |${' --- |'.repeat(drops.length)}`;
  for (const [formula, own] of Map.groupBy(limited, (each) => each.formula)) {
    const whole = { from: 0, to: DAYS - 1 };
    const ofQuiet = sizes.map((size) => names.map((name) => judge(comparison, formula, quiet(size, name), whole)));
    const ofDrops = drops.map(({ of }) =>
      sizes.map((size) => names.map((name) => judge(comparison, formula, of(size, name), aroundDrop(name)))),
    );
    for (const { limit, isMatched } of own) {
      const opened = ofQuiet.map((judged) => judged.map((each) => openings(each, rule, limit)));
      const alarms = opened.map((days) => (days.flat().length / subjects).toFixed(2));
      const worst = Math.max(...opened.flat().map(worstWeek));
      const isFound = (judged: (Judgement | undefined)[]): boolean =>
        openings(judged, rule, limit).some((day) => day >= BEFORE_DROP);
      const found = ofDrops.map((bySize) => bySize.map((judged) => percentOf(judged.filter(isFound), subjects)));
      const opensAt = `${limit.toFixed(1)}${isMatched ? ', matched' : ''}`;
      const cells = [formula.name, opensAt, alarms.join(' / '), worst, ...found.map((shares) => shares.join(' / '))];
      yield `| ${cells.join(' | ')} |`;
    }
  }
}

function aroundDrop(name: string): { from: number; to: number } {
  const from = dayOfDrop(name) - BEFORE_DROP;
  return { from, to: from + BEFORE_DROP + FOUND_WITHIN - 1 };
}

function namesOf(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${kind}${number}`);
}

function percentOf(part: readonly unknown[], whole: number): string {
  return `${Math.round((100 * part.length) / whole)} %`;
}
