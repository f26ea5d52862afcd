import type { TrackedKeywords } from '../catalog/tracked.ts';
import { pairingOf } from '../domain/compared-days.ts';
import { METRIC_NAMES } from '../domain/comparison.ts';
import { eachDay } from '../domain/dates.ts';
import { bucketsOf } from '../domain/intervals.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { KeywordTotals } from '../facts/keyword-totals.ts';
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
import { intervalOf, isTime } from '../model/tables.ts';
import type { QuestionNames } from '../query/names.ts';
import { MAX_ROWS } from '../query/question.ts';
import { rowsOfKeywords } from './keyword-rows.ts';
import type { QuestionPlan, QuestionValue } from './question-plan.ts';

/** Equal for rows of the same names. */
export const keyOf = ({ names }: ReadRow): string => JSON.stringify(names);

interface Options {
  readonly plan: QuestionPlan & { readonly query: QuestionValue; readonly tracked: TrackedKeywords };
  readonly names: QuestionNames;
  /** The totals of keywords over one of the ranges of the plan. */
  readonly totalsOf: (range: Range) => Promise<KeywordTotals>;
  readonly signal: AbortSignal;
}

/** The most rows that are read at once of a question for all. */
const PART = MAX_ROWS;

const NO_ROWS: ReadRows = { rows: [], count: 0, total: NOTHING };

/** Reads the rows of a question, of its range and of the one to compare with. */
export class QuestionRows {
  readonly #facts: Facts;
  readonly #options: Options;

  constructor(facts: Facts, options: Options) {
    this.#facts = facts;
    this.#options = options;
  }

  /**
   * A page of the rows, or the first of all, how many there are, and what they add up to, each row of facts once; null if they cannot be added
   * up, because a search can have several appearances.
   * @param served the days of the range that are served; null for none
   */
  async of(range: Range, served: Range | null): Promise<Omit<ReadRows, 'total'> & { total: Measures | null }> {
    const { plan, names } = this.#options;
    const { limit, offset } = plan.query;
    if (served === null) return { ...NO_ROWS, total: this.#adds ? NOTHING : null };
    const by = this.#by(range, range);
    const { having } = names;
    const read = await this.#read(served, { by, having, limit: limit ?? PART, offset });
    const { rows } = read;
    // Beyond the last row nothing tells how many there are.
    const isBeyond = rows.length === 0 && offset > 0;
    const { count, total } = isBeyond ? await this.#read(served, { by, having, limit: 1, offset: 0 }) : read;
    if (!this.#adds) return { rows, count, total: null };
    return { rows, count, total: names.overlap ? await this.total(served) : total };
  }

  /** The rows after those that `of` has read, some at a time: only these are in memory. */
  async *after(read: number, count: number, range: Range, served: Range | null): AsyncGenerator<readonly ReadRow[]> {
    if (served === null || this.#options.plan.query.limit !== null) return;
    const by = this.#by(range, range);
    const { having } = this.#options.names;
    for (let offset = read; offset < count; offset += PART) {
      yield (await this.#read(served, { by, having, limit: PART, offset })).rows;
    }
  }

  /** The same rows over the range to compare with, by their keys. */
  async compared(range: Range, served: Range | null, rows: readonly ReadRow[]): Promise<Map<string, Measures>> {
    const { query } = this.#options.plan;
    if (served === null || rows.length === 0) return new Map();
    const by = this.#by(range, { from: query.from, to: query.to });
    const wanted = query.dimensions.flatMap((dimension, at) => {
      const one = by[at]!;
      if (isTime(dimension) || typeof one !== 'string') return [];
      const values = [...new Set(rows.map(({ names }) => names[at]!))];
      return [{ op: 'equals', field: one, values, fold: false } as const];
    });
    const found = await this.#read(served, { by, limit: MAX_COMPARED, offset: 0, wanted });
    return new Map(found.rows.map((row) => [keyOf(row), row.measures]));
  }

  /**
   * What all rows of the answer add up to over a range, each row of facts once; null if they cannot be added up. Conditions on
   * sums choose rows by the range of the question, also where others are to be compared with it.
   */
  async total(served: Range | null): Promise<Measures | null> {
    if (!this.#adds) return null;
    const { plan, names } = this.#options;
    const asked = { from: plan.query.from, to: plan.query.to };
    const { now } = plan.ranges;
    if (served === null || (names.having !== null && now === null)) return NOTHING;
    const page = { limit: 1, offset: 0, isTotal: true };
    if (names.having !== null) {
      const kept = { range: now!, by: this.#by(asked, asked) };
      return (await this.#read(served, { ...page, by: this.#by(served, asked), having: names.having, kept })).total;
    }
    const by = names.overlap ? this.#by(served, served) : this.#by(served, asked).filter(isNamed);
    return (await this.#read(served, { ...page, by })).total;
  }

  /** Whether the rows can be added up. */
  get #adds(): boolean {
    return !this.#options.plan.query.dimensions.includes('appearance');
  }

  /** What rows are grouped by. Days, weeks and months of another range are named after those of `named` that they stand beside. */
  #by(range: Range, named: Range): GroupedBy[] {
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

  async #read(
    range: Range,
    {
      by,
      limit,
      offset,
      having = null,
      kept,
      isTotal = false,
      wanted = [],
    }: Pick<SumsQuery, 'by' | 'having' | 'kept'> &
      Omit<RowPage, 'order'> & {
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
      return rowsOfKeywords(named, plan.tracked.keywords, totalsOf(range), kept && totalsOf(kept.range));
    }
    return this.#facts.sums({
      files,
      range,
      signal,
      table: query.grain,
      by,
      test,
      having,
      ...(kept && { kept }),
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

/** What is asked for, or else time, goes first; then the most clicks. */
function orderOf({ sort, dimensions }: QuestionValue): RowOrder[] {
  const time = dimensions.findIndex(isTime);
  const first =
    sort === null
      ? time < 0
        ? []
        : [{ by: time, descending: false }]
      : sort.map(({ by, descending }) => {
          const metric = METRIC_NAMES.find((name) => name === by);
          return { by: metric ?? dimensions.indexOf(by as (typeof dimensions)[number]), descending };
        });
  return [...first, { by: 'clicks', descending: true }, { by: 'impressions', descending: true }];
}
