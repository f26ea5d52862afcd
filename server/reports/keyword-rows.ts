import type { TrackedKeyword } from '../catalog/tracked.ts';
import { add, sum } from '../domain/metrics.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
import type { GroupedBy, NamedTexts, QuestionQuery, ReadRow, ReadRows, RowOrder, RowTest } from '../facts/question.ts';
import { inTurns } from '../runtime/turns.ts';

/**
 * What `Facts.question` answers about tracked keywords without time and device, from their totals over the range, which
 * are differences of running totals: a long range costs as much as a short one.
 */
export async function rowsOfKeywords(
  query: Omit<QuestionQuery, 'table'>,
  keywords: readonly TrackedKeyword[],
  totals: KeywordTotals,
): Promise<ReadRows> {
  const { order, limit, offset } = query;
  const all = await inTurns(summed(query, keywords, totals));
  all.sort((a, b) => compared(a, b, order));
  return {
    rows: all.slice(offset, offset + limit),
    count: all.length,
    total: sum(all.map(({ measures }) => measures)),
  };
}

function* summed(
  { by, test, isTotal }: Omit<QuestionQuery, 'table'>,
  keywords: readonly TrackedKeyword[],
  totals: KeywordTotals,
): Generator<void, ReadRow[]> {
  const named = by.map(namesByText);
  const decide = decider(test);
  const rows = new Map<string, ReadRow>();
  for (const keyword of keywords) {
    yield;
    const measures = totals.of(keyword);
    if (measures.clicks + measures.impressions === 0) continue;
    const counted = namesOf(keyword.id, named).filter((names) => decide(keyword.id, names) === true);
    // Of a total, a keyword with several names counts once.
    for (const names of isTotal ? counted.slice(0, 1).map(() => []) : counted) {
      const key = names.join(' ');
      const known = rows.get(key);
      rows.set(key, { names, measures: known === undefined ? measures : add(known.measures, measures) });
    }
  }
  return [...rows.values()];
}

type NamesByText = ReadonlyMap<string, readonly string[]>;

/** Each combination of the names of a keyword. */
function namesOf(id: string, named: readonly NamesByText[]): readonly (readonly string[])[] {
  if (named.length === 1) return (named[0]!.get(id) ?? []).map((name) => [name]);
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

/** As `sql/facts/question.sql` sorts: ratios without a value last, then by names. */
function compared(a: ReadRow, b: ReadRow, order: readonly RowOrder[]): number {
  for (const { by, descending } of order) {
    const left = sortedBy(a, by);
    const right = sortedBy(b, by);
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right === descending ? 1 : -1;
  }
  const at = a.names.findIndex((name, index) => name !== b.names[index]);
  if (at < 0) return 0;
  return a.names[at]! < b.names[at]! ? -1 : 1;
}

function sortedBy({ names, measures }: ReadRow, by: RowOrder['by']): string | number | null {
  if (typeof by === 'number') return names[by]!;
  if (by === 'clicks' || by === 'impressions') return measures[by];
  const { clicks, impressions, sumPosition } = measures;
  if (impressions === 0) return null;
  return by === 'ctr' ? clicks / impressions : (sumPosition + impressions) / impressions;
}
