import { markFound, type Steps } from './expressions.ts';
import type { SortField } from './filter.ts';
import { JoinedTexts } from './joined-texts.ts';
import { RowColumns, type RowReaders } from './row-columns.ts';
import { type CompiledCondition, compileCondition, type Rule } from './rules.ts';
import { SortKeys, sortInSteps } from './sort-steps.ts';
import { compareTexts } from './texts.ts';

/** A filter and an order of rows; null for all rows in their own order. */
export interface Selection {
  readonly filter: Rule | null;
  readonly sort: readonly SortField[] | null;
}

/** The rows that match a filter, sorted; ties keep their order. Yields often, because there may be many rows. */
export function* selectRows<Row>(
  rows: readonly Row[],
  selection: Selection,
  readers: RowReaders<Row>,
): Steps<readonly Row[]> {
  return yield* selectFrom(new RowColumns(rows, readers), selection);
}

/** Like `selectRows`, for rows whose columns may be reused. */
export function* selectFrom<Row>(columns: RowColumns<Row>, { filter, sort }: Selection): Steps<readonly Row[]> {
  const { rows } = columns;
  const matched = filter === null ? everyRow(rows.length) : marked(yield* markMatches(columns, filter));
  yield;
  if (sort !== null) yield* order(columns, matched, sort);
  return pick(rows, matched);
}

function pick<Row>(rows: readonly Row[], indexes: Uint32Array): Row[] {
  const picked = new Array<Row>(indexes.length);
  for (let at = 0; at < indexes.length; at++) picked[at] = rows[indexes[at]!]!;
  return picked;
}

/** The indexes of rows, in order. */
export function everyRow(length: number): Uint32Array {
  const rows = new Uint32Array(length);
  for (let row = 0; row < length; row++) rows[row] = row;
  return rows;
}

/** Rows tested per step. */
const ROWS_PER_STEP = 500;

/** 1 for each row that matches. Conditions are tested one by one on the rows they decide: numbers first, expressions last. */
export function* markMatches<Row>(columns: RowColumns<Row>, { match, conditions }: Rule): Steps<Uint8Array> {
  const { length } = columns.rows;
  const compiled = conditions.map(compileCondition);
  const cheapFirst = compiled.toSorted((a, b) => ORDER.indexOf(a.reads) - ORDER.indexOf(b.reads));
  const isAll = match === 'all';
  // Before any condition is tested, a row matches `all` and not `any`.
  const matches = new Uint8Array(length).fill(isAll ? 1 : 0);
  for (const condition of cheapFirst) {
    const { reads, field } = condition;
    if (reads === 'text') {
      yield* markExpression(columns, condition, matches, isAll);
      continue;
    }
    if (reads === 'lower' && columns.areKept && isSearchedTogether(condition, matches, isAll)) {
      const { value, found } = condition.search;
      markRows(yield* columns.having(field, value), found, matches, isAll);
      yield;
      continue;
    }
    const test = yield* tester(columns, condition);
    for (let from = 0; from < length; from += ROWS_PER_STEP) {
      testRows(test, matches, isAll, from, Math.min(length, from + ROWS_PER_STEP));
      yield;
    }
  }
  return matches;
}

const ORDER: readonly CompiledCondition['reads'][] = ['number', 'lower', 'text'];

/** Finds an expression in the texts of undecided rows. */
function* markExpression<Row>(
  columns: RowColumns<Row>,
  { field, expression }: CompiledCondition & { reads: 'text' },
  matches: Uint8Array,
  isAll: boolean,
): Steps<void> {
  const textOf = columns.texts(field, 'text');
  const undecided = marked(matches, isAll ? 1 : 0);
  const found = yield* markFound(expression, undecided.length, (at) => textOf(undecided[at]!));
  for (let at = 0; at < undecided.length; at++) matches[undecided[at]!] = found[at]!;
}

/** Below this share of undecided rows, each row is searched separately. */
const MIN_ROWS_TOGETHER = 1 / 8;

type TextCondition = CompiledCondition & { reads: 'lower' };

/** Whether searching the joined texts of all rows is faster than searching each undecided row. */
function isSearchedTogether(
  condition: TextCondition,
  matches: Uint8Array,
  isAll: boolean,
): condition is TextCondition & Required<Pick<TextCondition, 'search'>> {
  const { search } = condition;
  if (search === undefined || !JoinedTexts.canFind(search.value)) return false;
  return part(matches, isAll ? 1 : 0) > MIN_ROWS_TOGETHER;
}

// These loops are separate functions, because V8 compiles loops in generators to slower code.

function testRows(test: (row: number) => boolean, matches: Uint8Array, isAll: boolean, from: number, to: number): void {
  for (let row = from; row < to; row++) if ((matches[row] === 1) === isAll) matches[row] = test(row) ? 1 : 0;
}

/** Like `testRows`, for all rows; `having` is 1 for rows that contain the text. */
function markRows(having: Uint8Array, found: boolean, matches: Uint8Array, isAll: boolean): void {
  const wanted = found ? 1 : 0;
  for (let row = 0; row < matches.length; row++) {
    if ((matches[row] === 1) === isAll) matches[row] = having[row] === wanted ? 1 : 0;
  }
}

/** The approximate share of marks equal to `mark`, from a sample of one in 16. */
function part(marks: Uint8Array, mark: number): number {
  let found = 0;
  for (let row = 0; row < marks.length; row += 16) if (marks[row] === mark) found += 16;
  return found / marks.length;
}

/** The indices of rows with a mark. */
function marked(marks: Uint8Array, mark = 1): Uint32Array {
  const rows = new Uint32Array(marks.length);
  let count = 0;
  for (let row = 0; row < marks.length; row++) if (marks[row] === mark) rows[count++] = row;
  return rows.slice(0, count);
}

function* tester<Row>(
  columns: RowColumns<Row>,
  condition: Exclude<CompiledCondition, { reads: 'text' }>,
): Generator<void, (row: number) => boolean> {
  const { field } = condition;
  if (condition.reads === 'number') {
    const { test } = condition;
    const numbers = (yield* columns.numbers(field))!;
    return (row) => {
      const number = numbers[row]!;
      return !Number.isNaN(number) && test(number);
    };
  }
  const { reads, test } = condition;
  const textOf = columns.texts(field, reads);
  return (row) => test(textOf(row));
}

/** Sorts rows in place, by the last field first, because each sort keeps the order of equal rows. */
function* order<Row>(columns: RowColumns<Row>, rows: Uint32Array, sort: readonly SortField[]): Generator<void> {
  for (const { field, descending } of sort.toReversed()) {
    const sign = descending ? -1 : 1;
    const numbers = yield* columns.numbers(field);
    if (numbers === undefined) {
      const textOf = columns.texts(field, 'text');
      yield* sortInSteps(rows, (a, b) => sign * compareTexts(textOf(a), textOf(b)));
      continue;
    }
    const keys = SortKeys.of(numbers, rows, sign);
    yield;
    yield* keys.sort(rows);
  }
}
