import type { Dimension } from '../model/tables.ts';

/** Operators of texts; other dimensions have `equals` only. */
export const QUESTION_OPERATORS = ['equals', 'contains', 'starts_with', 'ends_with', 'matches'] as const;
export type QuestionOperator = (typeof QUESTION_OPERATORS)[number];

/** A condition on one dimension: true for any of the values. */
export interface Condition {
  readonly op: QuestionOperator;
  readonly dimension: Dimension;
  readonly values: readonly string[];
}

/** What rows must be like. */
export type Filter =
  | Condition
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: readonly [Filter] };

/** The conditions of a filter. */
export function conditionsOf(filter: Filter): Condition[] {
  return 'of' in filter ? filter.of.flatMap(conditionsOf) : [filter];
}

/** The dimensions that a filter tests. */
export function dimensionsOf(filter: Filter): Dimension[] {
  return conditionsOf(filter).map(({ dimension }) => dimension);
}

/** Filters that must hold one by one, with nested `and` resolved. */
export function conjunctsOf(filters: readonly Filter[]): Filter[] {
  return filters.flatMap((filter) => (filter.op === 'and' ? conjunctsOf(filter.of) : [filter]));
}

/** A filter as it is sent; `nameOf` gives dimensions other names. */
export function sentFilter(
  filter: Filter,
  nameOf = (dimension: Dimension): Dimension => dimension,
): readonly unknown[] {
  if ('of' in filter) return [filter.op, ...filter.of.map((one) => sentFilter(one, nameOf))];
  return [filter.op, nameOf(filter.dimension), filter.values];
}
