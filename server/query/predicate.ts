import {
  isSumTest,
  isTextTest,
  leavesOf,
  partsOf,
  readsSums,
  type SumTest,
  type Test,
  type TextTest,
} from '../domain/predicate.ts';
import { DIMENSION_NAMES, DIMENSIONS, type Dimension } from '../model/tables.ts';

/** Dimensions whose texts can be searched; the others are words, which have one case. */
export const TEXTS: readonly Dimension[] = DIMENSION_NAMES.filter((name) => DIMENSIONS[name].isText === true);

/** What rows must be like: conditions on their dimensions, and on their metrics. */
export type QuestionTest = Test<TextTest<Dimension> | SumTest>;

/** The dimensions that a filter tests. */
export function dimensionsOf(filter: QuestionTest): Dimension[] {
  return leavesOf(filter)
    .filter(isTextTest)
    .map(({ field }) => field);
}

/** The metrics that a filter tests. */
export function metricsIn(filter: QuestionTest): string[] {
  return leavesOf(filter)
    .filter(isSumTest)
    .map(({ field }) => field);
}

/** Filters that must hold one by one: those that decide which facts count, and those on the rows that these add up to. */
export function splitFilters(filters: readonly QuestionTest[]): {
  readonly ofFacts: readonly Test<TextTest<Dimension>>[];
  readonly ofRows: readonly QuestionTest[];
} {
  const parts = partsOf(filters);
  return { ofFacts: parts.filter(isOfTexts), ofRows: parts.filter((one) => readsSums(one)) };
}

/** A filter as it is sent; `nameOf` gives dimensions other names. */
export function sentFilter(
  filter: QuestionTest,
  nameOf = (dimension: Dimension): Dimension => dimension,
): readonly unknown[] {
  if ('of' in filter) return [filter.op, ...filter.of.map((one) => sentFilter(one, nameOf))];
  if (!isTextTest(filter)) return [filter.op, filter.field, [filter.value]];
  const { op, field, values, fold } = filter;
  return [op, nameOf(field), values, ...(TEXTS.includes(field) && !fold ? [{ caseSensitive: true }] : [])];
}

function isOfTexts(test: QuestionTest): test is Test<TextTest<Dimension>> {
  return !readsSums(test);
}
