import { METRIC_NAMES } from '../domain/comparison.ts';
import { countDays, eachDay } from '../domain/dates.ts';
import { intervalOf, isTime } from '../domain/grains.ts';
import { bucketsOf } from '../domain/intervals.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import { MAX_ROWS } from '../domain/question.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import type { GroupedBy, NamedTexts, RowOrder, QuestionRow as Stored } from '../facts/question.ts';
import type { QuestionNames } from './question-names.ts';
import type { QuestionPlan, QuestionValue } from './question-plan.ts';

/** A row as it was read. */
export interface ReadRow {
  /** What it is grouped by, in the order of the dimensions. */
  readonly names: readonly string[];
  /** Equal for rows of the same names. */
  readonly key: string;
  readonly measures: Measures;
}

interface Options {
  readonly plan: QuestionPlan & { readonly query: QuestionValue };
  readonly names: QuestionNames;
  readonly signal: AbortSignal;
}

/** The most rows that are read at once of a question for all. */
const PART = MAX_ROWS;

const NO_ROWS = { read: [], count: 0, total: NOTHING };

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
  async of(range: Range, served: Range | null): Promise<{ read: ReadRow[]; count: number; total: Measures | null }> {
    const { plan, names } = this.#options;
    const { limit, offset } = plan.query;
    if (served === null) return { ...NO_ROWS, total: this.#adds ? NOTHING : null };
    const by = this.#by(range, range);
    const rows = await this.#read(served, { by, limit: limit ?? PART, offset });
    const [first] = rows;
    // Beyond the last row nothing tells how many there are.
    const [any] = first === undefined && offset > 0 ? await this.#read(served, { by, limit: 1, offset: 0 }) : [first];
    const read = rows.map(rowOf(by.length));
    const count = any?.allRows ?? 0;
    if (!this.#adds) return { read, count, total: null };
    if (names.overlap) return { read, count, total: await this.total(served) };
    const total = any === undefined ? NOTHING : totalOf(any);
    return { read, count, total };
  }

  /** The rows after those that `of` has read, some at a time: only these are in memory. */
  async *after(read: number, count: number, range: Range, served: Range | null): AsyncGenerator<ReadRow[]> {
    if (served === null || this.#options.plan.query.limit !== null) return;
    const by = this.#by(range, range);
    for (let offset = read; offset < count; offset += PART) {
      const rows = await this.#read(served, { by, limit: PART, offset });
      yield rows.map(rowOf(by.length));
    }
  }

  /** The same rows over the range to compare with, by their keys: days are counted from the start of each range. */
  async compared(range: Range, served: Range | null, rows: readonly ReadRow[]): Promise<Map<string, Measures>> {
    const { query } = this.#options.plan;
    if (served === null || rows.length === 0) return new Map();
    const by = this.#by(range, { from: query.from, to: query.to });
    const wanted = query.dimensions.flatMap((dimension, at) => {
      const one = by[at]!;
      if (isTime(dimension) || typeof one !== 'string') return [];
      const values = [...new Set(rows.map(({ names }) => names[at]!))];
      return [{ op: 'equals', column: one, values } as const];
    });
    const found = await this.#read(served, { by, limit: MAX_COMPARED, offset: 0, wanted });
    return new Map(found.map(rowOf(by.length)).map(({ key, measures }) => [key, measures]));
  }

  /** What all rows of a range add up to, each row of facts once; null if they cannot be added up. */
  async total(served: Range | null): Promise<Measures | null> {
    if (!this.#adds) return null;
    if (served === null) return NOTHING;
    const { query } = this.#options.plan;
    const by = this.#by(served, { from: query.from, to: query.to }).filter(isNamed);
    const [row] = await this.#read(served, {
      by: this.#options.names.overlap ? this.#by(served, served) : by,
      limit: 1,
      offset: 0,
      isTotal: true,
    });
    return row === undefined ? NOTHING : measuresOf(row);
  }

  /** Whether the rows can be added up. */
  get #adds(): boolean {
    return !this.#options.plan.query.dimensions.includes('appearance');
  }

  /** What rows are grouped by: weeks, months and days of another range have the names of those of `named`. */
  #by(range: Range, named: Range): GroupedBy[] {
    return this.#options.names.by.map(({ dimension, grouped }) => {
      if (!isTime(dimension)) return grouped!;
      if (dimension === 'date' && range.from === named.from) return 'date';
      const days = eachDay(range.from, range.to).slice(0, countDays(named.from, named.to));
      const buckets = bucketsOf(named, intervalOf(dimension));
      const names = buckets.flatMap(({ from, first, last }) => Array<string>(last - first + 1).fill(from));
      return { column: 'date', texts: days, names: names.slice(0, days.length) };
    });
  }

  #read(
    range: Range,
    {
      by,
      limit,
      offset,
      isTotal = false,
      wanted = [],
    }: Pick<Parameters<Facts['question']>[0], 'by' | 'limit' | 'offset'> & {
      isTotal?: boolean;
      wanted?: readonly Parameters<Facts['question']>[0]['test'][];
    },
  ): Promise<Stored[]> {
    const { plan, names, signal } = this.#options;
    const { files, query } = plan;
    const test = { op: 'and', of: [names.test, ...wanted] } as const;
    const order = orderOf(query);
    return this.#facts.question({ files, range, signal, table: query.grain, by, test, isTotal, order, limit, offset });
  }
}

/** More rows than an answer has, with a day of each for the longest range. */
const MAX_COMPARED = 2 ** 31 - 1;

function isNamed(by: GroupedBy): by is NamedTexts {
  return typeof by === 'object' && by.column !== 'date';
}

/** Time goes first, then the most clicks. */
function orderOf({ sort, dimensions }: QuestionValue): RowOrder[] {
  if (sort !== null) {
    return sort.map(({ by, descending }) => {
      const metric = METRIC_NAMES.find((name) => name === by);
      return { by: metric ?? dimensions.indexOf(by as (typeof dimensions)[number]), descending };
    });
  }
  const time = dimensions.findIndex(isTime);
  return [
    ...(time < 0 ? [] : [{ by: time, descending: false }]),
    { by: 'clicks', descending: true },
    { by: 'impressions', descending: true },
  ];
}

function rowOf(dimensions: number): (row: Stored) => ReadRow {
  return (row) => {
    const names = Array.from({ length: dimensions }, (_, at) => row[`d${at}`]!);
    return { names, key: JSON.stringify(names), measures: measuresOf(row) };
  };
}

function measuresOf({ clicks, impressions, sumPosition }: Stored): Measures {
  return { clicks, impressions, sumPosition };
}

function totalOf({ allClicks, allImpressions, allSumPosition }: Stored): Measures {
  return { clicks: allClicks, impressions: allImpressions, sumPosition: allSumPosition };
}
