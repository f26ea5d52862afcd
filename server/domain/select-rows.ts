import { type CacheKey, cacheKey } from './cache-key.ts';
import { type Expression, markFound, type Steps } from './expressions.ts';
import type { Measures } from './metrics.ts';
import {
  comparedValues,
  isLeaf,
  isSumTest,
  leavesOf,
  metricOf,
  type RowTest,
  type SumTest,
  sumTest,
  type TextTest,
  textTest,
} from './predicate.ts';
import { isMetric, type RowTexts, type SortField } from './rules.ts';
import { SortKeys, sortInSteps } from './sort-steps.ts';
import { compareTexts } from './texts.ts';

/** A filter and an order of rows; null for all rows in their own order. */
export interface Selection {
  readonly filter: RowTest | null;
  readonly sort: readonly SortField[] | null;
}

/** Reads the fields of rows. */
export interface RowReaders<Row> {
  readonly measuresOf: (row: Row) => Measures;
  /** All fields that are not numbers; booleans are `true` or `false`. */
  readonly textsOf: (row: Row) => RowTexts;
  /** The rank of each row in the order of a text field, if known. */
  readonly ranks?: Readonly<Partial<Record<string, Float64Array>>>;
  /** Whether later selections reuse the columns: only then is preparing a search worthwhile. */
  readonly areKept?: boolean;
}

/** Rows read or tested per step. */
const ROWS_PER_STEP = 500;

/** Whether texts are read as they are, or in lower case. */
type Case = 'text' | 'lower';

/** Columns of rows, cached for the next filter or sort. */
export class RowColumns<Row> {
  readonly rows: readonly Row[];
  readonly #readers: RowReaders<Row>;
  readonly #numbers = new Map<string, Float64Array>();
  readonly #texts = new Map<CacheKey, (string | undefined)[]>();
  readonly #joined = new Map<CacheKey, JoinedTexts>();

  constructor(rows: readonly Row[], readers: RowReaders<Row>) {
    this.rows = rows;
    this.#readers = readers;
  }

  get areKept(): boolean {
    return this.#readers.areKept === true;
  }

  /** The numbers of a field, or ranks in the order of its texts; undefined if there are only texts. NaN: unknown. */
  *numbers(field: string): Generator<void, Float64Array | undefined> {
    if (!isMetric(field)) return this.#readers.ranks?.[field];
    const known = this.#numbers.get(field);
    if (known !== undefined) return known;
    const { rows } = this;
    const { measuresOf } = this.#readers;
    const numbers = new Float64Array(rows.length);
    for (let row = 0; row < rows.length; row++) {
      numbers[row] = metricOf(measuresOf(rows[row]!), field) ?? Number.NaN;
      if (row % ROWS_PER_STEP === 0) yield;
    }
    this.#numbers.set(field, numbers);
    return numbers;
  }

  /** 1 for each row whose text contains `value`, which `JoinedTexts` must be able to find. */
  *having(field: string, how: Case, value: string): Generator<void, Uint8Array> {
    const key = cacheKey(how, field);
    let joined = this.#joined.get(key);
    if (joined === undefined) {
      joined = yield* JoinedTexts.of(this.rows.length, (row) => this.#read(row, field, how));
      this.#joined.set(key, joined);
    }
    return yield* joined.find(value);
  }

  /** Returns a function that reads a row's text of a field. */
  texts(field: string, how: Case): (row: number) => string {
    const key = cacheKey(how, field);
    const known = this.#texts.get(key) ?? [];
    this.#texts.set(key, known);
    return (row) => (known[row] ??= this.#read(row, field, how));
  }

  /** Empty if there is no text. */
  #read(row: number, field: string, how: Case): string {
    const text = this.#readers.textsOf(this.rows[row]!)[field as keyof RowTexts] ?? '';
    return how === 'lower' ? text.toLowerCase() : text;
  }
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
  const matched = filter === null ? everyRow(rows.length) : marked(yield* markMatches(columns, filter), 1);
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

/** 1 for each row that a test holds for. Conditions are tested one by one on the rows that they decide, cheap ones first. */
export function* markMatches<Row>(columns: RowColumns<Row>, test: RowTest): Steps<Uint8Array> {
  const marks = new Uint8Array(columns.rows.length).fill(1);
  yield* decide(columns, test, marks, 1);
  return marks;
}

/** A mark of rows. */
type Mark = 0 | 1;

/** Tests the rows that have the mark `open`: 1 if the test holds, 0 if not. */
function* decide<Row>(columns: RowColumns<Row>, test: RowTest, marks: Uint8Array, open: Mark): Steps<void> {
  if (isLeaf(test)) {
    if (isSumTest(test)) yield* decideSums(columns, test, marks, open);
    else yield* decideTexts(columns, test, marks, open);
    return;
  }
  // What is still open matches so far if all must hold, and does not if one is enough.
  const own = test.op === 'not' ? open : test.op === 'and' ? 1 : 0;
  if (own === open && test.op !== 'not') {
    for (const one of cheapFirst(test.of)) yield* decide(columns, one, marks, open);
    return;
  }
  const inner = marks.map((mark) => (mark === open ? own : 1 - own));
  for (const one of cheapFirst(test.of)) yield* decide(columns, one, inner, own);
  settle(marks, inner, open, test.op === 'not' ? 0 : 1);
}

/** Numbers first, expressions last. */
function cheapFirst(tests: readonly RowTest[]): readonly RowTest[] {
  return tests.length < 2 ? tests : tests.toSorted((a, b) => costOf(a) - costOf(b));
}

function costOf(test: RowTest): number {
  return Math.max(0, ...leavesOf(test).map((leaf) => (isSumTest(leaf) ? 0 : leaf.op === 'matches' ? 2 : 1)));
}

function* decideSums<Row>(columns: RowColumns<Row>, leaf: SumTest, marks: Uint8Array, open: Mark): Steps<void> {
  const holds = sumTest(leaf);
  const numbers = (yield* columns.numbers(leaf.field))!;
  yield* decideRows((row) => holds(numbers[row]!), marks, open);
}

/** Below this share of open rows, each row is searched separately. */
const MIN_ROWS_TOGETHER = 1 / 8;

function* decideTexts<Row>(columns: RowColumns<Row>, leaf: TextTest, marks: Uint8Array, open: Mark): Steps<void> {
  const { op, field, values, fold } = leaf;
  if (op === 'matches') {
    const [text = ''] = values;
    if (values.length > 1) {
      const each = values.map((value): RowTest => ({ ...leaf, values: [value] }));
      yield* decide(columns, { op: 'or', of: each }, marks, open);
    } else yield* decideExpression(columns, field, { text, ignoresCase: fold }, marks, open);
    return;
  }
  const how = fold ? 'lower' : 'text';
  const [value = '', ...others] = comparedValues(leaf);
  const isSearch = op === 'contains' && others.length === 0 && JoinedTexts.canFind(value);
  // Searching the joined texts of all rows is faster than searching each of many.
  if (isSearch && columns.areKept && share(marks, open) > MIN_ROWS_TOGETHER) {
    settle(marks, yield* columns.having(field, how, value), open, 1);
    yield;
    return;
  }
  const textOf = columns.texts(field, how);
  const holds = textTest({ op, values, fold });
  yield* decideRows((row) => holds(textOf(row)), marks, open);
}

/** Finds an expression in the texts of open rows. */
function* decideExpression<Row>(
  columns: RowColumns<Row>,
  field: string,
  expression: Expression,
  marks: Uint8Array,
  open: Mark,
): Steps<void> {
  const textOf = columns.texts(field, 'text');
  const rows = marked(marks, open);
  const found = yield* markFound(expression, rows.length, (at) => textOf(rows[at]!));
  for (let at = 0; at < rows.length; at++) marks[rows[at]!] = found[at]!;
}

function* decideRows(holds: (row: number) => boolean, marks: Uint8Array, open: Mark): Generator<void> {
  for (let from = 0; from < marks.length; from += ROWS_PER_STEP) {
    testRows(holds, marks, open, from, Math.min(marks.length, from + ROWS_PER_STEP));
    yield;
  }
}

// These loops are separate functions, because V8 compiles loops in generators to slower code.

function testRows(holds: (row: number) => boolean, marks: Uint8Array, open: Mark, from: number, to: number): void {
  for (let row = from; row < to; row++) if (marks[row] === open) marks[row] = holds(row) ? 1 : 0;
}

/** Marks the open rows by whether `found` has the mark `wanted` for them. */
function settle(marks: Uint8Array, found: Uint8Array, open: Mark, wanted: Mark): void {
  for (let row = 0; row < marks.length; row++) {
    if (marks[row] === open) marks[row] = found[row] === wanted ? 1 : 0;
  }
}

/** The approximate share of rows with a mark, from a sample of one in 16. */
function share(marks: Uint8Array, mark: Mark): number {
  let found = 0;
  for (let row = 0; row < marks.length; row += 16) if (marks[row] === mark) found += 16;
  return found / marks.length;
}

/** The indexes of rows with a mark. */
function marked(marks: Uint8Array, mark: Mark): Uint32Array {
  const rows = new Uint32Array(marks.length);
  let count = 0;
  for (let row = 0; row < marks.length; row++) if (marks[row] === mark) rows[count++] = row;
  return rows.slice(0, count);
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

/** Texts per part: enough for a fast search, few enough for one step. */
const TEXTS_PER_PART = 4096;
const SEPARATOR = '\n';

interface Part {
  /** The texts, each followed by the separator. */
  readonly joined: string;
  /** Where each text begins, and the end. */
  readonly starts: Uint32Array;
}

/**
 * Searches many texts at once. Searching one long text is three times as fast as searching each short one, but joining
 * them takes longer than that, so it is worthwhile only for two or more searches.
 */
class JoinedTexts {
  readonly #parts: readonly Part[];
  readonly #length: number;

  private constructor(parts: readonly Part[], length: number) {
    this.#parts = parts;
    this.#length = length;
  }

  /** Whether a text can be searched for. */
  static canFind(value: string): boolean {
    return value !== '' && !value.includes(SEPARATOR);
  }

  /** @param textOf returns the text at an index */
  static *of(length: number, textOf: (at: number) => string): Generator<void, JoinedTexts> {
    const parts: Part[] = [];
    for (let first = 0; first < length; first += TEXTS_PER_PART) {
      parts.push(joinPart(first, Math.min(length, first + TEXTS_PER_PART), textOf));
      yield;
    }
    return new JoinedTexts(parts, length);
  }

  /** 1 for each text that contains `value`. */
  *find(value: string): Generator<void, Uint8Array> {
    const found = new Uint8Array(this.#length);
    for (const [index, part] of this.#parts.entries()) {
      findInPart(part, value, found.subarray(index * TEXTS_PER_PART));
      yield;
    }
    return found;
  }
}

function joinPart(first: number, end: number, textOf: (at: number) => string): Part {
  const texts: string[] = [];
  const starts = new Uint32Array(end - first + 1);
  for (let at = first; at < end; at++) {
    const text = textOf(at);
    texts.push(text);
    starts[at - first + 1] = starts[at - first]! + text.length + SEPARATOR.length;
  }
  texts.push('');
  return { joined: texts.join(SEPARATOR), starts };
}

function findInPart({ joined, starts }: Part, value: string, found: Uint8Array): void {
  let text = 0;
  for (let at = joined.indexOf(value); at !== -1; at = joined.indexOf(value, starts[text])) {
    while (starts[text + 1]! <= at) text++;
    found[text] = 1;
    text++;
  }
}
