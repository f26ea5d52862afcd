import type { Measures } from '../domain/metrics.ts';
import type { NamedTest, Test, TextTest } from '../domain/predicate.ts';
import type { FactTable } from '../model/tables.ts';

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
export type FactTest = Test<TextTest<FactColumn> | NamedTest>;

/** How rows are sorted: by a measure or a ratio, or by the index of what they are grouped by. */
export interface RowOrder {
  readonly by: 'clicks' | 'impressions' | 'ctr' | 'position' | number;
  readonly descending: boolean;
}

/** Totals over the facts of one table, grouped. */
export interface QuestionQuery {
  readonly table: FactTable;
  readonly by: readonly GroupedBy[];
  readonly test: FactTest;
  /** Adds up everything that has any name, each row of facts once; there is one row then. */
  readonly isTotal: boolean;
  readonly order: readonly RowOrder[];
  readonly limit: number;
  readonly offset: number;
}

export interface ReadRow {
  /** What it is grouped by, in the order of `by`. */
  readonly names: readonly string[];
  readonly measures: Measures;
}

/** Some of the rows of an answer, with how many it has and what they add up to; zeros if none was read. */
export interface ReadRows {
  readonly rows: readonly ReadRow[];
  readonly count: number;
  readonly total: Measures;
}
