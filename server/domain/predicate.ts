import { hasPosition, type Measures } from './metrics.ts';

/**
 * Conditions, whatever they were written in: `filter=` and rules (`rules.ts`), and questions (`server/query/question.ts`).
 * Rows are tested by `markMatches` (`select-rows.ts`), facts in SQL (`server/facts/sums.ts`), both alike.
 */
export type Test<Leaf> =
  | Leaf
  | { readonly op: 'and' | 'or'; readonly of: readonly Test<Leaf>[] }
  | { readonly op: 'not'; readonly of: readonly [Test<Leaf>] };

export const TEXT_OPERATORS = ['equals', 'contains', 'starts_with', 'ends_with', 'matches'] as const;
export type TextOperator = (typeof TEXT_OPERATORS)[number];

/** Holds for a text that any of the values finds. */
export interface TextTest<Field extends string = string> {
  readonly op: TextOperator;
  readonly field: Field;
  readonly values: readonly string[];
  /** Whether case is ignored: both sides are compared in JavaScript's lower case, and expressions ignore case. */
  readonly fold: boolean;
}

export const SUM_OPERATORS = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte'] as const;
export type SumOperator = (typeof SUM_OPERATORS)[number];

/** Compares an unrounded metric of a row's sums, by its name. An unknown one fails every comparison, `neq` too. */
export interface SumTest {
  readonly op: SumOperator;
  readonly field: string;
  readonly value: number;
}

/** Holds for rows with one of some names in a grouping, which is given by its index. */
export interface NamedTest {
  readonly op: 'named';
  readonly by: number;
  readonly values: readonly string[];
}

/** What rows of lists are tested by. */
export type RowTest = Test<TextTest | SumTest>;

/** The conditions that a test joins. */
export type LeafOf<Of> = Exclude<Of, { readonly of: unknown }>;

type AnyLeaf = { readonly op: TextOperator | SumOperator | 'named' };

export function isLeaf<Leaf extends AnyLeaf>(test: Test<Leaf>): test is Leaf {
  return !('of' in test);
}

export function isSumTest(leaf: AnyLeaf): leaf is SumTest {
  return SUM_OPERATORS.some((op) => op === leaf.op);
}

export function isTextTest<Field extends string>(leaf: TextTest<Field> | SumTest | NamedTest): leaf is TextTest<Field> {
  return TEXT_OPERATORS.some((op) => op === leaf.op);
}

/** The conditions of a test, without what joins them. */
export function leavesOf<Leaf extends AnyLeaf>(test: Test<Leaf>): Leaf[] {
  return isLeaf(test) ? [test] : test.of.flatMap((one) => leavesOf(one));
}

/** Whether a test depends on sums, which differ with the range. */
export function readsSums<Leaf extends AnyLeaf>(test: Test<Leaf>): boolean {
  return leavesOf(test).some(isSumTest);
}

/** Tests that must hold one by one, with nested `and` resolved. */
export function conjunctsOf<Leaf extends AnyLeaf>(tests: readonly Test<Leaf>[]): Test<Leaf>[] {
  return tests.flatMap((test) => (!isLeaf(test) && test.op === 'and' ? conjunctsOf(test.of) : [test]));
}

/** The same test of other things. */
export function mapLeaves<Leaf extends AnyLeaf, Other>(
  test: Test<Leaf>,
  map: (leaf: Leaf) => Test<Other>,
): Test<Other> {
  if (isLeaf(test)) return map(test);
  if (test.op === 'not') return { op: 'not', of: [mapLeaves(test.of[0], map)] };
  return { op: test.op, of: test.of.map((one) => mapLeaves(one, map)) };
}

/** Tests that must hold one by one, as many as there are: `not` of `or` and of `not` are resolved too. */
export function partsOf<Leaf extends AnyLeaf>(tests: readonly Test<Leaf>[]): Test<Leaf>[] {
  return tests.flatMap((test): Test<Leaf>[] => {
    if (isLeaf(test) || test.op === 'or') return [test];
    if (test.op === 'and') return partsOf(test.of);
    const [inner] = test.of;
    if (isLeaf(inner) || inner.op === 'and') return [test];
    if (inner.op === 'not') return partsOf(inner.of);
    return partsOf(inner.of.map((one) => ({ op: 'not', of: [one] })));
  });
}

/**
 * A test as a function. `leafOf` gives that of a condition; it may return undefined for what is not known, and so may the
 * result: true or false is returned if it holds whatever is not known.
 */
export function decider<Leaf extends AnyLeaf, Args extends readonly unknown[]>(
  test: Test<Leaf>,
  leafOf: (leaf: Leaf) => (...args: Args) => boolean | undefined,
): (...args: Args) => boolean | undefined {
  if (isLeaf(test)) return leafOf(test);
  const parts = test.of.map((one) => decider(one, leafOf));
  if (test.op === 'not') {
    return (...args) => {
      const found = parts[0]!(...args);
      return found === undefined ? undefined : !found;
    };
  }
  const decisive = test.op === 'or';
  return (...args) => {
    let isDecided = true;
    for (const part of parts) {
      const found = part(...args);
      if (found === decisive) return decisive;
      isDecided &&= found !== undefined;
    }
    return isDecided ? !decisive : undefined;
  };
}

const COMPARE_TEXTS: Readonly<Record<Exclude<TextOperator, 'matches'>, (text: string, value: string) => boolean>> = {
  equals: (text, value) => text === value,
  contains: (text, value) => text.includes(value),
  starts_with: (text, value) => text.startsWith(value),
  ends_with: (text, value) => text.endsWith(value),
};

/** The values of a condition as texts are compared with them. */
export function comparedValues({ values, fold }: Pick<TextTest, 'values' | 'fold'>): readonly string[] {
  return fold ? [...new Set(values.map((value) => value.toLowerCase()))] : values;
}

/** Tests texts, in lower case if the condition folds them. Expressions are searched for by `markFound`. */
export function textTest(
  leaf: Pick<TextTest, 'values' | 'fold'> & { readonly op: keyof typeof COMPARE_TEXTS },
): (text: string) => boolean {
  const compare = COMPARE_TEXTS[leaf.op];
  const values = comparedValues(leaf);
  const [first = '', ...others] = values;
  return others.length === 0 ? (text) => compare(text, first) : (text) => values.some((value) => compare(text, value));
}

const COMPARE_SUMS: Readonly<Record<SumOperator, (number: number, value: number) => boolean>> = {
  eq: (number, value) => number === value,
  neq: (number, value) => number !== value,
  lt: (number, value) => number < value,
  lte: (number, value) => number <= value,
  gt: (number, value) => number > value,
  gte: (number, value) => number >= value,
};

/** Tests a metric, as `metricOf` gives it; NaN is unknown too. */
export function sumTest({ op, value }: Pick<SumTest, 'op' | 'value'>): (number: number | undefined) => boolean {
  const compare = COMPARE_SUMS[op];
  return (number) => number !== undefined && !Number.isNaN(number) && compare(number, value);
}

/** An unrounded metric of sums of searches; undefined for a ratio without impressions and for unknown sums (NaN). */
export function metricOf(sums: Measures, metric: string): number | undefined {
  if (Number.isNaN(sums.impressions)) return undefined;
  if (metric === 'clicks') return sums.clicks;
  if (metric === 'impressions') return sums.impressions;
  if (sums.impressions === 0) return undefined;
  if (metric === 'ctr') return sums.clicks / sums.impressions;
  return hasPosition(sums) ? (sums.sumPosition + sums.impressions) / sums.impressions : undefined;
}
