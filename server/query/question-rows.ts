import type { TrackedKeywords } from '../catalog/keywords.ts';
import { pairingOf } from '../domain/compared-days.ts';
import { eachDay } from '../domain/dates.ts';
import { bucketsOf } from '../domain/intervals.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keywords.ts';
import type {
  FactTest,
  GroupedBy,
  NamedTexts,
  ReadRow,
  ReadRows,
  RowOrder,
  RowPage,
  SumsQuery,
} from '../facts/sums.ts';
import { countsIn, type Dimension, type FactTable, intervalOf, isTime } from '../model/tables.ts';
import { rowsOfKeywords } from './keyword-rows.ts';
import type { QuestionNames } from './names.ts';
import { MAX_ROWS } from './question.ts';
import type { AskedRange, QuestionPlan, QuestionValue } from './question-plan.ts';
import { keyOf } from './rows.ts';

interface Options {
  readonly plan: QuestionPlan & { readonly query: QuestionValue; readonly tracked: TrackedKeywords };
  readonly names: QuestionNames;
  /** The totals of keywords over one of the ranges of the plan. */
  readonly totalsOf: (range: AskedRange) => Promise<KeywordTotals>;
  readonly signal: AbortSignal;
}

/** The most rows that are read at once of a question for all. */
const PART = MAX_ROWS;

/** The sums of no rows of a table. */
export function nothingIn(table: FactTable): Measures {
  const counts = countsIn(table);
  // Rows of a table that does not count searches have other names.
  return counts === null ? NOTHING : (Object.fromEntries(counts.map(({ name }) => [name, 0])) as object as Measures);
}

/** Reads the rows of a question, of its range and of the one to compare with. */
export class QuestionRows {
  readonly #facts: Facts;
  readonly #options: Options;

  constructor(facts: Facts, options: Options) {
    this.#facts = facts;
    this.#options = options;
  }

  /**
   * A page of the rows, or the first of all, how many there are, and what they add up to, each row of facts once; null if
   * they cannot be added up, because a search can have several appearances.
   */
  async of(range: AskedRange): Promise<Omit<ReadRows, 'total'> & { total: Measures | null }> {
    const { plan, names } = this.#options;
    const { limit, offset } = plan.query;
    if (range.served === null) return { rows: [], count: 0, total: this.#adds ? nothingIn(plan.query.table) : null };
    const by = this.#by(range);
    const { having } = names;
    const read = await this.#read(range, { by, having, limit: limit ?? PART, offset });
    const { rows } = read;
    // A page beyond the last row does not say how many rows there are.
    const isBeyond = rows.length === 0 && offset > 0;
    const { count, total } = isBeyond ? await this.#read(range, { by, having, limit: 1, offset: 0 }) : read;
    if (!this.#adds) return { rows, count, total: null };
    return { rows, count, total: names.overlap ? await this.total(range) : total };
  }

  /** The rows after those that `of` has read, some at a time: only these are in memory. */
  async *after(read: number, count: number, range: AskedRange): AsyncGenerator<readonly ReadRow[]> {
    if (range.served === null || this.#options.plan.query.limit !== null) return;
    const by = this.#by(range);
    const { having } = this.#options.names;
    for (let offset = read; offset < count; offset += PART) {
      yield (await this.#read(range, { by, having, limit: PART, offset })).rows;
    }
  }

  /** The same rows over the range to compare with, by their keys. */
  async compared(base: AskedRange, rows: readonly ReadRow[]): Promise<Map<string, Measures>> {
    const { query } = this.#options.plan;
    if (base.served === null || rows.length === 0) return new Map();
    const by = this.#by(base);
    const wanted = query.dimensions.flatMap((dimension, at) => {
      const one = by[at]!;
      if (isTime(dimension) || typeof one !== 'string') return [];
      const values = [...new Set(rows.map(({ names }) => names[at]!))];
      return [{ op: 'equals', field: one, values, fold: false } as const];
    });
    const found = await this.#read(base, { by, limit: MAX_COMPARED, offset: 0, wanted });
    return new Map(found.rows.map((row) => [keyOf(row.names), row.now]));
  }

  /**
   * What all rows of the answer add up to over a range, each row of facts once; null if they cannot be added up. Conditions on
   * sums choose rows by the range of the question, also where others are to be compared with it.
   */
  async total(range: AskedRange): Promise<Measures | null> {
    if (!this.#adds) return null;
    const { plan, names } = this.#options;
    const { having } = names;
    if (range.served === null || (having !== null && plan.range.served === null)) return nothingIn(plan.query.table);
    const page = { limit: 1, offset: 0, isTotal: true };
    if (having !== null) {
      return (await this.#read(range, { ...page, by: this.#by(range), having, isOfKept: true })).total;
    }
    // Every day counts, also one that is compared with none. Where groups overlap, tests need all of them, in their order.
    const by = names.overlap ? this.#by(range, range) : this.#by(range).filter(isNamed);
    return (await this.#read(range, { ...page, by })).total;
  }

  /** Whether the rows can be added up. */
  get #adds(): boolean {
    return !this.#options.plan.query.dimensions.includes('appearance');
  }

  /**
   * What rows of a range are grouped by. Days, weeks and months of the one to compare with are named after those of the
   * question that they stand beside.
   */
  #by(range: AskedRange, named = this.#options.plan.range): GroupedBy[] {
    return this.#options.names.by.map(({ dimension, grouped }) => {
      if (!isTime(dimension)) return grouped!;
      if (dimension === 'date' && range.from === named.from) return 'date';
      const beside = pairingOf(named, range);
      const days = bucketsOf(named, intervalOf(dimension)).flatMap((bucket) =>
        beside(bucket).flatMap(({ from, to }) => eachDay(from, to).map((day) => [day, bucket.from] as const)),
      );
      return { column: 'date', texts: days.map(([day]) => day), names: days.map(([, name]) => name) };
    });
  }

  /** Reads the served days of a range. `isOfKept`: only rows that `having` keeps in the range of the question. */
  async #read(
    range: AskedRange,
    {
      by,
      limit,
      offset,
      having = null,
      isOfKept = false,
      isTotal = false,
      wanted = [],
    }: Pick<SumsQuery, 'by' | 'having'> &
      Omit<RowPage, 'order'> & {
        isOfKept?: boolean;
        isTotal?: boolean;
        wanted?: readonly FactTest[];
      },
  ): Promise<ReadRows> {
    const { plan, names, totalsOf, signal } = this.#options;
    const { files, query } = plan;
    const test = { op: 'and', of: [names.test, ...wanted] } as const;
    const order = orderOf(query);
    const page = { order, limit, offset };
    if (plan.isOfTotals) {
      const named = { ...page, by: by.filter(isNamed), test, having, isTotal };
      return rowsOfKeywords(named, plan.tracked.keywords, totalsOf(range), isOfKept ? totalsOf(plan.range) : undefined);
    }
    return this.#facts.sums({
      files,
      range: range.served!,
      signal,
      table: query.table,
      by,
      test,
      having,
      ...(isOfKept && { kept: { range: plan.range.served!, by: this.#by(plan.range) } }),
      isTotal,
      page,
    });
  }
}

/** More rows than an answer has, with a day of each for the longest range. */
const MAX_COMPARED = 2 ** 31 - 1;

function isNamed(by: GroupedBy): by is NamedTexts {
  return typeof by === 'object' && by.column !== 'date';
}

/** What is asked for, or else time, goes first; then the most of what is counted. */
function orderOf({ sort, dimensions, table }: QuestionValue): RowOrder[] {
  const time = dimensions.findIndex(isTime);
  const first =
    sort === null
      ? time < 0
        ? []
        : [{ by: time, descending: false }]
      : sort.map(({ by, descending }) => {
          const at = dimensions.indexOf(by as Dimension);
          return { by: at < 0 ? by : at, descending };
        });
  const most = countsIn(table)?.map(({ name }) => name) ?? ['clicks', 'impressions'];
  return [...first, ...most.slice(0, 2).map((by) => ({ by, descending: true }))];
}
