import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { TextOperator } from '../domain/predicate.ts';
import type { FactColumn, FactTest, QuestionQuery, ReadRows, RowOrder } from './question.ts';
import type { FactsValue, Fills } from './reader.ts';

/** The texts of columns are bound, because they come from users; everything else is declared here. */
const COLUMNS: Readonly<Record<FactColumn, string>> = {
  date: 'f.date',
  device: 'f.device',
  country: 'f.country',
  query: 'f.query',
  url: 'f.url',
  appearance: 'f.appearance',
  segment: 'f.segment',
  keyword_id: 'f.keyword_id',
};

const ORDERS = {
  clicks: 'clicks',
  impressions: 'impressions',
  ctr: 'clicks / nullif(impressions, 0)',
  position: '("sumPosition" + impressions) / nullif(impressions, 0)',
} as const;

/** The fills of `sql/facts/question.sql`, and the values that they bind. */
export function questionSql(query: QuestionQuery): {
  readonly fills: Fills;
  readonly values: Readonly<Record<string, FactsValue>>;
} {
  const { by, test, isTotal, order, limit, offset } = query;
  const values: Record<string, FactsValue> = { limit, offset };
  const bind = (value: FactsValue): string => {
    const name = `v${Object.keys(values).length}`;
    values[name] = value;
    return `$${name}`;
  };
  const joins: string[] = [];
  const columns = by.map((one, at) => {
    if (typeof one === 'string') return COLUMNS[one];
    const texts = `select unnest(${bind(one.texts)}) as text, unnest(${bind(one.names)}) as name`;
    const column = one.column === 'date' ? `cast(n${at}.text as date)` : `n${at}.text`;
    joins.push(`join (${texts}) n${at} on ${column} = ${COLUMNS[one.column]}`);
    return `n${at}.name`;
  });
  const filter = textOf(test, bind);
  const indexes = isTotal ? [] : by.map((_, at) => at);
  const ordered = isTotal
    ? []
    : order.map(({ by: what, descending }) => `${orderOf(what)}${descending ? ' desc' : ''} nulls last`);
  return {
    fills: {
      // A row with several names is the same row: the columns of a table have a key.
      columns: isTotal
        ? 'distinct f.*'
        : [...columns.map((column, at) => `${column} as d${at}`), 'f.clicks', 'f.impressions', 'f.sum_position'].join(
            ', ',
          ),
      joins: joins.join(' '),
      filter,
      keys: indexes.map((at) => `cast(f.d${at} as varchar) as d${at},`).join(' '),
      groups: indexes.length === 0 ? '' : `group by ${indexes.map((at) => `f.d${at}`).join(', ')}`,
      order: [...ordered, ...indexes.map((at) => `d${at}`), 'clicks'].join(', '),
    },
    values,
  };
}

/** The longest list of values that is sent to another engine: Trino gets values as text, and statements may not be long. */
const MAX_DISTANT_VALUES = 2000;

/** Whether only the local engine can bind the values. */
export function hasManyValues(values: Readonly<Record<string, FactsValue>>): boolean {
  return Object.values(values).some((value) => Array.isArray(value) && value.length > MAX_DISTANT_VALUES);
}

/** A row of `sql/facts/question.sql`. */
export type QuestionRow = Measures &
  Readonly<Record<`d${number}`, string>> &
  Readonly<Record<'allRows' | 'allClicks' | 'allImpressions' | 'allSumPosition', number>>;

export function readQuestionRows(rows: readonly QuestionRow[], { by, isTotal }: QuestionQuery): ReadRows {
  const [first] = rows;
  if (first === undefined) return { rows: [], count: 0, total: NOTHING };
  const { allRows: count, allClicks: clicks, allImpressions: impressions, allSumPosition: sumPosition } = first;
  return {
    rows: rows.map((row) => ({
      names: isTotal ? [] : by.map((_, at) => row[`d${at}`]!),
      measures: { clicks: row.clicks, impressions: row.impressions, sumPosition: row.sumPosition },
    })),
    count,
    total: { clicks, impressions, sumPosition },
  };
}

function orderOf(what: RowOrder['by']): string {
  return typeof what === 'number' ? `d${what}` : ORDERS[what];
}

function textOf(test: FactTest, bind: (value: FactsValue) => string): string {
  if (test.op === 'not') return `not (${textOf(test.of[0], bind)})`;
  if ('of' in test) {
    if (test.of.length === 0) return test.op === 'and' ? '1 = 1' : '1 = 0';
    return `(${test.of.map((one) => textOf(one, bind)).join(test.op === 'and' ? ' and ' : ' or ')})`;
  }
  if (test.op === 'named') return `n${test.by}.name in (select unnest(${bind(test.values)}) as name)`;
  const column = COLUMNS[test.field];
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
