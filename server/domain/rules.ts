import { type Expression, ExpressionCheck } from './expressions.ts';
import { INTENTS } from './intent.ts';
import { hasPosition, type Measures } from './metrics.ts';

export interface Condition {
  readonly field?: string;
  readonly op: string;
  readonly value: string | number;
}

/** A rule of a keyword group (conditions name a field) or of a page group (they test the URL path). */
export interface Rule {
  readonly match: 'all' | 'any';
  readonly conditions: readonly Condition[];
}

/** The texts of a keyword or another row that rules test, besides its totals over the requested range and device. */
export type RuleTexts = Readonly<Partial<Record<TextField, string>>>;
type TextField =
  | 'query'
  | 'intent'
  | 'source'
  | 'url'
  | 'branded'
  | 'tracked'
  | 'domain'
  | 'property'
  | 'country'
  | 'language'
  | 'syncStatus';

export const SOURCES = ['suggested', 'manual', 'import'] as const;
const TEXT_FIELDS = ['query'];
const CHOICE_FIELDS: Readonly<Record<string, readonly string[]>> = { intent: INTENTS, source: SOURCES };
export const NUMBER_FIELDS = ['clicks', 'impressions', 'ctr', 'position'];
export const KEYWORD_FIELDS = [...TEXT_FIELDS, ...Object.keys(CHOICE_FIELDS), ...NUMBER_FIELDS];

/** Texts are compared without regard to case; the caller lower-cases both sides. */
const TEXT_OPERATORS: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  contains: (text, value) => text.includes(value),
  not_contains: (text, value) => !text.includes(value),
  equals: (text, value) => text === value,
  not_equals: (text, value) => text !== value,
  starts_with: (text, value) => text.startsWith(value),
  ends_with: (text, value) => text.endsWith(value),
};

const NUMBER_OPERATORS: Readonly<Record<string, (number: number, value: number) => boolean>> = {
  eq: (number, value) => number === value,
  neq: (number, value) => number !== value,
  lt: (number, value) => number < value,
  lte: (number, value) => number <= value,
  gt: (number, value) => number > value,
  gte: (number, value) => number >= value,
};

export const TEXT_OPERATOR_NAMES = [...Object.keys(TEXT_OPERATORS), 'matches'];
export const NUMBER_OPERATOR_NAMES = Object.keys(NUMBER_OPERATORS);

/** A message that names the wrong field or operator of a rule; undefined for a valid rule. */
export function ruleProblem(rule: unknown, of: 'keywords' | 'pages'): string | undefined {
  if (!isRecord(rule)) return 'the rule is not an object with match and conditions';
  if (rule['match'] !== 'all' && rule['match'] !== 'any')
    return `match must be 'all' or 'any', not ${quote(rule['match'])}`;
  const conditions = rule['conditions'];
  if (!Array.isArray(conditions)) return 'conditions must be a list';
  const expressions = new ExpressionCheck();
  for (const condition of conditions as unknown[]) {
    const problem = conditionProblem(condition, of === 'pages' ? null : KEYWORD_FIELDS, expressions);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Like `ruleProblem`, for one condition. `fields`: the valid names; null if it tests the URL path. `expressions` checks
 * the regular expressions of all conditions together.
 */
export function conditionProblem(
  condition: unknown,
  fields: readonly string[] | null,
  expressions: ExpressionCheck,
): string | undefined {
  if (!isRecord(condition)) return `a condition must be an object with op and value, not ${quote(condition)}`;
  const field = fields === null ? 'the URL path' : condition['field'];
  if (fields !== null && !(typeof field === 'string' && fields.includes(field))) {
    return `unknown field ${quote(field)}; a field is one of ${fields.join(', ')}`;
  }
  const isNumber = NUMBER_FIELDS.includes(String(field));
  const operators = isNumber ? NUMBER_OPERATOR_NAMES : TEXT_OPERATOR_NAMES;
  const { op, value } = condition;
  if (typeof op !== 'string' || !operators.includes(op)) {
    return `unknown operator ${quote(op)} for ${String(field)}; an operator is one of ${operators.join(', ')}`;
  }
  if (isNumber) {
    return typeof value === 'number' && Number.isFinite(value)
      ? undefined
      : `the value of ${String(field)} ${op} must be a number, not ${quote(value)}`;
  }
  if (typeof value !== 'string') return `the value of ${String(field)} ${op} must be a text, not ${quote(value)}`;
  return op === 'matches' ? expressions.problemOf(expressionOf(value)) : undefined;
}

/** A compiled rule. The result of its conditions on texts does not depend on a range, so it can be cached. */
export interface CompiledRule {
  /** The rule without its conditions on numbers. */
  readonly ofTexts: Rule;
  /** Whether there are conditions on numbers. Without them `ofTexts` decides. */
  readonly readsNumbers: boolean;
  /** Whether a keyword matches the rule. `texts`: whether it matches `ofTexts`. */
  readonly matches: (texts: boolean, measures: Measures) => boolean;
}

/** Compiles a rule that has passed `ruleProblem`. Ratios are compared unrounded. */
export function compileRule({ match, conditions }: Rule): CompiledRule {
  const numbers = conditions
    .map(compileCondition)
    .filter((condition) => condition.reads === 'number')
    .map(numberTest);
  return {
    ofTexts: { match, conditions: conditions.filter(({ field }) => !NUMBER_FIELDS.includes(field ?? '')) },
    readsNumbers: numbers.length > 0,
    matches:
      match === 'all'
        ? (matched, measures) => matched && numbers.every((test) => test(measures))
        : (matched, measures) => matched || numbers.some((test) => test(measures)),
  };
}

/** A condition of a rule. It tests known numbers, texts in lower case, or finds an expression in texts. */
export type CompiledCondition =
  | { readonly reads: 'number'; readonly field: string; readonly test: (number: number) => boolean }
  | { readonly reads: 'text'; readonly field: string; readonly expression: Expression }
  | {
      readonly reads: 'lower';
      readonly field: string;
      readonly test: (text: string) => boolean;
      /** For a plain search: the text to find, and whether it must be found. */
      readonly search?: { readonly value: string; readonly found: boolean };
    };

/** Compiles a condition that has passed `conditionProblem`. */
export function compileCondition({ field = '', op, value }: Condition): CompiledCondition {
  if (NUMBER_FIELDS.includes(field)) {
    const compare = NUMBER_OPERATORS[op]!;
    const operand = Number(value);
    return { reads: 'number', field, test: (number) => compare(number, operand) };
  }
  if (op === 'matches') {
    return { reads: 'text', field, expression: expressionOf(String(value)) };
  }
  const compare = TEXT_OPERATORS[op]!;
  const operand = String(value).toLowerCase();
  const search = op === 'contains' || op === 'not_contains' ? { value: operand, found: op === 'contains' } : undefined;
  return { reads: 'lower', field, test: (text) => compare(text, operand), ...(search && { search }) };
}

function numberTest({ field, test }: CompiledCondition & { reads: 'number' }): (measures: Measures) => boolean {
  return (measures) => {
    const number = numberOf(measures, field);
    return number !== undefined && test(number);
  };
}

/** The text of a field; empty if there is none. */
export function textOf(texts: RuleTexts, field: string): string {
  return texts[field as TextField] ?? '';
}

/**
 * The unrounded number of a field. Undefined for a ratio without impressions and for unknown numbers (NaN): no
 * condition matches these.
 */
export function numberOf(subject: Measures, field: string): number | undefined {
  if (Number.isNaN(subject.impressions)) return undefined;
  if (field === 'clicks') return subject.clicks;
  if (field === 'impressions') return subject.impressions;
  if (subject.impressions === 0) return undefined;
  if (field === 'ctr') return subject.clicks / subject.impressions;
  return hasPosition(subject) ? (subject.sumPosition + subject.impressions) / subject.impressions : undefined;
}

function expressionOf(text: string): Expression {
  return { text, ignoresCase: true };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quote(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
