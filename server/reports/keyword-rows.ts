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
      const key = names.join(' ');
      const known = rows.get(key);
      rows.set(key, { names, measures: known === undefined ? measures : add(known.measures, measures) });
      // Of a total, a keyword with several names counts once.
      if (isTotal) break;
    }
  }
  const all = [...rows.values()];
  const sorted = Uint32Array.from(all.keys());
  const compare = comparerOf(order);
  yield* sortInSteps(sorted, (a, b) => compare(all[a]!, all[b]!));
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

type Comparer = (a: ReadRow, b: ReadRow) => number;

/** As `sql/facts/question.sql` sorts: ratios without a value last, then by names. */
function comparerOf(order: readonly RowOrder[]): Comparer {
  const comparers = [...order.map(oneComparer), byNames];
  return (a, b) => {
    for (const compare of comparers) {
      const found = compare(a, b);
      if (found !== 0) return found;
    }
    return 0;
  };
}

function oneComparer({ by, descending }: RowOrder): Comparer {
  const sign = descending ? -1 : 1;
  if (typeof by === 'number') return (a, b) => sign * compareTexts(a.names[by]!, b.names[by]!);
  return ({ measures: a }, { measures: b }) => {
    const [x, y] = [numberOf(a, by), numberOf(b, by)];
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
    return sign * (x - y);
  };
}

function byNames(a: ReadRow, b: ReadRow): number {
  const at = a.names.findIndex((name, index) => name !== b.names[index]);
  return at < 0 ? 0 : compareTexts(a.names[at]!, b.names[at]!);
}
