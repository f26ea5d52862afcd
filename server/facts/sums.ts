import type { Measures } from '../domain/metrics.ts';
import {
  comparedValues,
  isSumTest,
  type NamedTest,
  type SumOperator,
  type SumTest,
  type Test,
  type TextOperator,
  type TextTest,
} from '../domain/predicate.ts';
import type { Range } from '../domain/range.ts';
import {
  type ColumnName,
  MEASURES,
  type MeasureName,
  measureOf,
  rulesOf,
  type StoredTable,
  unitsOf,
} from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';

/** Names for rows of facts: a row is joined with each name that its text has here. */
export interface NamedTexts {
  readonly column: ColumnName;
  /** Each text, and its name at the same index; a text may have several names. */
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** What rows are grouped by: a column, or names for its texts. */
export type GroupedBy = ColumnName | NamedTexts;

/** Which rows of facts count: tests of a column, or of the names that `by` has at an index. */
export type FactTest = Test<TextTest<ColumnName> | NamedTest>;

/** Which rows of sums count: tests of what they are grouped by, and of the sums. */
export type SumsTest = Test<TextTest<ColumnName> | NamedTest | SumTest>;

/** All rows. */
export const EVERY_ROW: FactTest = { op: 'and', of: [] };

/** The rows whose column has one of some values. */
export function rowsWith(field: ColumnName, values: readonly string[]): FactTest {
  return { op: 'equals', field, values, fold: false };
}

/** How rows are sorted: by a metric, or by the index of what they are grouped by. */
export interface RowOrder {
  readonly by: string | number;
  readonly descending: boolean;
}

/** Which rows to return, in which order; those that are equal in it by what they are grouped by. */
export interface RowPage {
  readonly order: readonly RowOrder[];
  readonly limit: number;
  readonly offset: number;
}

/** Sums over the facts of one table, grouped. */
export interface SumsQuery {
  readonly table: StoredTable;
  readonly by: readonly GroupedBy[];
  readonly test: FactTest;
  /** Null, or left out, for all rows of sums. */
  readonly having?: SumsTest | null | undefined;
  /** With `isTotal` and `having`: the days of the rows that count, and how they are grouped. */
  readonly kept?: Pick<SumsQuery, 'by'> & { readonly range: Range };
  /** Whether sums of zeros are rows too. */
  readonly hasZeros?: boolean;
  /** Adds up everything that has any name, each row of facts once; there is one row then. */
  readonly isTotal?: boolean;
  /** Left out for all rows, in no order. */
  readonly page?: RowPage;
}

/** A row of sums, by the names of measures in `MEASURES`. */
export interface ReadRow<Sums = Measures> {
  /** What it is grouped by, in the order of `by`. */
  readonly names: readonly string[];
  readonly now: Sums;
}

/** Some of the rows, with how many there are and what they add up to; zeros if none was read. Without a page, all rows. */
export interface ReadRows<Sums = Measures> {
  readonly rows: readonly ReadRow<Sums>[];
  readonly count: number;
  /** Only of a page. */
  readonly total: Sums;
}

/** Numbers of pages, texts, and lists of texts. */
type BoundValue = string | number | readonly string[];

/** The metrics of searches, of their sums. */
const SEARCH_METRICS: Readonly<Record<string, string>> = {
  clicks: 'clicks',
  impressions: 'impressions',
  ctr: 'clicks / nullif(impressions, 0)',
  position: '("sumPosition" + impressions) / nullif(impressions, 0)',
};

/** A metric of the sums of a table in SQL. */
function metricSql(table: StoredTable, metric: string): string {
  const measure = rulesOf(table).measures.find((name) => measureOf(name).as === metric);
  const found = SEARCH_METRICS[metric] ?? (measure && `"${metric}" / ${unitsOf(measure)}`);
  if (found === undefined) throw new Error(`${table} has no ${metric}`);
  return found;
}

type Bind = (value: BoundValue) => string;
const ALL = '1 = 1';
type SumsFills = Readonly<Record<string, string>>;

/** The fills of `sql/facts/sums.sql`, and the values that they bind. */
export function sumsSql(query: SumsQuery): {
  readonly fills: SumsFills;
  readonly values: Readonly<Record<string, BoundValue>>;
} {
  const { page } = query;
  const values: Record<string, BoundValue> = page ? { limit: page.limit, offset: page.offset } : {};
  const bind: Bind = (value) => {
    const name = `v${Object.keys(values).length}`;
    values[name] = value;
    return `$${name}`;
  };
  return { fills: fillsOf(query, bind, { from: '$from', to: '$to' }), values };
}

/** @param days the first and last day in SQL */
function fillsOf(query: SumsQuery, bind: Bind, days: Range): SumsFills {
  const { table, by, test, having, kept, hasZeros = false, isTotal = false, page } = query;
  // Texts are bound, because they come from users; the names of columns are those of the model.
  const joins: string[] = [];
  const columns = by.map((one, at) => {
    if (typeof one === 'string') return `f.${one}`;
    const texts = `select unnest(${bind(one.texts)}) as text, unnest(${bind(one.names)}) as name`;
    const column = one.column === 'date' ? `cast(n${at}.text as date)` : `n${at}.text`;
    joins.push(`join (${texts}) n${at} on ${column} = f.${one.column}`);
    return `n${at}.name`;
  });
  if (isTotal && having && kept) joins.push(keptJoin({ table, test, having, by: kept.by }, kept.range, columns, bind));
  const filter = textOf(test, { table, bind, column: (field) => `f.${field}`, name: (at) => `n${at}.name` });
  const names = rulesOf(table).measures;
  const indexes = isTotal ? [] : by.map((_, at) => at);
  const ordered = isTotal || !page ? [] : page.order.map((one) => orderOf(table, one));
  return {
    // A row with several names is the same row: the columns of a table have a key.
    columns: isTotal
      ? 'distinct f.*'
      : [...columns.map((column, at) => `${column} as d${at}`), ...names.map((name) => `f.${name}`)].join(', '),
    joins: joins.join(' '),
    days: daysOf(table, days),
    filter,
    keys: indexes.map((at) => `cast(f.d${at} as varchar) as d${at},`).join(' '),
    sums: names.map((name) => `cast(${sumOf(name)} as double) as "${MEASURES[name].as}"`).join(', '),
    groups: indexes.length === 0 ? '' : `group by ${indexes.map((at) => `f.d${at}`).join(', ')}`,
    having: hasZeros
      ? ''
      : `having ${countsOf(names)
          .map((name) => `sum(f.${name})`)
          .join(' + ')} > 0`,
    where: having && !isTotal ? `where ${rowTestOf(table, having, by, bind)}` : '',
    all: page
      ? `, cast(count(*) over () as double) as "allRows", ${names.map((name) => `sum("${MEASURES[name].as}") over () as "${ofAll(name)}"`).join(', ')}`
      : '',
    page: page
      ? `order by ${[...ordered, ...indexes.map((at) => `d${at}`), `"${MEASURES[names[0]!].as}"`].join(', ')} offset $offset limit $limit`
      : '',
  };
}

/** Joins facts with the rows of sums that count, by their names, which have `columns` in SQL. */
function keptJoin(rows: SumsQuery, { from, to }: Range, columns: readonly string[], bind: Bind): string {
  const kept = sqlTemplate('facts/sums', fillsOf(rows, bind, { from: bind(from), to: bind(to) }));
  const keys = columns.map((column, at) => `k.d${at} = cast(${column} as varchar)`);
  return `join (${kept}) k on ${keys.join(' and ') || ALL}`;
}

/** A test of rows of sums, by their names d0, d1, … and sums. */
function rowTestOf(table: StoredTable, having: SumsTest, by: readonly GroupedBy[], bind: Bind): string {
  return textOf(having, { table, bind, column: (field) => `d${by.indexOf(field)}`, name: (at) => `d${at}` });
}

/** A sum of facts, in whole units. */
function sumOf(name: MeasureName): string {
  const units = unitsOf(name);
  return units === 1 ? `sum(f.${name})` : `sum(f.${name}) * ${units}`;
}

type Names = ReturnType<typeof rulesOf>['measures'];

/** The measures that tell whether a row counts anything: positions do not. */
function countsOf(names: Names): Names {
  return names.filter((name) => measureOf(name).type !== 'positionSum');
}

/** Which rows are of the days between $from and $to: a range that lies in them, a month that they touch, or a day of them. */
function daysOf(table: StoredTable, days: Range): string {
  const { dayColumn } = rulesOf(table);
  const [from, to] = [`cast(${days.from} as date)`, `cast(${days.to} as date)`];
  if (dayColumn === 'last_day') return `f.first_day >= ${from} and f.last_day <= ${to}`;
  return `f.${dayColumn} between ${dayColumn === 'month' ? `date_trunc('month', ${from})` : from} and ${to}`;
}

function ofAll(name: Names[number]): string {
  return `all ${MEASURES[name].as}`;
}

/** The longest list of values that is sent to another engine: Trino gets values as text, and statements may not be long. */
const MAX_DISTANT_VALUES = 2000;

/** Whether only the local engine can bind the values. */
export function hasManyValues(values: Readonly<Record<string, BoundValue>>): boolean {
  return Object.values(values).some((value) => Array.isArray(value) && value.length > MAX_DISTANT_VALUES);
}

/** A row of `sql/facts/sums.sql`. */
export type SumsRow = Readonly<Record<string, string | number>>;

/** The type of sums is that of the measures of the table. */
export function readSums<Sums>(rows: readonly SumsRow[], { table, by, isTotal = false }: SumsQuery): ReadRows<Sums> {
  const names = rulesOf(table).measures;
  const sumsOf = (row: SumsRow | undefined, nameOf: (name: Names[number]) => string): Sums =>
    Object.fromEntries(names.map((name) => [MEASURES[name].as, row?.[nameOf(name)] ?? 0])) as Sums;
  return {
    rows: rows.map((row) => ({
      names: isTotal ? [] : by.map((_, at) => row[`d${at}`] as string),
      now: sumsOf(row, (name) => MEASURES[name].as),
    })),
    count: (rows[0]?.['allRows'] as number | undefined) ?? rows.length,
    total: sumsOf(rows[0], ofAll),
  };
}

function orderOf(table: StoredTable, { by, descending }: RowOrder): string {
  const what = typeof by === 'number' ? `d${by}` : metricSql(table, by);
  return `${what}${descending ? ' desc' : ''} nulls last`;
}

/** Where a test finds what it tests. */
interface TestPlaces {
  readonly table: StoredTable;
  readonly bind: Bind;
  readonly column: (field: ColumnName) => string;
  readonly name: (by: number) => string;
}

/** A test in SQL, which means what `markMatches` does. */
function textOf(test: SumsTest, places: TestPlaces): string {
  const { table, bind, column, name } = places;
  if ('of' in test) {
    const parts = test.of.map((one) => textOf(one, places));
    if (test.op === 'not') return `not (${parts[0]!})`;
    if (parts.length === 0) return test.op === 'and' ? ALL : '1 = 0';
    return `(${parts.join(test.op === 'and' ? ' and ' : ' or ')})`;
  }
  // Ratios without impressions are null, and fail each comparison.
  if (isSumTest(test))
    return `coalesce(${metricSql(table, test.field)} ${COMPARISONS[test.op]} ${bind(test.value)}, false)`;
  if (test.op === 'named') return `${name(test.by)} in (select unnest(${bind(test.values)}) as name)`;
  const { op, field, fold } = test;
  if (op === 'matches') {
    const found = test.values.map(
      (value) => `regexp_matches(${column(field)}, ${bind(`${fold ? IGNORE_CASE : ''}${asWritten(value)}`)})`,
    );
    return `(${found.join(' or ')})`;
  }
  const values = comparedValues(test);
  const text = fold ? lowerCase(column(field), values) : column(field);
  if (op === 'equals') return `${text} in (select unnest(${bind(values)}) as name)`;
  return `(${values.map((value) => TEXT_TESTS[op](text, bind(value))).join(' or ')})`;
}

const COMPARISONS: Readonly<Record<SumOperator, string>> = {
  eq: '=',
  neq: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
};

/** Tests of a text, to the letter. */
const TEXT_TESTS: Readonly<
  Record<Exclude<TextOperator, 'equals' | 'matches'>, (column: string, value: string) => string>
> = {
  contains: (column, value) => `strpos(${column}, ${value}) > 0`,
  starts_with: (column, value) => `starts_with(${column}, ${value})`,
  ends_with: (column, value) =>
    `(length(${column}) >= length(${value}) and substr(${column}, length(${column}) - length(${value}) + 1) = ${value})`,
};

const IGNORE_CASE = '(?i)';

/**
 * DuckDB makes a comparison of an expression that is plain but for anchors, and takes these for ends of the text wherever
 * they are: `^^` found the empty text alone, `a^` what `^a` does. A group keeps the expression as it is, and takes six times
 * as long; an anchor at its own end needs none.
 */
function asWritten(expression: string): string {
  return /^\^?[^$^\\]*\$?$/.test(expression) ? expression : `()${expression}`;
}

const DOTTED = '\u0130';
const DOTTED_LOWER = 'i\u0307';

/** A column as JavaScript lower-cases it, as far as values tell that `canTestInSql` accepts. */
function lowerCase(column: string, values: readonly string[]): string {
  // JavaScript's lower case of one letter alone is two, which only texts with one of them can tell. A test before costs less.
  const isSame = !values.some((value) => /i|\u0307/.test(value));
  if (isSame) return `lower(${column})`;
  return `lower(case when strpos(${column}, '${DOTTED}') > 0 then replace(${column}, '${DOTTED}', '${DOTTED_LOWER}') else ${column} end)`;
}

/**
 * Letters in lower case that an engine's `lower` makes of other letters than JavaScript: the sigma, whose form depends on
 * what follows, and those that Unicode got lately. A value without them finds the same texts here and there.
 */
const UNLIKE_LOWER =
  /[\u03c2\u03c3\u0264\u019b\u1c8a\ua7cd\ua7cf\ua7d3\ua7d5\ua7db\u{10d70}-\u{10d85}\u{16ebb}-\u{16ed3}]/u;
/** What an expression that ignores case finds elsewhere in RE2 than in `re2js`: those letters, ligatures, sets that may have some. */
const UNLIKE_EXPRESSIONS =
  /\\[pPx\d]|[^ -~]-|-[^ -~]|[\u019b\u0264\u0390\u03b0\u1c89\u1c8a\u1fd3\u1fe3\ua7cb-\ua7dc\ufb05\ufb06\u{10d50}-\u{10d85}\u{16ea0}-\u{16ed3}]/u;

/** Whether SQL finds exactly the texts for a condition that `markMatches` finds. */
export function canTestInSql({ op, values, fold }: Pick<TextTest, 'op' | 'values' | 'fold'>): boolean {
  if (!fold) return true;
  if (op === 'matches') return !values.some((value) => UNLIKE_EXPRESSIONS.test(value));
  return !comparedValues({ values, fold }).some((value) => UNLIKE_LOWER.test(value));
}
