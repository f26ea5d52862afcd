import { type AlertRule, windowDays } from '../domain/alert-rules.ts';
import { metricOf } from '../domain/predicate.ts';
import { type DailySums, windowMeasures } from './daily-sums.ts';

/** The same weekdays a year before. */
const YEAR = 364;

export interface UserRuleResult {
  /** The value of the window, unrounded. */
  readonly figure: number;
  /** The value of the reference window; null for rules that compare with a fixed value. */
  readonly reference: number | null;
  readonly opens: boolean;
  /** Whether an open alert resolves. */
  readonly isBack: boolean;
}

/** Days before the evaluated day that a rule reads. */
export function lookBackOf(rule: AlertRule): number {
  return windowDays(rule) - 1 + referenceOffset(rule);
}

/** Days from the reference window to the evaluated window; 0 without a reference window. */
function referenceOffset(rule: AlertRule): number {
  if (rule.against === 'value') return 0;
  return rule.against === 'year' ? YEAR : windowDays(rule);
}

/** Evaluates a rule on a day; undefined if days are missing or values cannot be compared. */
export function userRule(rule: AlertRule, sums: DailySums, day: number): UserRuleResult | undefined {
  const days = windowDays(rule);
  const measures = windowMeasures(sums, day - days + 1, day);
  if (measures === undefined || measures.impressions < (rule.min_impressions ?? 0)) return undefined;
  const figure = metricOf(measures, rule.metric);
  if (figure === undefined) return undefined;
  if (rule.against === 'value') {
    const compared = rule.unit === 'percent' ? figure * 100 : figure;
    return { figure, reference: null, ...judge(rule, compared) };
  }
  const last = day - referenceOffset(rule);
  const before = windowMeasures(sums, last - days + 1, last);
  const reference = before && metricOf(before, rule.metric);
  if (reference === undefined) return undefined;
  const change = rule.op === 'falls_by' ? reference - figure : figure - reference;
  if (rule.unit === 'percent' && reference === 0) return undefined;
  return { figure, reference, ...judge(rule, rule.unit === 'percent' ? (change / reference) * 100 : change) };
}

function judge(rule: AlertRule, compared: number): Pick<UserRuleResult, 'opens' | 'isBack'> {
  const opens = holds(rule, compared);
  if (rule.resolve_at === undefined) return { opens, isBack: !opens };
  return { opens, isBack: rule.op === 'lt' ? compared >= rule.resolve_at : compared <= rule.resolve_at };
}

function holds({ op, value }: AlertRule, compared: number): boolean {
  if (op === 'lt') return compared < value;
  if (op === 'gt') return compared > value;
  // Tolerance for floating-point errors: a change by exactly the value counts.
  return compared >= value - 1e-9 * Math.abs(value);
}
