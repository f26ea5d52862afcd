import type { TrackedKeyword } from '../catalog/tracked.ts';
import { add, NOTHING } from '../domain/metrics.ts';
import { numberOf } from '../domain/rules.ts';
import { sortInSteps } from '../domain/sort-steps.ts';
import { compareTexts } from '../domain/texts.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import type { GroupedBy, NamedTexts, QuestionQuery, ReadRow, ReadRows, RowOrder, RowTest } from '../facts/question.ts';
import { inTurns } from '../runtime/turns.ts';

/**
 * What `Facts.question` answers about tracked keywords without time and device, from their totals over the range, which
 * are differences of running totals: a long range costs as much as a short one.
 */
export function rowsOfKeywords(
  query: Omit<QuestionQuery, 'table'>,
  keywords: readonly TrackedKeyword[],
  totals: KeywordTotals,
): Promise<ReadRows> {
  return inTurns(summed(query, keywords, totals));
}

function* summed(
  { by, test, isTotal, order, limit, offset }: Omit<QuestionQuery, 'table'>,
  keywords: readonly TrackedKeyword[],
  totals: KeywordTotals,
): Generator<void, ReadRows> {
  const named = by.map(namesByText);
  const decide = decider(test);
  const rows = new Map<string, ReadRow>();
  let { clicks, impressions, sumPosition } = NOTHING;
  for (const keyword of keywords) {
    yield;
    const measures = totals.of(keyword);
    if (measures.clicks + measures.impressions === 0) continue;
    for (const found of namesOf(keyword.id, named)) {
      if (decide(keyword.id, found) !== true) continue;
      clicks += measures.clicks;
      impressions += measures.impressions;
      sumPosition += measures.sumPosition;
      const names = isTotal ? [] : found;
      const key = names.length === 1 ? names[0]! : names.join(' ');
      const known = rows.get(key);
      rows.set(key, { names, measures: known === undefined ? measures : add(known.measures, measures) });
      // Of a total, a keyword with several names counts once.
      if (isTotal) break;
    }
  }
  const all = [...rows.values()];
  const sorted = Uint32Array.from(all.keys());
  yield* sortInSteps(sorted, comparerOf(order, all));
  return {
    rows: Array.from(sorted.subarray(offset, offset + limit), (at) => all[at]!),
    count: all.length,
    total: { clicks, impressions, sumPosition },
  };
}

type NamesByText = ReadonlyMap<string, readonly string[]>;

/** Each combination of the names of a keyword. */
function namesOf(id: string, named: readonly NamesByText[]): readonly (readonly string[])[] {
  if (named.length === 1) {
    const names = named[0]!.get(id) ?? [];
    return names.length === 1 ? [names] : names.map((name) => [name]);
  }
  return named.reduce<readonly (readonly string[])[]>(
    (all, names) => all.flatMap((one) => (names.get(id) ?? []).map((name) => [...one, name])),
    [[]],
  );
}

/** By lists of names, some of which several questions share. */
const known = new WeakMap<NamedTexts, NamesByText>();

/** The names of each keyword in a list. */
export function namesByText(by: GroupedBy): NamesByText {
  if (typeof by === 'string' || by.column !== 'keyword_id') throw new Error('not grouped by names of keywords');
  const found = known.get(by);
  if (found !== undefined) return found;
  const byText = new Map<string, string[]>();
  for (const [at, text] of by.texts.entries()) {
    const names = byText.get(text);
    if (names === undefined) byText.set(text, [by.names[at]!]);
    else names.push(by.names[at]!);
  }
  known.set(by, byText);
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

/** Compares rows by their indexes. */
type Comparer = (a: number, b: number) => number;

/** As `sql/facts/question.sql` sorts: ratios without a value last, then by names. */
function comparerOf(order: readonly RowOrder[], rows: readonly ReadRow[]): Comparer {
  return [...order.map((one) => oneComparer(one, rows)), byNames(rows)].reduceRight(
    (then, first) => (a, b) => first(a, b) || then(a, b),
  );
}

function oneComparer({ by, descending }: RowOrder, rows: readonly ReadRow[]): Comparer {
  const sign = descending ? -1 : 1;
  if (typeof by === 'number') return (a, b) => sign * compareTexts(rows[a]!.names[by]!, rows[b]!.names[by]!);
  // Each number once, because a row is compared a dozen times.
  const numbers = Float64Array.from(rows, ({ measures }) => numberOf(measures, by) ?? Number.NaN);
  return (a, b) => {
    const difference = numbers[a]! - numbers[b]!;
    if (!Number.isNaN(difference)) return sign * difference;
    return Number(Number.isNaN(numbers[a])) - Number(Number.isNaN(numbers[b]));
  };
}

function byNames(rows: readonly ReadRow[]): Comparer {
  return (a, b) => {
    const [{ names }, { names: others }] = [rows[a]!, rows[b]!];
    const at = names.findIndex((name, index) => name !== others[index]);
    return at < 0 ? 0 : compareTexts(names[at]!, others[at]!);
  };
}
