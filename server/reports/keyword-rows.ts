import type { TrackedKeyword } from '../catalog/tracked.ts';
import type { MetricName } from '../domain/comparison.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import { numberOf } from '../domain/rules.ts';
import { everyRow } from '../domain/select-rows.ts';
import { SortKeys, sortInSteps } from '../domain/sort-steps.ts';
import { compareTexts } from '../domain/texts.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import type { NamedTexts, QuestionQuery, ReadRow, ReadRows, RowOrder, RowTest } from '../facts/question.ts';
import { inTurns } from '../runtime/turns.ts';

/** A question about keywords: its rows are grouped by names of keywords. */
interface KeywordsQuestion extends Omit<QuestionQuery, 'table' | 'by'> {
  readonly by: readonly NamedTexts[];
}

/**
 * What `Facts.question` answers about tracked keywords without time and device, from their totals over the range, which
 * are differences of running totals: a long range costs as much as a short one.
 */
export function rowsOfKeywords(
  query: KeywordsQuestion,
  keywords: readonly TrackedKeyword[],
  totals: KeywordTotals,
): Promise<ReadRows> {
  return inTurns(summed(query, keywords, totals));
}

/** Keywords summed per step. */
const KEYWORDS_PER_STEP = 250;

function* summed(
  { by, test, isTotal, order, limit, offset }: KeywordsQuestion,
  keywords: readonly TrackedKeyword[],
  totals: KeywordTotals,
): Generator<void, ReadRows> {
  const named = by.map((one) => namesByKeyword(one, keywords));
  const decide = decider(test);
  const rows = new RowSums();
  const areUnique = !isTotal && named.some(({ areInOrder }) => areInOrder);
  const places = new Map<string, number>();
  const placeOf = (names: readonly string[]): number => {
    if (areUnique) return rows.length;
    const key = names.join(' ');
    const place = places.get(key) ?? rows.length;
    places.set(key, place);
    return place;
  };
  // A separate function, because V8 compiles loops in generators to slower code.
  const count = (keyword: TrackedKeyword): void => {
    const measures = totals.of(keyword);
    if (measures.clicks + measures.impressions === 0) return;
    for (const found of combined(named, keyword)) {
      if (decide(keyword.id, found) !== true) continue;
      const names = isTotal ? [] : found;
      rows.add(placeOf(names), names, measures);
      // Of a total, a keyword with several names counts once.
      if (isTotal) break;
    }
  };
  for (let from = 0; from < keywords.length; from += KEYWORDS_PER_STEP) {
    keywords.slice(from, from + KEYWORDS_PER_STEP).forEach(count);
    yield;
  }
  const isInOrder = named.length === 1 && named[0]!.areInOrder;
  const byNames = isInOrder ? [] : named.map((_, at): RowOrder => ({ by: at, descending: false }));
  const sorted = yield* inOrder(rows, [...order, ...byNames]);
  return {
    rows: rows.at(sorted.subarray(offset, offset + limit)),
    count: rows.length,
    total: rows.total,
  };
}

/** Rows as columns, because few of many may be wanted. */
class RowSums {
  readonly names: (readonly string[])[] = [];
  readonly #clicks: number[] = [];
  readonly #impressions: number[] = [];
  readonly #sumPosition: number[] = [];

  get length(): number {
    return this.names.length;
  }

  /** Adds to a row, or adds the next one. */
  add(at: number, names: readonly string[], { clicks, impressions, sumPosition }: Measures): void {
    if (at < this.length) {
      this.#clicks[at]! += clicks;
      this.#impressions[at]! += impressions;
      this.#sumPosition[at]! += sumPosition;
      return;
    }
    this.names.push(names);
    this.#clicks.push(clicks);
    this.#impressions.push(impressions);
    this.#sumPosition.push(sumPosition);
  }

  /** The rows at some indexes. */
  at(indexes: Uint32Array): ReadRow[] {
    const rows: ReadRow[] = [];
    for (let row = 0; row < indexes.length; row++) {
      const at = indexes[row]!;
      rows.push({ names: this.names[at]!, measures: this.#measures(at) });
    }
    return rows;
  }

  /** What all rows add up to. */
  get total(): Measures {
    let { clicks, impressions, sumPosition } = NOTHING;
    for (let at = 0; at < this.length; at++) {
      clicks += this.#clicks[at]!;
      impressions += this.#impressions[at]!;
      sumPosition += this.#sumPosition[at]!;
    }
    return { clicks, impressions, sumPosition };
  }

  /** NaN for ratios without a value. */
  numbers(by: MetricName): Float64Array {
    const numbers = new Float64Array(this.length);
    for (let at = 0; at < numbers.length; at++) numbers[at] = numberOf(this.#measures(at), by) ?? Number.NaN;
    return numbers;
  }

  #measures(at: number): Measures {
    return {
      clicks: this.#clicks[at]!,
      impressions: this.#impressions[at]!,
      sumPosition: this.#sumPosition[at]!,
    };
  }
}

/** What the keywords of a project are called in a list of names, by the index of the keyword. */
interface KeywordNames {
  /** Each name as the names of a row. */
  readonly names: readonly (readonly (readonly string[])[])[];
  /** Whether each keyword has names of its own, after those of the one before. */
  readonly areInOrder: boolean;
}

/** By lists of names, some of which several questions share. */
const known = new WeakMap<NamedTexts, KeywordNames>();

function namesByKeyword(by: NamedTexts, keywords: readonly TrackedKeyword[]): KeywordNames {
  const found = known.get(by);
  if (found !== undefined) return found;
  const byText = namesByText(by);
  const names = keywords.map(({ id }) => (byText.get(id) ?? []).map((name) => [name]));
  const all = names.flat(2);
  const made = { names, areInOrder: all.every((name, at) => at === 0 || compareTexts(all[at - 1]!, name) < 0) };
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

/** The names of each keyword in a list. */
export function namesByText({ texts, names }: NamedTexts): ReadonlyMap<string, readonly string[]> {
  const byText = new Map<string, string[]>();
  for (const [at, text] of texts.entries()) {
    const known = byText.get(text);
    if (known === undefined) byText.set(text, [names[at]!]);
    else known.push(names[at]!);
  }
  return byText;
}

/**
 * Whether a test holds for all (true) or none (false) of the rows of a keyword with some names; undefined if it depends on
 * more, such as other names.
 */
export function decider(test: RowTest): (id: string, names: readonly (string | undefined)[]) => boolean | undefined {
  if (test.op === 'not') {
    const inner = decider(test.of[0]);
    return (id, names) => {
      const found = inner(id, names);
      return found === undefined ? undefined : !found;
    };
  }
  if ('of' in test) {
    const parts = test.of.map(decider);
    const decisive = test.op === 'or';
    return (id, names) => {
      let isDecided = true;
      for (const part of parts) {
        const found = part(id, names);
        if (found === decisive) return decisive;
        isDecided &&= found !== undefined;
      }
      return isDecided ? !decisive : undefined;
    };
  }
  const values = new Set(test.values);
  if (test.op === 'named') {
    return (_id, { [test.by]: name }) => (name === undefined ? undefined : values.has(name));
  }
  return test.op === 'equals' && test.column === 'keyword_id' ? (id) => values.has(id) : () => undefined;
}

/** The indexes of rows as `sql/facts/question.sql` sorts them: ratios without a value last. */
function* inOrder(rows: RowSums, order: readonly RowOrder[]): Generator<void, Uint32Array> {
  const indexes = everyRow(rows.length);
  const { names } = rows;
  // Each sort keeps the order of equal rows, so that the last one goes first.
  for (const { by, descending } of order.toReversed()) {
    const sign = descending ? -1 : 1;
    if (typeof by === 'number') {
      yield* sortInSteps(indexes, (a, b) => sign * compareTexts(names[a]![by]!, names[b]![by]!));
    } else {
      yield* SortKeys.of(rows.numbers(by), indexes, sign).sort(indexes);
    }
  }
  return indexes;
}
