import type { Grain } from '../domain/grains.ts';
import type { QuestionOperator } from '../domain/question-filter.ts';

/** A column of facts that rows are tested or grouped by. */
export type FactColumn = 'date' | 'device' | 'country' | 'query' | 'url' | 'appearance' | 'segment' | 'keyword_id';

/** Names for rows of facts: a row is joined with each name that its text has here. */
export interface NamedTexts {
  readonly column: FactColumn;
  /** Each text, and its name at the same index; a text may have several names. */
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** What rows are grouped by: a column, or names for its texts. */
export type GroupedBy = FactColumn | NamedTexts;

/** Which rows of facts count: tests of a column, or of the names that `by` has at an index. */
export type RowTest =
  | { readonly op: QuestionOperator; readonly column: FactColumn; readonly values: readonly string[] }
  | { readonly op: 'named'; readonly by: number; readonly values: readonly string[] }
  | { readonly op: 'and' | 'or'; readonly of: readonly RowTest[] }
  | { readonly op: 'not'; readonly of: readonly [RowTest] };

/** How rows are sorted: by a measure or a ratio, or by the index of what they are grouped by. */
export interface RowOrder {
  readonly by: 'clicks' | 'impressions' | 'ctr' | 'position' | number;
  readonly descending: boolean;
}

/** Totals over the facts of one table, grouped. */
export interface QuestionQuery {
  readonly table: Grain;
  readonly by: readonly GroupedBy[];
  readonly test: RowTest;
  /** Adds up everything that has any name, each row of facts once; there is one row then. */
  readonly isTotal: boolean;
  readonly order: readonly RowOrder[];
  readonly limit: number;
  readonly offset: number;
}

/** A row: `d0`, `d1`, … are what it is grouped by. The rows of the whole answer are counted and added up in each. */
export type QuestionRow = Readonly<Record<`d${number}`, string>> & {
  readonly clicks: number;
  readonly impressions: number;
  readonly sumPosition: number;
  readonly allRows: number;
  readonly allClicks: number;
  readonly allImpressions: number;
  readonly allSumPosition: number;
};
