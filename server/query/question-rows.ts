import type { TrackedKeyword, TrackedKeywords } from '../catalog/tracked.ts';
import { pairingOf } from '../domain/compared-days.ts';
import { eachDay } from '../domain/dates.ts';
import { bucketsOf } from '../domain/intervals.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import { decider, isSumTest, type LeafOf, metricOf, sumTest } from '../domain/predicate.ts';
import { everyRow } from '../domain/select-rows.ts';
import { SortKeys, sortInSteps } from '../domain/sort-steps.ts';
import { compareTexts } from '../domain/texts.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keywords.ts';
import type {
  FactTest,
  GroupedBy,
  NamedTexts,
  ReadRow,
  ReadRows,
  RowOrder,
  RowPage,
  SumsQuery,
  SumsTest,
} from '../facts/sums.ts';
import { countsIn, type Dimension, type FactTable, intervalOf, isTime } from '../model/tables.ts';
import { inTurns } from '../runtime/turns.ts';
import { keywordDecider, namesByText, type QuestionNames } from './names.ts';
import { MAX_ROWS } from './question.ts';
import type { AskedRange, QuestionPlan, QuestionValue } from './question-plan.ts';

/** Equal for rows of the same names. */
export const keyOf = (names: readonly string[]): string => JSON.stringify(names);

interface Options {
  readonly plan: QuestionPlan & { readonly query: QuestionValue; readonly tracked: TrackedKeywords };
  readonly names: QuestionNames;
  /** The totals of keywords over one of the ranges of the plan. */
  readonly totalsOf: (range: AskedRange) => Promise<KeywordTotals>;
  readonly signal: AbortSignal;
}

/** The most rows that are read at once of a question for all. */
const PART = MAX_ROWS;

/** The sums of no rows of a table. */
export function nothingIn(table: FactTable): Measures {
  const counts = countsIn(table);
  // Rows of a table that does not count searches have other names.
  return counts === null ? NOTHING : (Object.fromEntries(counts.map(({ name }) => [name, 0])) as object as Measures);
}

/** Reads the rows of a question, of its range and of the one to compare with. */
export class QuestionRows {
  readonly #facts: Facts;
  readonly #options: Options;

  constructor(facts: Facts, options: Options) {
    this.#facts = facts;
    this.#options = options;
  }

  /**
   * A page of the rows, or the first of all, how many there are, and what they add up to, each row of facts once; null if
   * they cannot be added up, because a search can have several appearances.
   */
  async of(range: AskedRange): Promise<Omit<ReadRows, 'total'> & { total: Measures | null }> {
    const { plan, names } = this.#options;
    const { limit, offset } = plan.query;
    if (range.served === null) return { rows: [], count: 0, total: this.#adds ? nothingIn(plan.query.grain) : null };
    const by = this.#by(range);
    const { having } = names;
    const read = await this.#read(range, { by, having, limit: limit ?? PART, offset });
    const { rows } = read;
    // Beyond the last row nothing tells how many there are.
    const isBeyond = rows.length === 0 && offset > 0;
    const { count, total } = isBeyond ? await this.#read(range, { by, having, limit: 1, offset: 0 }) : read;
    if (!this.#adds) return { rows, count, total: null };
    return { rows, count, total: names.overlap ? await this.total(range) : total };
  }

  /** The rows after those that `of` has read, some at a time: only these are in memory. */
  async *after(read: number, count: number, range: AskedRange): AsyncGenerator<readonly ReadRow[]> {
    if (range.served === null || this.#options.plan.query.limit !== null) return;
    const by = this.#by(range);
    const { having } = this.#options.names;
    for (let offset = read; offset < count; offset += PART) {
      yield (await this.#read(range, { by, having, limit: PART, offset })).rows;
    }
  }

  /** The same rows over the range to compare with, by their keys. */
  async compared(base: AskedRange, rows: readonly ReadRow[]): Promise<Map<string, Measures>> {
    const { query } = this.#options.plan;
    if (base.served === null || rows.length === 0) return new Map();
    const by = this.#by(base);
    const wanted = query.dimensions.flatMap((dimension, at) => {
      const one = by[at]!;
      if (isTime(dimension) || typeof one !== 'string') return [];
      const values = [...new Set(rows.map(({ names }) => names[at]!))];
      return [{ op: 'equals', field: one, values, fold: false } as const];
    });
    const found = await this.#read(base, { by, limit: MAX_COMPARED, offset: 0, wanted });
    return new Map(found.rows.map((row) => [keyOf(row.names), row.now]));
  }

  /**
   * What all rows of the answer add up to over a range, each row of facts once; null if they cannot be added up. Conditions on
   * sums choose rows by the range of the question, also where others are to be compared with it.
   */
  async total(range: AskedRange): Promise<Measures | null> {
    if (!this.#adds) return null;
    const { plan, names } = this.#options;
    const { having } = names;
    if (range.served === null || (having !== null && plan.range.served === null)) return nothingIn(plan.query.grain);
    const page = { limit: 1, offset: 0, isTotal: true };
    if (having !== null) {
      return (await this.#read(range, { ...page, by: this.#by(range), having, isOfKept: true })).total;
    }
    // Days that stand beside none of the question's count, too.
    const by = names.overlap ? this.#by(range, range) : this.#by(range).filter(isNamed);
    return (await this.#read(range, { ...page, by })).total;
  }

  /** Whether the rows can be added up. */
  get #adds(): boolean {
    return !this.#options.plan.query.dimensions.includes('appearance');
  }

  /**
   * What rows of a range are grouped by. Days, weeks and months of the one to compare with are named after those of the
   * question that they stand beside.
   */
  #by(range: AskedRange, named = this.#options.plan.range): GroupedBy[] {
    return this.#options.names.by.map(({ dimension, grouped }) => {
      if (!isTime(dimension)) return grouped!;
      if (dimension === 'date' && range.from === named.from) return 'date';
      const beside = pairingOf(named, range);
      const days = bucketsOf(named, intervalOf(dimension)).flatMap((bucket) =>
        beside(bucket).flatMap(({ from, to }) => eachDay(from, to).map((day) => [day, bucket.from] as const)),
      );
      return { column: 'date', texts: days.map(([day]) => day), names: days.map(([, name]) => name) };
    });
  }

  /** Reads the served days of a range. `isOfKept`: only rows that `having` keeps in the range of the question. */
  async #read(
    range: AskedRange,
    {
      by,
      limit,
      offset,
      having = null,
      isOfKept = false,
      isTotal = false,
      wanted = [],
    }: Pick<SumsQuery, 'by' | 'having'> &
      Omit<RowPage, 'order'> & {
        isOfKept?: boolean;
        isTotal?: boolean;
        wanted?: readonly FactTest[];
      },
  ): Promise<ReadRows> {
    const { plan, names, totalsOf, signal } = this.#options;
    const { files, query } = plan;
    const test = { op: 'and', of: [names.test, ...wanted] } as const;
    const order = orderOf(query);
    const page = { order, limit, offset };
    if (plan.isOfTotals) {
      const named = { ...page, by: by.filter(isNamed), test, having, isTotal };
      return rowsOfKeywords(named, plan.tracked.keywords, totalsOf(range), isOfKept ? totalsOf(plan.range) : undefined);
    }
    return this.#facts.sums({
      files,
      range: range.served!,
      signal,
      table: query.grain,
      by,
      test,
      having,
      ...(isOfKept && { kept: { range: plan.range.served!, by: this.#by(plan.range) } }),
      isTotal,
      page,
    });
  }
}

/** More rows than an answer has, with a day of each for the longest range. */
const MAX_COMPARED = 2 ** 31 - 1;

function isNamed(by: GroupedBy): by is NamedTexts {
  return typeof by === 'object' && by.column !== 'date';
}

/** What is asked for, or else time, goes first; then the most of what is counted. */
function orderOf({ sort, dimensions, grain }: QuestionValue): RowOrder[] {
  const time = dimensions.findIndex(isTime);
  const first =
    sort === null
      ? time < 0
        ? []
        : [{ by: time, descending: false }]
      : sort.map(({ by, descending }) => {
          const at = dimensions.indexOf(by as Dimension);
          return { by: at < 0 ? by : at, descending };
        });
  const most = countsIn(grain)?.map(({ name }) => name) ?? ['clicks', 'impressions'];
  return [...first, ...most.slice(0, 2).map((by) => ({ by, descending: true }))];
}

/** A question about keywords: its rows are grouped by names of keywords. */
interface KeywordsQuestion extends RowPage {
  readonly test: FactTest;
  readonly having: SumsTest | null;
  readonly isTotal: boolean;
  readonly by: readonly NamedTexts[];
}

/**
 * What `Facts.sums` answers about tracked keywords without time and device, from their totals over the range, which
 * are differences of running totals: a long range costs as much as a short one. Rows are made while totals are read.
 */
async function rowsOfKeywords(
  asked: KeywordsQuestion,
  keywords: readonly TrackedKeyword[],
  totals: Promise<KeywordTotals>,
  keptTotals?: Promise<KeywordTotals>,
): Promise<ReadRows> {
  const { by, test, having, isTotal, order, limit, offset } = asked;
  const named = by.map((one) => namesByKeyword(one, keywords));
  const isPlain = named.length === 1 && isEmpty(test) && !isTotal;
  const kept = keptTotals && (await keptKeys(asked, keywords, keptTotals));
  const made = (isPlain && named[0]!.rows) || inTurns(rowsFor(keywords, named, keywordDecider(test), isTotal, kept));
  const [rows, read] = await Promise.all([made, totals]);
  if (isPlain) named[0]!.rows = rows;
  const sums = new RowSums(rows, read, isTotal ? null : having);
  const byNames = named.map((_, at): RowOrder => ({ by: at, descending: false }));
  const sorted = await inTurns(inOrder(sums, rows.areInOrder ? beforeNames(order) : [...order, ...byNames]));
  return { rows: sums.at(sorted.subarray(offset, offset + limit)), count: sorted.length, total: sums.total };
}

/** The keys of the rows that count. */
async function keptKeys(
  asked: KeywordsQuestion,
  keywords: readonly TrackedKeyword[],
  totals: Promise<KeywordTotals>,
): Promise<ReadonlySet<string>> {
  const all = { isTotal: false, order: [], limit: Number.POSITIVE_INFINITY, offset: 0 };
  const { rows } = await rowsOfKeywords({ ...asked, ...all }, keywords, totals);
  return new Set(rows.map(({ names }) => keyOf(names)));
}

/** What is to be sorted by where rows are in the order of their names already, which none shares. */
function beforeNames(order: readonly RowOrder[]): readonly RowOrder[] {
  const at = order.findIndex(({ by, descending }) => by === 0 && !descending);
  return at < 0 ? order : order.slice(0, at);
}

/** Whether there is nothing to test. */
function isEmpty(test: FactTest): boolean {
  return test.op === 'and' && test.of.every(isEmpty);
}

/** Keywords per step. */
const KEYWORDS_PER_STEP = 250;

/** The rows that keywords count in, with their names. */
function* rowsFor(
  keywords: readonly TrackedKeyword[],
  named: readonly KeywordNames[],
  decide: ReturnType<typeof keywordDecider>,
  isTotal: boolean,
  kept: ReadonlySet<string> | undefined,
): Generator<void, KeywordRows> {
  const areUnique = !isTotal && named.some(({ areInOrder }) => areInOrder);
  const rows = new KeywordRows(areUnique && named.length === 1);
  const known = new Map<string, number>();
  const rowOf = (names: readonly string[]): number => {
    if (areUnique) return rows.length;
    const key = keyOf(names);
    const row = known.get(key) ?? rows.length;
    known.set(key, row);
    return row;
  };
  // A separate function, because V8 compiles loops in generators to slower code.
  const count = (keyword: TrackedKeyword): void => {
    for (const found of combined(named, keyword)) {
      if (decide(keyword.id, found) !== true || kept?.has(keyOf(found)) === false) continue;
      const names = isTotal ? [] : found;
      rows.count(keyword.index, rowOf(names), names);
      // Of a total, a keyword with several names counts once.
      if (isTotal) break;
    }
  };
  for (let from = 0; from < keywords.length; from += KEYWORDS_PER_STEP) {
    keywords.slice(from, from + KEYWORDS_PER_STEP).forEach(count);
    yield;
  }
  return rows;
}

/** Which keyword counts in which row. */
class KeywordRows {
  /** Whether rows are in the order of their names. */
  readonly areInOrder: boolean;
  readonly names: (readonly string[])[] = [];
  readonly #keywords: number[] = [];
  readonly #rows: number[] = [];

  constructor(areInOrder: boolean) {
    this.areInOrder = areInOrder;
  }

  get length(): number {
    return this.names.length;
  }

  /** Counts a keyword in a row, which may be the next one. */
  count(keyword: number, row: number, names: readonly string[]): void {
    if (row === this.length) this.names.push(names);
    this.#keywords.push(keyword);
    this.#rows.push(row);
  }

  /** The sum of each row of numbers of keywords. */
  sums(ofKeywords: Float64Array): Float64Array {
    const sums = new Float64Array(this.length);
    const [keywords, rows] = [this.#keywords, this.#rows];
    for (let at = 0; at < rows.length; at++) sums[rows[at]!]! += ofKeywords[keywords[at]!]!;
    return sums;
  }
}

/** The sums of rows, in columns. */
class RowSums implements Record<keyof Measures, Float64Array> {
  readonly names: KeywordRows['names'];
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  readonly sumPosition: Float64Array;
  /** The rows with clicks or impressions that count. */
  readonly found: Uint32Array;

  constructor(rows: KeywordRows, { clicks, impressions, sumPosition }: KeywordTotals, having: SumsTest | null) {
    this.names = rows.names;
    this.clicks = rows.sums(clicks);
    this.impressions = rows.sums(impressions);
    this.sumPosition = rows.sums(sumPosition);
    const found = everyRow(this.names.length).filter((row) => this.clicks[row]! + this.impressions[row]! > 0);
    const counts = having && decider(having, (leaf) => this.#leaf(leaf));
    this.found = counts === null ? found : found.filter((row) => counts(row) === true);
  }

  /** What the rows that count add up to. */
  get total(): Measures {
    const { found, clicks, impressions, sumPosition } = this;
    return {
      clicks: sumOf(clicks, found),
      impressions: sumOf(impressions, found),
      sumPosition: sumOf(sumPosition, found),
    };
  }

  #leaf(leaf: LeafOf<SumsTest>): (row: number) => boolean | undefined {
    if (isSumTest(leaf)) {
      const holds = sumTest(leaf);
      return (row) => holds(metricOf(this.#measures(row), leaf.field));
    }
    const values = new Set(leaf.values);
    return leaf.op === 'named' ? (row) => values.has(this.names[row]![leaf.by]!) : () => undefined;
  }

  /** Numbers to sort rows by; NaN for ratios without a value. */
  numbers(by: string): Float64Array {
    if (by === 'clicks' || by === 'impressions') return this[by];
    return this.clicks.map((_, row) => metricOf(this.#measures(row), by) ?? Number.NaN);
  }

  /** The rows at some indexes. */
  at(indexes: Uint32Array): ReadRow[] {
    const rows: ReadRow[] = [];
    for (let at = 0; at < indexes.length; at++) {
      const row = indexes[at]!;
      rows.push({ names: this.names[row]!, now: this.#measures(row) });
    }
    return rows;
  }

  #measures(row: number): Measures {
    return { clicks: this.clicks[row]!, impressions: this.impressions[row]!, sumPosition: this.sumPosition[row]! };
  }
}

function sumOf(numbers: Float64Array, rows: Uint32Array): number {
  let sum = 0;
  for (let at = 0; at < rows.length; at++) sum += numbers[rows[at]!]!;
  return sum;
}

/** What the keywords of a project are called in a list of names, by the index of the keyword. */
interface KeywordNames {
  /** Each name as the names of a row. */
  readonly names: readonly (readonly (readonly string[])[])[];
  /** Whether each keyword has other names than those before it, in order. */
  readonly areInOrder: boolean;
  /** The rows of questions without filters, if one was asked. */
  rows?: KeywordRows;
}

/** By lists of names, some of which several questions share. */
const known = new WeakMap<NamedTexts, KeywordNames>();

function namesByKeyword(by: NamedTexts, keywords: readonly TrackedKeyword[]): KeywordNames {
  const found = known.get(by);
  if (found !== undefined) return found;
  const byText = namesByText(by);
  const names = keywords.map(({ id }) => (byText.get(id) ?? []).map((name) => [name]));
  const all = names.flat(2);
  const made: KeywordNames = {
    names,
    areInOrder: all.every((name, at) => at === 0 || compareTexts(all[at - 1]!, name) < 0),
  };
  known.set(by, made);
  return made;
}

/** Each combination of the names of a keyword. */
function combined(named: readonly KeywordNames[], { index }: TrackedKeyword): readonly (readonly string[])[] {
  if (named.length === 1) return named[0]!.names[index]!;
  return named.reduce<readonly (readonly string[])[]>(
    (all, { names }) => all.flatMap((one) => names[index]!.map((more) => [...one, ...more])),
    [[]],
  );
}

/** The rows with clicks or impressions as `sql/facts/sums.sql` sorts them: ratios without a value last. */
function* inOrder(rows: RowSums, order: readonly RowOrder[]): Generator<void, Uint32Array> {
  const { found, names } = rows;
  // Each sort keeps the order of equal rows, so that the last one goes first.
  for (const { by, descending } of order.toReversed()) {
    const sign = descending ? -1 : 1;
    if (typeof by === 'number') {
      yield* sortInSteps(found, (a, b) => sign * compareTexts(names[a]![by]!, names[b]![by]!));
    } else {
      yield* SortKeys.of(rows.numbers(by), found, sign).sort(found);
    }
  }
  return found;
}
