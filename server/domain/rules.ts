import { METRIC_NAMES, type MetricName } from './comparison.ts';
import { invalidRequest } from './errors.ts';
import { ExpressionCheck } from './expressions.ts';
import { INDEX_ROW_FIELDS } from './index-state.ts';
import { INTENTS } from './intent.ts';
import { type RowTest, SUM_OPERATORS, type SumOperator, TEXT_OPERATORS, type TextOperator } from './predicate.ts';

/** What kind of value a field has: a text, one of a few words, a number or a boolean. */
type FieldKind = 'text' | 'number' | 'boolean' | readonly string[];
export type Fields = Readonly<Record<string, FieldKind>>;

/** How the last sync of a project ended. */
export const SYNC_STATES = ['pending', 'ok', 'warning', 'failed'] as const;
export const SOURCES = ['suggested', 'manual', 'import'] as const;

const METRICS = { clicks: 'number', impressions: 'number', ctr: 'number', position: 'number' } as const;
const INDEX_TEXTS = Object.fromEntries(INDEX_ROW_FIELDS.map((name) => [name, 'text'])) as Readonly<
  Record<(typeof INDEX_ROW_FIELDS)[number], 'text'>
>;

/** The fields that rows can be filtered and sorted by. Rules of keyword groups have those of keywords. */
export const ROW_FIELDS = {
  keywords: { query: 'text', intent: INTENTS, source: SOURCES, ...METRICS },
  pages: { url: 'text', ...METRICS },
  portfolio: {
    domain: 'text',
    property: 'text',
    country: 'text',
    language: 'text',
    syncStatus: SYNC_STATES,
    ...METRICS,
  },
  queries: { query: 'text', ...METRICS, branded: 'boolean', tracked: 'boolean' },
  index: INDEX_TEXTS,
} as const satisfies Readonly<Record<string, Fields>>;

/** The texts of a row that conditions test, besides its sums; booleans are `true` or `false`. */
export type RowTexts = Readonly<Partial<Record<TextField, string>>>;
type FieldsOf<Kind> = Kind extends unknown ? Exclude<keyof Kind, MetricName> : never;
type TextField = FieldsOf<(typeof ROW_FIELDS)[keyof typeof ROW_FIELDS]>;

interface Condition {
  readonly field?: string;
  readonly op: string;
  readonly value: string | number;
}

/** A rule of a keyword group (conditions name a field) or of a page group (they test the URL path). */
export interface Rule {
  readonly match: 'all' | 'any';
  readonly conditions: readonly Condition[];
}

const NOT = 'not_';
export const TEXT_OPERATOR_NAMES = [
  ...['contains', 'not_contains', 'equals', 'not_equals', 'starts_with', 'ends_with', 'matches'],
] as const;
export const KEYWORD_FIELDS = Object.keys(ROW_FIELDS.keywords);

export function isMetric(field: string | undefined): field is MetricName {
  return METRIC_NAMES.some((name) => name === field);
}

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
function conditionProblem(
  condition: unknown,
  fields: readonly string[] | null,
  expressions: ExpressionCheck,
  { ignoresCase }: { readonly ignoresCase: boolean } = { ignoresCase: true },
): string | undefined {
  if (!isRecord(condition)) return `a condition must be an object with op and value, not ${quote(condition)}`;
  const field = fields === null ? 'the URL path' : condition['field'];
  if (fields !== null && !(typeof field === 'string' && fields.includes(field))) {
    return `unknown field ${quote(field)}; a field is one of ${fields.join(', ')}`;
  }
  const isNumber = isMetric(String(field));
  const operators: readonly string[] = isNumber ? SUM_OPERATORS : TEXT_OPERATOR_NAMES;
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
  return op === 'matches' ? expressions.problemOf({ text: value, ignoresCase }) : undefined;
}

/** The test of a rule that has passed `ruleProblem`. @param field what its conditions test, if they name none */
export function testOfRule({ match, conditions }: Rule, field?: 'url'): RowTest {
  return {
    op: match === 'all' ? 'and' : 'or',
    of: conditions.map((condition) => testOf({ ...condition, field: field ?? condition.field! }, true)),
  };
}

function testOf({ field, op, value }: Condition & { readonly field: string }, fold: boolean): RowTest {
  if (isMetric(field)) return { field, op: op as SumOperator, value: Number(value) };
  const isNot = op.startsWith(NOT);
  const operator = TEXT_OPERATORS.find((one) => one === (isNot ? op.slice(NOT.length) : op))!;
  const test = { field, op: operator satisfies TextOperator, values: [String(value)], fold };
  return isNot ? { op: 'not', of: [test] } : test;
}

const MAX_CHARACTERS = 4096;
const MAX_CONDITIONS = 50;
const BOOLEAN_OPERATORS: Readonly<Record<string, string>> = { eq: 'equals', neq: 'not_equals' };
/** After an operator of the short form: the text is compared to the letter. */
const EXACT = '~';

/** A condition of a filter as it was sent. */
interface SentCondition extends Condition {
  readonly caseSensitive?: unknown;
}

/** Parses a filter: conditions as `field:op:value;…`, or a rule as JSON. Throws `invalid_request` with valid values. */
export function parseFilter(text: string, fields: Fields): RowTest {
  if (text.length > MAX_CHARACTERS) throw wrong(`it has ${text.length} characters; at most ${MAX_CHARACTERS} are read`);
  const { match, conditions } = readFilter(text, fields);
  if (conditions.length === 0) throw wrong('it has no conditions');
  if (conditions.length > MAX_CONDITIONS) throw wrong(`it has more than ${MAX_CONDITIONS} conditions`);
  const expressions = new ExpressionCheck();
  return {
    op: match === 'all' ? 'and' : 'or',
    of: conditions.map((condition) => checkedTest(condition, fields, expressions)),
  };
}

/** The fields that the conditions of a filter name, unchecked, in either notation; none if it cannot be read. */
export function filterFields(text: string): string[] {
  try {
    const { conditions } = readFilter(text, {});
    return conditions.map((condition) =>
      String((condition as Partial<Condition> | null)?.field)
        .trim()
        .toLowerCase(),
    );
  } catch {
    return [];
  }
}

interface Unchecked {
  readonly match: Rule['match'];
  readonly conditions: readonly unknown[];
}

function readFilter(text: string, fields: Fields): Unchecked {
  return text.trimStart().startsWith('{') ? parseJson(text) : parseShort(text, fields);
}

function parseJson(text: string): Unchecked {
  let rule: Partial<Unchecked>;
  try {
    rule = JSON.parse(text) as Partial<Unchecked>;
  } catch {
    throw wrong('it begins like JSON and is none');
  }
  const { match, conditions } = rule;
  if (match !== 'all' && match !== 'any') throw wrong(`match must be 'all' or 'any', not ${JSON.stringify(match)}`);
  if (!Array.isArray(conditions)) throw wrong('conditions must be a list');
  return { match, conditions };
}

/** All conditions must hold. The first two colons separate the parts of a condition; `\;` is a semicolon. */
function parseShort(text: string, fields: Fields): Unchecked {
  const conditions = text.split(/(?<!\\);/).map((part) => {
    const [, field, op, value] = /^([^:]*):([^:]*):(.*)$/s.exec(part.replaceAll('\\;', ';')) ?? [];
    if (field === undefined || op === undefined || value === undefined) {
      throw wrong(`${JSON.stringify(part)} is not written field:operator:value`);
    }
    const isExact = op.endsWith(EXACT);
    return {
      field,
      op: isExact ? op.slice(0, -EXACT.length) : op,
      value: fields[field] === 'number' ? numberOf(value) : value,
      ...(isExact && { caseSensitive: true }),
    };
  });
  return { match: 'all', conditions };
}

/** Parses a decimal number; returns other texts unchanged, which are rejected later. */
function numberOf(text: string): number | string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function checkedTest(given: unknown, fields: Fields, expressions: ExpressionCheck): RowTest {
  const { field = '', op, value, caseSensitive = false } = (given ?? {}) as Partial<SentCondition>;
  const kind = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (typeof caseSensitive !== 'boolean') throw wrong('caseSensitive must be true or false');
  if (caseSensitive && kind !== undefined && kind !== 'text') {
    const texts = Object.keys(fields).filter((name) => fields[name] === 'text');
    throw wrong(`caseSensitive, or ${EXACT} after an operator, is for texts (${texts.join(', ')}), not for ${field}`);
  }
  if (kind === 'boolean') return testOf(checkedBoolean({ field, op, value }), true);
  const problem = conditionProblem(given, Object.keys(fields), expressions, { ignoresCase: !caseSensitive });
  if (problem !== undefined) throw wrong(problem);
  const isWord = typeof kind === 'object' && (op === 'equals' || op === 'not_equals');
  if (isWord && !kind.includes(String(value).toLowerCase())) {
    throw wrong(`unknown ${field} ${JSON.stringify(value)}; it is one of ${kind.join(', ')}`);
  }
  return testOf({ field, op: op!, value: value! }, !caseSensitive);
}

/** Booleans are compared as texts. */
function checkedBoolean({ field, op, value }: { field: string; op: unknown; value: unknown }) {
  const operator = typeof op === 'string' && Object.hasOwn(BOOLEAN_OPERATORS, op) ? BOOLEAN_OPERATORS[op] : undefined;
  if (operator === undefined) {
    const possible = Object.keys(BOOLEAN_OPERATORS).join(', ');
    throw wrong(`unknown operator ${JSON.stringify(op)} for ${field}; an operator is one of ${possible}`);
  }
  if (!['true', 'false'].includes(String(value))) {
    throw wrong(`the value of ${field} ${String(op)} must be true or false, not ${JSON.stringify(value)}`);
  }
  return { field, op: operator, value: String(value) };
}

function wrong(problem: string): Error {
  return invalidRequest(`filter: ${problem}.`);
}

/** A field to sort rows by. */
export interface SortField {
  readonly field: string;
  readonly descending: boolean;
}

/** Parses `-impressions,query`. Throws `invalid_request`, naming the valid fields. */
export function parseSort(text: string, fields: Fields): SortField[] {
  const sort = text.split(',').map((part) => {
    const descending = part.startsWith('-');
    const field = descending ? part.slice(1) : part;
    if (Object.hasOwn(fields, field)) return { field, descending };
    const possible = Object.keys(fields).join(', ');
    throw invalidRequest(
      `sort: unknown field ${JSON.stringify(field)}; a field is one of ${possible}, with - for descending.`,
    );
  });
  if (new Set(sort.map(({ field }) => field)).size < sort.length) throw invalidRequest('sort: it names a field twice.');
  return sort;
}

/** The documentation of filters. */
export const FILTER_HELP = `Only rows that match: \`field:operator:value\`, several joined by \`;\` (and), or JSON \`{"match":"any","conditions":[{"field","op","value"}]}\`. Texts are compared without regard to case; \`query:contains~:iPhone\`, or \`"caseSensitive":true\` in JSON, compares to the letter. Numbers are compared by ${SUM_OPERATORS.join(', ')}, unrounded.`;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quote(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
