import type { TrackedKeyword } from '../catalog/keywords.ts';
import type { Measures } from '../domain/metrics.ts';
import { decider, isSumTest, type LeafOf, metricOf, sumTest } from '../domain/predicate.ts';
import { everyRow } from '../domain/select-rows.ts';
import { SortKeys, sortInSteps } from '../domain/sort-steps.ts';
import { compareTexts } from '../domain/texts.ts';
import type { KeywordTotals } from '../facts/keywords.ts';
import type { FactTest, NamedTexts, ReadRow, ReadRows, RowOrder, RowPage, SumsTest } from '../facts/sums.ts';
import { inTurns } from '../runtime/turns.ts';
import { keywordDecider, namesByText } from './names.ts';
import { keyOf } from './rows.ts';

/** A question about keywords: its rows are grouped by names of keywords. */
interface KeywordsQuestion extends RowPage {
  readonly test: FactTest;
  readonly having: SumsTest | null;
  readonly isTotal: boolean;
  readonly by: readonly NamedTexts[];
}

/**
 * What `Facts.sums` answers about tracked keywords without time and device, from their totals over the range, which
 * are differences of cumulative totals: a long range costs as much as a short one. Rows are made while totals are read.
 */
export async function rowsOfKeywords(
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
