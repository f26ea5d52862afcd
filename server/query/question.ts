import { type Compare, QUESTION_METRICS } from '../domain/comparison.ts';
import { parseDay } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { ExpressionCheck } from '../domain/expressions.ts';
import {
  comparedValues,
  conjunctsOf,
  isTextTest,
  SUM_OPERATORS,
  type SumOperator,
  type SumTest,
  TEXT_OPERATORS,
  type TextOperator,
  type TextTest,
} from '../domain/predicate.ts';
import { checkRange, MAX_DAYS, PERIOD_PATTERN, type RangeParameters } from '../domain/range.ts';
import {
  DIMENSION_NAMES,
  DIMENSIONS,
  type Dimension,
  type FactTable,
  hasMetric,
  isTime,
  questionTables,
} from '../model/tables.ts';
import { dimensionsOf, metricsIn, type QuestionTest, splitFilters, TEXTS } from './predicate.ts';
import { metricsApart, notTogether, RefusedQuestion } from './refuse.ts';

interface Sort {
  /** A dimension or metric. */
  readonly by: string;
  readonly descending: boolean;
}

/** A question as asked. All filters must hold. */
export interface Question {
  readonly range: RangeParameters;
  readonly metrics: readonly string[];
  readonly dimensions: readonly Dimension[];
  readonly filters: readonly QuestionTest[];
  /** Null for the default order. */
  readonly sort: readonly Sort[] | null;
  /** Null for all rows. */
  readonly limit: number | null;
  readonly offset: number;
  readonly compare: Compare | undefined;
  readonly totals: boolean;
  readonly quality: boolean;
  /** What is stored that answers it. */
  readonly table: FactTable;
}

/** The most rows of an answer, and the number without `limit`. */
export const MAX_ROWS = 25_000;
export const DEFAULT_ROWS = 1000;
/** The most values of all filters, and how deep filters may be nested. */
const MAX_VALUES = 1000;
const MAX_DEPTH = 8;
const MAX_CONDITIONS = 50;
const MAX_TEXT = 4096;

const PERIOD = new RegExp(PERIOD_PATTERN);

/**
 * Reads a question from its JSON; without `limit` and `offset` it may be one for all rows. Throws `invalid_request` that names the part that is wrong, and what would be right;
 * also where no stored table has the dimensions together.
 */
export function parseQuestion(text: string, { hasAllRows }: { hasAllRows: boolean }): Question {
  const sent = fieldsOf(readJson(text), 'the question', [
    'range',
    'metrics',
    'dimensions',
    'filters',
    'sort',
    'limit',
    'offset',
    'compare',
    'include',
  ]);
  const dimensions = namesOf(sent['dimensions'], 'dimensions', DIMENSION_NAMES);
  const times = dimensions.filter(isTime);
  if (times.length > 1) throw invalidRequest(`dimensions has ${times.join(' and ')}; a question has one of them.`);
  const metrics = namesOf(sent['metrics'], 'metrics', QUESTION_METRICS);
  const counts = { conditions: 0, values: 0, expressions: new ExpressionCheck() };
  const filters = listOf(sent['filters'], 'filters').map((one, at) => filterOf(one, `filters[${at}]`, counts, 1));
  const include = fieldsOf(sent['include'] ?? {}, 'include', ['totals', 'quality']);
  const sort = sent['sort'] === undefined ? null : sortOf(sent['sort'], dimensions);
  const tables = questionTables([...dimensions, ...filters.flatMap(dimensionsOf)]);
  if (tables.length === 0) throw notTogether(dimensions, filters);
  const ofSort = (sort ?? []).map(({ by }) => by).filter((name) => QUESTION_METRICS.includes(name));
  const wanted = [...new Set([...metrics, ...filters.flatMap(metricsIn), ...ofSort])];
  const table = tables.find((table) => wanted.every((metric) => hasMetric(table, metric)));
  if (table === undefined) throw metricsApart(wanted, tables, QUESTION_METRICS);
  checkAppearances(dimensions, filters);
  checkRowFilters(dimensions, filters);
  const isAll = hasAllRows && sent['limit'] === undefined && sent['offset'] === undefined;
  return {
    range: rangeOf(sent['range'], 'range'),
    metrics: QUESTION_METRICS.filter((name) =>
      metrics.length === 0 ? hasMetric(table, name) : metrics.includes(name),
    ),
    dimensions,
    filters,
    sort,
    limit: isAll ? null : wholeNumber(sent['limit'], 'limit', DEFAULT_ROWS, 1, MAX_ROWS),
    offset: wholeNumber(sent['offset'], 'offset', 0, 0, Number.MAX_SAFE_INTEGER),
    compare: sent['compare'] === undefined ? undefined : compareOf(sent['compare']),
    totals: flag(include['totals'], 'include.totals', true),
    quality: flag(include['quality'], 'include.quality', false),
    table,
  };
}

/** A search can have several appearances, so rows of several must not be added up. */
function checkAppearances(dimensions: readonly Dimension[], filters: readonly QuestionTest[]): void {
  if (dimensions.includes('appearance')) return;
  if (!filters.flatMap(dimensionsOf).includes('appearance')) return;
  const isOne = conjunctsOf(filters).some(
    (filter) => !('of' in filter) && isTextTest(filter) && comparedValues(filter).length === 1,
  );
  if (!isOne) {
    throw new RefusedQuestion(
      'filters: appearances overlap and cannot be added up; ask for one, as ["equals", "appearance", ["VIDEO"]].',
      [{ says: 'the dimension appearance', question: { dimensions: [...dimensions, 'appearance'] } }],
    );
  }
}

/** A condition on metrics is tested on the sums of a row, and so is what is joined with it by `or`. */
function checkRowFilters(dimensions: readonly Dimension[], filters: readonly QuestionTest[]): void {
  const of = splitFilters(filters).ofRows.flatMap(dimensionsOf);
  const missing = [...new Set(of)].filter((dimension) => !dimensions.includes(dimension));
  if (missing.length === 0) return;
  const names = missing.join(' and ');
  throw new RefusedQuestion(
    `filters: a condition on metrics tests the sums of a row, so that ${names} cannot stand beside it in 'or' or 'not' unless rows are by ${names}; join them by 'and', or add the dimension.`,
    [{ says: `the dimension ${names}`, question: { dimensions: [...dimensions, ...missing] } }],
  );
}

/** What all filters of a question have together. */
interface Counts {
  conditions: number;
  values: number;
  readonly expressions: ExpressionCheck;
}

function filterOf(sent: unknown, name: string, counts: Counts, depth: number): QuestionTest {
  if (depth > MAX_DEPTH) throw invalidRequest(`filters are nested more than ${MAX_DEPTH} deep.`);
  const [op, ...rest] = listOf(sent, name);
  if (op === 'and' || op === 'or') {
    if (rest.length === 0) throw invalidRequest(`${name} has nothing after '${op}'; it must have filters.`);
    return { op, of: rest.map((one, at) => filterOf(one, `${name}[${at + 1}]`, counts, depth + 1)) };
  }
  if (op === 'not') {
    if (rest.length !== 1) throw invalidRequest(`${name} must be ["not", FILTER] with one filter.`);
    return { op, of: [filterOf(rest[0], `${name}[1]`, counts, depth + 1)] };
  }
  const operator = nameOf(op, `${name}[0]`, [...TEXT_OPERATORS, ...SUM_OPERATORS, 'and', 'or', 'not']);
  counts.conditions++;
  if (counts.conditions > MAX_CONDITIONS) throw invalidRequest(`filters have more than ${MAX_CONDITIONS} conditions.`);
  const sumOperator = SUM_OPERATORS.find((one) => one === operator);
  return sumOperator === undefined
    ? textFilterOf(operator as TextOperator, rest, name, counts)
    : sumFilterOf(sumOperator, rest, name);
}

function sumFilterOf(op: SumOperator, rest: readonly unknown[], name: string): SumTest {
  const field = nameOf(rest[0], `${name}[1]`, QUESTION_METRICS);
  if (rest.length !== 2) throw invalidRequest(`${name} must be [OPERATOR, METRIC, [NUMBER]].`);
  const [value, ...more] = listOf(rest[1], `${name}[2]`);
  if (!Number.isFinite(value) || more.length > 0) {
    throw invalidRequest(`${name}[2] must be a list of one number, such as [500], not ${quoted(rest[1])}.`);
  }
  return { op, field, value: value as number };
}

function textFilterOf(op: TextOperator, rest: readonly unknown[], name: string, counts: Counts): TextTest<Dimension> {
  const field = nameOf(rest[0], `${name}[1]`, DIMENSION_NAMES);
  if (isTime(field)) throw invalidRequest(`${name}[1]: days are chosen by range, not by a filter on ${field}.`);
  if (op !== 'equals' && !TEXTS.includes(field)) {
    throw invalidRequest(`${name}[0] must be equals for ${field}, not '${op}'.`);
  }
  if (rest.length !== 2 && rest.length !== 3) {
    throw invalidRequest(
      `${name} must be [OPERATOR, DIMENSION, [VALUES]], or have {"caseSensitive": true} after them.`,
    );
  }
  const sentValues = listOf(rest[1], `${name}[2]`);
  if (sentValues.length === 0) throw invalidRequest(`${name}[2] is empty; it must have a value.`);
  const { caseSensitive } = fieldsOf(rest[2] ?? {}, `${name}[3]`, ['caseSensitive']);
  const isExact = flag(caseSensitive, `${name}[3].caseSensitive`, false);
  if (isExact && !TEXTS.includes(field)) {
    throw invalidRequest(`${name}[3]: caseSensitive is for ${TEXTS.join(', ')}, not for ${field}.`);
  }
  counts.values += sentValues.length;
  if (counts.values > MAX_VALUES) throw invalidRequest(`filters have more than ${MAX_VALUES} values.`);
  const values = sentValues.map((value) => checkedValue(value, `${name}[2]`, field));
  for (const text of op === 'matches' ? values : []) {
    const problem = counts.expressions.problemOf({ text, ignoresCase: !isExact });
    if (problem !== undefined) throw invalidRequest(`${name}[2]: ${problem}.`);
  }
  return { op, field, values: [...new Set(values)], fold: !isExact };
}

function checkedValue(sent: unknown, name: string, dimension: Dimension): string {
  if (typeof sent !== 'string' || sent === '')
    throw invalidRequest(`${name} must be a list of texts that are not empty.`);
  if (sent.length > MAX_TEXT) throw invalidRequest(`${name} has a text of more than ${MAX_TEXT} characters.`);
  if (!sent.isWellFormed() || sent.includes('\0'))
    throw invalidRequest(`${name} has a text that is not valid Unicode.`);
  if (dimension === 'country') {
    if (!/^[A-Za-z]{3}$/.test(sent))
      throw invalidRequest(`${name} must be country codes of three letters (ISO 3166-1).`);
    return sent.toLowerCase();
  }
  const choices = DIMENSIONS[dimension].words;
  return choices?.find((one) => one === sent.toLowerCase()) ?? (choices ? nameOf(sent, name, choices) : sent);
}

function rangeOf(sent: unknown, part: string): RangeParameters {
  const { from, to, period } = fieldsOf(sent ?? {}, part, ['from', 'to', 'period']);
  const day = (value: unknown, name: string): string | undefined => {
    if (value === undefined) return undefined;
    const parsed = typeof value === 'string' ? parseDay(value) : undefined;
    if (parsed === undefined) throw invalidRequest(`${name} must be a calendar day written YYYY-MM-DD.`);
    return parsed;
  };
  if (period !== undefined && !(typeof period === 'string' && PERIOD.test(period))) {
    throw invalidRequest(`${part}.period must be 1d to ${MAX_DAYS}d or 1m to 16m.`);
  }
  return {
    from: day(from, `${part}.from`),
    to: to === 'final' ? to : day(to, `${part}.to`),
    period: period as string | undefined,
  };
}

function compareOf(sent: unknown): Compare {
  if (sent === 'previous' || sent === 'year') return sent;
  if (typeof sent === 'object' && sent !== null) {
    const { from, to } = rangeOf(sent, 'compare');
    if (from !== undefined && to !== undefined && to !== 'final') return checkRange('compare', { from, to });
  }
  throw invalidRequest('compare must be previous, year, or {"from": DAY, "to": DAY}.');
}

function sortOf(sent: unknown, dimensions: readonly Dimension[]): Sort[] {
  const known = [...dimensions, ...QUESTION_METRICS];
  return listOf(sent, 'sort').map((one, at) => {
    const descending = typeof one === 'string' && one.startsWith('-');
    const by = nameOf(descending ? one.slice(1) : one, `sort[${at}]`, known);
    return { by, descending };
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalidRequest('q must be a question as JSON, such as {"dimensions": ["date"]}.');
  }
}

function fieldsOf(sent: unknown, name: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw invalidRequest(`${name} must be an object with ${known.join(', ')}.`);
  }
  // What is misspelled must not be taken for another question.
  const other = Object.keys(sent).find((field) => !known.includes(field));
  if (other !== undefined) {
    throw invalidRequest(`${name} has no '${shortened(other)}'; it has ${known.join(', ')}.`);
  }
  return sent as Readonly<Record<string, unknown>>;
}

function listOf(sent: unknown, name: string): readonly unknown[] {
  if (sent === undefined) return [];
  if (!Array.isArray(sent)) throw invalidRequest(`${name} must be a list.`);
  return sent as unknown[];
}

function namesOf<const Names extends readonly string[]>(sent: unknown, name: string, known: Names): Names[number][] {
  const names = listOf(sent, name).map((one, at) => nameOf(one, `${name}[${at}]`, known));
  if (new Set(names).size < names.length) throw invalidRequest(`${name} has a name more than once.`);
  return names;
}

function nameOf<const Names extends readonly string[]>(sent: unknown, name: string, known: Names): Names[number] {
  const found = known.find((one) => one === sent);
  if (found === undefined) throw invalidRequest(`${name} must be one of ${known.join(', ')}, not ${quoted(sent)}.`);
  return found;
}

function wholeNumber(sent: unknown, name: string, fallback: number, minimum: number, maximum: number): number {
  if (sent === undefined) return fallback;
  if (Number.isInteger(sent) && (sent as number) >= minimum && (sent as number) <= maximum) return sent as number;
  throw invalidRequest(`${name} must be a whole number from ${minimum} to ${maximum}, not ${quoted(sent)}.`);
}

function flag(sent: unknown, name: string, fallback: boolean): boolean {
  if (sent === undefined) return fallback;
  if (typeof sent !== 'boolean') throw invalidRequest(`${name} must be true or false, not ${quoted(sent)}.`);
  return sent;
}

function quoted(sent: unknown): string {
  return sent === undefined ? 'nothing' : shortened(JSON.stringify(sent));
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
