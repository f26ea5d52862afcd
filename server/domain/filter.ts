import { invalidRequest } from './errors.ts';
import { ExpressionCheck } from './expressions.ts';
import { INDEX_ROW_FIELDS } from './index-state.ts';
import { INTENTS } from './intent.ts';
import { type Condition, conditionProblem, NUMBER_FIELDS, NUMBER_OPERATOR_NAMES, type Rule, SOURCES } from './rules.ts';

/** What kind of value a field has: a text, one of a few words, a number or a boolean. */
type FieldKind = 'text' | 'number' | 'boolean' | readonly string[];
export type Fields = Readonly<Record<string, FieldKind>>;

/** How the last sync of a project ended. */
export const SYNC_STATES = ['pending', 'ok', 'warning', 'failed'] as const;

const METRIC_FIELDS = Object.fromEntries(NUMBER_FIELDS.map((name) => [name, 'number' as const]));

/** The fields that rows can be filtered and sorted by. */
export const ROW_FIELDS = {
  keywords: { query: 'text', intent: INTENTS, source: SOURCES, ...METRIC_FIELDS },
  pages: { url: 'text', ...METRIC_FIELDS },
  portfolio: {
    domain: 'text',
    property: 'text',
    country: 'text',
    language: 'text',
    syncStatus: SYNC_STATES,
    ...METRIC_FIELDS,
  },
  queries: { query: 'text', ...METRIC_FIELDS, branded: 'boolean', tracked: 'boolean' },
  index: Object.fromEntries(INDEX_ROW_FIELDS.map((name) => [name, 'text' as const])),
} satisfies Readonly<Record<string, Fields>>;

const MAX_CHARACTERS = 4096;
const MAX_CONDITIONS = 50;
const BOOLEAN_OPERATORS: Readonly<Record<string, string>> = { eq: 'equals', neq: 'not_equals' };

/** Parses a filter: conditions as `field:op:value;…`, or a rule as JSON. Throws `invalid_request` with valid values. */
export function parseFilter(text: string, fields: Fields): Rule {
  if (text.length > MAX_CHARACTERS) throw wrong(`it has ${text.length} characters; at most ${MAX_CHARACTERS} are read`);
  const { match, conditions } = readFilter(text, fields);
  if (conditions.length === 0) throw wrong('it has no conditions');
  if (conditions.length > MAX_CONDITIONS) throw wrong(`it has more than ${MAX_CONDITIONS} conditions`);
  const expressions = new ExpressionCheck();
  return { match, conditions: conditions.map((condition) => checked(condition, fields, expressions)) };
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
    return { field, op, value: fields[field] === 'number' ? numberOf(value) : value };
  });
  return { match: 'all', conditions };
}

/** Parses a decimal number; returns other texts unchanged, which are rejected later. */
function numberOf(text: string): number | string {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function checked(given: unknown, fields: Fields, expressions: ExpressionCheck): Condition {
  const { field, op, value } = (given ?? {}) as Partial<Condition>;
  const kind = typeof field === 'string' && Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (kind === 'boolean') return checkedBoolean({ field: field!, op, value });
  const problem = conditionProblem(given, Object.keys(fields), expressions);
  if (problem !== undefined) throw wrong(problem);
  const isWord = typeof kind === 'object' && (op === 'equals' || op === 'not_equals');
  if (isWord && !kind.includes(String(value).toLowerCase())) {
    throw wrong(`unknown ${field} ${JSON.stringify(value)}; it is one of ${kind.join(', ')}`);
  }
  return { field: field!, op: op!, value: value! };
}

/** Booleans are compared as texts. */
function checkedBoolean({ field, op, value }: { field: string; op: unknown; value: unknown }): Condition {
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
export const FILTER_HELP = `Only rows that match: \`field:operator:value\`, several joined by \`;\` (and), or JSON \`{"match":"any","conditions":[{"field","op","value"}]}\`. Numbers are compared by ${NUMBER_OPERATOR_NAMES.join(', ')}, unrounded.`;
