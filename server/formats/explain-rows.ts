import type { ExplainResult } from '../reports/explain.ts';
import type { ExplainBy } from '../reports/explain-rows.ts';
import { batchOf, type Cell, type Column, type RowsAnswer } from './rows.ts';

/** Columns of the key of a row, the readable one last. */
const KEYS: Readonly<Record<ExplainBy, readonly string[]>> = {
  page: ['page'],
  query: ['query'],
  keyword: ['keyword_id', 'keyword_query'],
  device: ['device'],
  country: ['country'],
  brand: ['segment'],
};

const NUMBERS: readonly Column[] = [
  ...['clicks', 'impressions'].flatMap((name) =>
    ['now', 'base', 'difference'].map((of): Column => ({ name: `${name}_${of}`, type: 'count' })),
  ),
  { name: 'position_now', type: 'ratio' },
  { name: 'position_base', type: 'ratio' },
  ...['impressions', 'position', 'ctr', 'gained', 'lost', 'clicks', 'notAttributed'].map(
    (name): Column => ({ name: `parts_${name}`, type: 'count' }),
  ),
];

/** Cells by the name of their column; those left out are empty. */
type FlatRow = Readonly<Record<string, Cell>>;

/**
 * The rows, then `_rest` for those that are left out and `_not_attributed` for what no row can say, so that the sum of a
 * column is that of the property.
 */
export function explainRows(answer: ExplainResult): RowsAnswer {
  const { project, range, change, by, quality, parts, rows, rest } = answer;
  const keys = KEYS[by];
  const named = (key: string): FlatRow => ({ [keys.at(-1)!]: key });
  const hasRest = rest.rows > 0 || Object.values(rest.parts).some((part) => part !== null && part !== 0);
  const listed = [...rows, ...(hasRest ? [rest] : [])];
  const sumOf = (of: 'now' | 'base'): number => listed.reduce((sum, { clicks }) => sum + clicks[of], 0);
  const clicks = { now: change.clicks.now - sumOf('now'), base: change.clicks.base - sumOf('base') };
  const notAttributed = {
    clicks: { ...clicks, difference: parts.notAttributed },
    parts: { notAttributed: parts.notAttributed },
  };
  const flat: FlatRow[] = [
    ...rows.map((row) => flattened(row)),
    ...(hasRest ? [{ ...named('_rest'), ...flattened({ clicks: rest.clicks, parts: rest.parts }) }] : []),
    { ...named('_not_attributed'), ...flattened(notAttributed) },
  ];
  const columns = [...keys.map((name): Column => ({ name, type: 'text' })), ...NUMBERS];
  return {
    head: { name: `${project.domain}-explain`, total: rows.length + rest.rows, range, ...(quality && { quality }) },
    columns,
    batches: [
      batchOf(
        flat,
        columns.map(
          ({ name }) =>
            (row: FlatRow): Cell =>
              row[name] ?? null,
        ),
      ),
    ],
  };
}

/** The properties of objects, with the names of the objects before theirs. */
function flattened(row: object): FlatRow {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]: [string, Cell | Readonly<Record<string, Cell>>]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, cell]) => [nested(name, inner), cell as Cell] as const)
        : [[name, value as Cell] as const],
    ),
  );
}

function nested(name: string, inner: string): string {
  return `${name}_${inner}`;
}
