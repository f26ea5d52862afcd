import type { Measures } from '../domain/metrics.ts';
import type { NamedTest, Test, TextOperator, TextTest } from '../domain/predicate.ts';
import { type ColumnName, MEASURES, rulesOf, type StoredTable } from '../model/tables.ts';

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

/** All rows. */
export const EVERY_ROW: FactTest = { op: 'and', of: [] };

/** The rows whose column has one of some values. */
export function rowsWith(field: ColumnName, values: readonly string[]): FactTest {
  return { op: 'equals', field, values, fold: false };
}

/** How rows are sorted: by a measure or a ratio, or by the index of what they are grouped by. */
export interface RowOrder {
  readonly by: 'clicks' | 'impressions' | 'ctr' | 'position' | number;
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
  readonly measures: Sums;
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

const ORDERS = {
  clicks: 'clicks',
  impressions: 'impressions',
  ctr: 'clicks / nullif(impressions, 0)',
  position: '("sumPosition" + impressions) / nullif(impressions, 0)',
} as const;

/** The fills of `sql/facts/sums.sql`, and the values that they bind. */
export function sumsSql({ table, by, test, hasZeros = false, isTotal = false, page }: SumsQuery): {
  readonly fills: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, BoundValue>>;
} {
  const values: Record<string, BoundValue> = page ? { limit: page.limit, offset: page.offset } : {};
  const bind = (value: BoundValue): string => {
    const name = `v${Object.keys(values).length}`;
    values[name] = value;
    return `$${name}`;
  };
  // Texts are bound, because they come from users; the names of columns are those of the model.
  const joins: string[] = [];
  const columns = by.map((one, at) => {
    if (typeof one === 'string') return `f.${one}`;
    const texts = `select unnest(${bind(one.texts)}) as text, unnest(${bind(one.names)}) as name`;
    const column = one.column === 'date' ? `cast(n${at}.text as date)` : `n${at}.text`;
    joins.push(`join (${texts}) n${at} on ${column} = f.${one.column}`);
    return `n${at}.name`;
  });
  const filter = textOf(test, bind);
  const names = rulesOf(table).measures;
  const indexes = isTotal ? [] : by.map((_, at) => at);
  const ordered = isTotal || !page ? [] : page.order.map(orderOf);
  return {
    fills: {
      // A row with several names is the same row: the columns of a table have a key.
      columns: isTotal
        ? 'distinct f.*'
        : [...columns.map((column, at) => `${column} as d${at}`), ...names.map((name) => `f.${name}`)].join(', '),
      joins: joins.join(' '),
      days: daysOf(table),
      filter,
      keys: indexes.map((at) => `cast(f.d${at} as varchar) as d${at},`).join(' '),
      sums: names.map((name) => `cast(sum(f.${name}) as double) as "${MEASURES[name].as}"`).join(', '),
      groups: indexes.length === 0 ? '' : `group by ${indexes.map((at) => `f.d${at}`).join(', ')}`,
      having: hasZeros
        ? ''
        : `having ${countsOf(names)
            .map((name) => `sum(f.${name})`)
            .join(' + ')} > 0`,
      all: page
        ? `, cast(count(*) over () as double) as "allRows", ${names.map((name) => `sum("${MEASURES[name].as}") over () as "${ofAll(name)}"`).join(', ')}`
        : '',
      page: page
        ? `order by ${[...ordered, ...indexes.map((at) => `d${at}`), `"${MEASURES[names[0]!].as}"`].join(', ')} offset $offset limit $limit`
        : '',
    },
    values,
  };
}

type Names = ReturnType<typeof rulesOf>['measures'];

/** The measures that tell whether a row counts anything: positions do not. */
function countsOf(names: Names): Names {
  return names.filter((name) => MEASURES[name].type === 'measure');
}

/** Which rows are of the days between $from and $to: a range that lies in them, a month that they touch, or a day of them. */
function daysOf(table: StoredTable): string {
  const { dayColumn } = rulesOf(table);
  if (dayColumn === 'last_day') return 'f.first_day >= cast($from as date) and f.last_day <= cast($to as date)';
  const from = dayColumn === 'month' ? "date_trunc('month', cast($from as date))" : 'cast($from as date)';
  return `f.${dayColumn} between ${from} and cast($to as date)`;
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
      measures: sumsOf(row, (name) => MEASURES[name].as),
    })),
    count: (rows[0]?.['allRows'] as number | undefined) ?? rows.length,
    total: sumsOf(rows[0], ofAll),
  };
}

function orderOf({ by, descending }: RowOrder): string {
  const what = typeof by === 'number' ? `d${by}` : ORDERS[by];
  return `${what}${descending ? ' desc' : ''} nulls last`;
}

function textOf(test: FactTest, bind: (value: BoundValue) => string): string {
  if (test.op === 'not') return `not (${textOf(test.of[0], bind)})`;
  if ('of' in test) {
    if (test.of.length === 0) return test.op === 'and' ? '1 = 1' : '1 = 0';
    return `(${test.of.map((one) => textOf(one, bind)).join(test.op === 'and' ? ' and ' : ' or ')})`;
  }
  if (test.op === 'named') return `n${test.by}.name in (select unnest(${bind(test.values)}) as name)`;
  const column = `f.${test.field}`;
  if (test.op === 'equals') return `${column} in (select unnest(${bind(test.values)}) as name)`;
  const { op } = test;
  return `(${test.values.map((value) => TEXT_TESTS[op](column, bind(value))).join(' or ')})`;
}

/** Tests of a text, to the letter. */
const TEXT_TESTS: Readonly<Record<Exclude<TextOperator, 'equals'>, (column: string, value: string) => string>> = {
  contains: (column, value) => `strpos(${column}, ${value}) > 0`,
  starts_with: (column, value) => `starts_with(${column}, ${value})`,
  ends_with: (column, value) =>
    `(length(${column}) >= length(${value}) and substr(${column}, length(${column}) - length(${value}) + 1) = ${value})`,
  matches: (column, value) => `regexp_matches(${column}, ${value})`,
};
