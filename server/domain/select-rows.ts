import type { SortField } from './filter.ts';
import type { Measures } from './metrics.ts';
import { compileRule, NUMBER_FIELDS, numberOf, type Rule, type RuleTexts } from './rules.ts';
import { compareTexts } from './texts.ts';

/** A filter and an order of rows; null for all rows in their own order. */
export interface Selection {
  readonly filter: Rule | null;
  readonly sort: readonly SortField[] | null;
}

/** How rows are read. */
interface RowReaders<Row> {
  readonly measuresOf: (row: Row) => Measures;
  /** All fields that are not numbers; booleans are `true` or `false`. */
  readonly textsOf: (row: Row) => RuleTexts;
}

/** A row takes about a microsecond. */
const ROWS_PER_STEP = 50;

/** The rows that match a filter, sorted; ties keep their order. Yields often, because there may be many rows. */
export function* selectRows<Row>(
  rows: readonly Row[],
  { filter, sort }: Selection,
  readers: RowReaders<Row>,
): Generator<void, readonly Row[]> {
  const kept = filter === null ? rows : yield* matching(rows, filter, readers);
  return sort === null ? kept : yield* sorted(kept, sort, readers);
}

function* matching<Row>(
  rows: readonly Row[],
  filter: Rule,
  { measuresOf, textsOf }: RowReaders<Row>,
): Generator<void, Row[]> {
  const rule = compileRule(filter);
  const kept: Row[] = [];
  for (const [index, row] of rows.entries()) {
    if (rule.matches(rule.matchesTexts(textsOf(row)), measuresOf(row))) kept.push(row);
    if (index % ROWS_PER_STEP === 0) yield;
  }
  return kept;
}

type Compare = (a: number, b: number) => number;

function* sorted<Row>(
  rows: readonly Row[],
  sort: readonly SortField[],
  readers: RowReaders<Row>,
): Generator<void, Row[]> {
  const comparisons: Compare[] = [];
  for (const field of sort) comparisons.push(yield* comparison(rows, field, readers));
  const order = Uint32Array.from(rows.keys());
  order.sort((a, b) => {
    for (const compare of comparisons) {
      const difference = compare(a, b);
      if (difference !== 0) return difference;
    }
    return a - b;
  });
  yield;
  return Array.from(order, (index) => rows[index]!);
}

/** Compares two rows, by their index. Keys are read once for each row. */
function* comparison<Row>(
  rows: readonly Row[],
  { field, descending }: SortField,
  { measuresOf, textsOf }: RowReaders<Row>,
): Generator<void, Compare> {
  const sign = descending ? -1 : 1;
  if (!NUMBER_FIELDS.includes(field)) {
    const texts: string[] = [];
    for (const [index, row] of rows.entries()) {
      texts.push(textsOf(row)[field as keyof RuleTexts] ?? '');
      if (index % ROWS_PER_STEP === 0) yield;
    }
    return (a, b) => sign * compareTexts(texts[a]!, texts[b]!);
  }
  const numbers = new Float64Array(rows.length);
  for (const [index, row] of rows.entries()) {
    // Empty ratios come last in either direction.
    const number = numberOf(measuresOf(row), field);
    numbers[index] = number === undefined ? Number.POSITIVE_INFINITY : sign * number;
    if (index % ROWS_PER_STEP === 0) yield;
  }
  return (a, b) => (numbers[a]! === numbers[b]! ? 0 : numbers[a]! - numbers[b]!);
}
