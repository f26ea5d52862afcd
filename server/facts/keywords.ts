import { addDays, type Day, type Month, monthOf } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { keepMemory, takeMemory } from '../runtime/external-memory.ts';
import type { StoredFile } from '../storage/file-store.ts';

/** A row of the manifest: the file of a month, or of all months (`all`). */
interface PartFile extends StoredFile {
  readonly part: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

/** The manifest rows of a project up to the month in which a range ends, ordered by month. */
export interface KeywordFiles {
  /** Days: `keyword_all` for all devices together, `keyword_daily` for one of them. */
  readonly days: readonly PartFile[];
  /** `keyword_cumulative`, for all devices together. */
  readonly cumulative: readonly PartFile[];
  /** `keyword_running`. */
  readonly running: StoredFile | undefined;
}

/** How to compute the totals of keywords over a range: as the sum of all its terms. */
export interface KeywordTotalsPlan {
  /** Totals from the first stored day to the end of a day in the file's month, added or subtracted. */
  readonly cumulative: readonly { readonly file: StoredFile; readonly day: number; readonly sign: 1 | -1 }[];
  /** Running totals by month, for the months that the range covers completely. */
  readonly running: RunningTotals | undefined;
  /** Days of the months that the range covers in part. */
  readonly days: readonly StoredFile[];
}

/** The running total of the month `through` minus that of the month `before`. Both are given by their first day. */
interface RunningTotals {
  readonly file: StoredFile;
  readonly through: Day;
  readonly before: Day | null;
}

/** The plan for a range without stored days. */
export const NO_KEYWORD_TOTALS: KeywordTotalsPlan = { cumulative: [], running: undefined, days: [] };

/** Each file of cumulative totals has columns for this day, also in shorter months. */
const LAST_DAY = 31;

/**
 * Plans the totals of keywords over a range. With cumulative totals by day: the total to the end of the range minus the
 * total before it. Without them (a single device, or a project that an older version loaded last): running totals by
 * month, and days.
 */
export function planKeywordTotals(files: KeywordFiles, range: Range): KeywordTotalsPlan {
  const months = files.days.filter(({ part }) => part <= monthOf(range.to));
  if (months.length === 0) return NO_KEYWORD_TOTALS;
  return planByDay(files, months, range) ?? planByMonth(files, months, range);
}

function planByDay(
  { cumulative }: KeywordFiles,
  months: readonly PartFile[],
  range: Range,
): KeywordTotalsPlan | undefined {
  const byMonth = new Map(cumulative.map((file) => [file.part, file]));
  if (months.some(({ part }) => !byMonth.has(part))) return undefined;
  const before = addDays(range.from, -1);
  const terms = [
    { until: cumulativeUntil(months, range.to), sign: 1 },
    { until: cumulativeUntil(months, before), sign: -1 },
  ] as const;
  const [end, start] = terms.map(({ until }) => until);
  // Nothing is stored in the range.
  if (end?.month === start?.month && end?.day === start?.day) return NO_KEYWORD_TOTALS;
  return {
    ...NO_KEYWORD_TOTALS,
    cumulative: terms.flatMap(({ until, sign }) =>
      until === undefined ? [] : [{ file: storedFile(byMonth.get(until.month)!), day: until.day, sign }],
    ),
  };
}

/** The last stored month with data by a day, and the day whose columns to read; undefined before the first stored day. */
function cumulativeUntil(months: readonly PartFile[], day: Day): { month: Month; day: number } | undefined {
  const last = months.findLast(({ part }) => part <= monthOf(day));
  if (last === undefined || day < last.firstDay) {
    const earlier = months.findLast(({ part }) => part < monthOf(day));
    return earlier && { month: earlier.part, day: LAST_DAY };
  }
  return { month: last.part, day: day >= last.lastDay ? LAST_DAY : Number(day.slice(8)) };
}

/** A month is covered if all of its stored days are in the range. Only the first and last month can be partly covered. */
function planByMonth({ running }: KeywordFiles, stored: readonly PartFile[], range: Range): KeywordTotalsPlan {
  const months = stored.filter(({ part }) => part >= monthOf(range.from));
  const isCovered = ({ firstDay, lastDay }: PartFile): boolean => range.from <= firstDay && lastDay <= range.to;
  const covered = months.filter(isCovered);
  const [first] = covered;
  if (first === undefined || running === undefined) return { ...NO_KEYWORD_TOTALS, days: months.map(storedFile) };
  const before = stored.findLast(({ part }) => part < first.part);
  return {
    cumulative: [],
    days: months.filter((month) => !isCovered(month)).map(storedFile),
    running: {
      file: running,
      through: `${covered.at(-1)!.part}-01`,
      before: before === undefined ? null : `${before.part}-01`,
    },
  };
}

function storedFile({ file, bytes, sha256 }: StoredFile): StoredFile {
  return { file, bytes, sha256 };
}

/** Totals of a project's keywords in flat arrays, by the keyword's index, summed from columns of rows. */
export class KeywordTotals {
  readonly #index: KeywordIndex;
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  readonly sumPosition: Float64Array;

  /** @param indexes of the keywords, by `shortIdNumber` of the id; rows of other keywords are ignored */
  constructor(indexes: ReadonlyMap<number, number>) {
    this.#index = indexOfKeywords(indexes);
    this.clicks = new Float64Array(indexes.size);
    this.impressions = new Float64Array(indexes.size);
    this.sumPosition = new Float64Array(indexes.size);
  }

  /**
   * Adds rows, or subtracts them with a `sign` of -1. Columns: keyword (`shortIdNumber`), clicks, impressions, sum of
   * positions.
   */
  add(columns: readonly Float64Array[], rows: number, sign = 1): void {
    const [keyword, clicks, impressions, sumPosition] = columns as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const { numbers, indexes } = this.#index;
    let at = -1;
    for (let row = 0; row < rows; row++) {
      const number = keyword[row]!;
      // Rows of rollups are ordered by number: the next row nearly always has the next keyword.
      at = numbers[at + 1] === number ? at + 1 : placeOf(numbers, number);
      if (numbers[at] !== number) continue;
      const index = indexes[at]!;
      this.clicks[index]! += sign * clicks[row]!;
      this.impressions[index]! += sign * impressions[row]!;
      this.sumPosition[index]! += sign * sumPosition[row]!;
    }
  }

  /** Makes the totals of some keywords (`shortIdNumber`) unknown. */
  forget(keywords: readonly number[]): void {
    const { numbers, indexes } = this.#index;
    for (const number of keywords) {
      const at = placeOf(numbers, number);
      if (numbers[at] !== number) continue;
      for (const values of [this.clicks, this.impressions, this.sumPosition]) values[indexes[at]!] = Number.NaN;
    }
  }

  /** Zeros for a keyword without rows, NaN for one whose totals are unknown. */
  of({ index }: { readonly index: number }): Measures {
    return {
      clicks: this.clicks[index]!,
      impressions: this.impressions[index]!,
      sumPosition: this.sumPosition[index]!,
    };
  }
}

/** Indexes of keywords in the order of their numbers. */
interface KeywordIndex {
  readonly numbers: Float64Array;
  readonly indexes: Float64Array;
}

/** Cached by `indexes`, a map that is made once per revision: sorting takes longer than summing. */
const known = new WeakMap<ReadonlyMap<number, number>, KeywordIndex>();

function indexOfKeywords(indexes: ReadonlyMap<number, number>): KeywordIndex {
  const cached = known.get(indexes);
  if (cached !== undefined) return cached;
  const numbers = Float64Array.from(indexes.keys()).sort();
  const index = { numbers, indexes: numbers.map((number) => indexes.get(number)!) };
  known.set(indexes, index);
  return index;
}

/** The index of a number in a sorted array, or of the last smaller one; -1 before the first. */
function placeOf(numbers: Float64Array, number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Measures of keywords on the days of a range, in flat arrays: no object for each of hundreds of thousands of rows.
 * The cell of a keyword and a day, both counted from 0, is `keyword * days + day`.
 */
export class DayGrid {
  /** The number of days. */
  readonly width: number;
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  readonly sumPosition: Float64Array;
  /** 1 for cells with a stored day. */
  readonly stored: Uint8Array;
  readonly #memory: ArrayBuffer;

  constructor(width: number, keywords: number) {
    this.width = width;
    const cells = keywords * width;
    this.#memory = takeMemory(BYTES_PER_CELL * cells);
    new Uint8Array(this.#memory, 0, BYTES_PER_CELL * cells).fill(0);
    this.clicks = new Float64Array(this.#memory, 0, cells);
    this.impressions = new Float64Array(this.#memory, 8 * cells, cells);
    this.sumPosition = new Float64Array(this.#memory, 16 * cells, cells);
    this.stored = new Uint8Array(this.#memory, 24 * cells, cells);
  }

  /** Gives its memory to the next grid; it may not be used any more. */
  release(): void {
    keepMemory(this.#memory);
  }

  /** Puts rows into their cells. Columns: cell, clicks, impressions, sum of positions. */
  fill(columns: readonly Float64Array[], rows: number): void {
    const [cells, clicks, impressions, sumPosition] = columns as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    for (let row = 0; row < rows; row++) {
      const cell = cells[row]!;
      this.clicks[cell] = clicks[row]!;
      this.impressions[cell] = impressions[row]!;
      this.sumPosition[cell] = sumPosition[row]!;
      this.stored[cell] = 1;
    }
  }

  /** Makes a cell unknown. */
  forget(cell: number): void {
    this.stored[cell] = 0;
    for (const values of [this.clicks, this.impressions, this.sumPosition]) values[cell] = Number.NaN;
  }

  /** Reads a cell without an object for each; zeros if nothing is stored, NaN if the measures are unknown. */
  read(cell: number, into: { -readonly [Name in keyof Measures]: number }): Measures {
    into.clicks = this.clicks[cell]!;
    into.impressions = this.impressions[cell]!;
    into.sumPosition = this.sumPosition[cell]!;
    return into;
  }

  /** The days at the indices `first` to `end` (exclusive). */
  slice(first: number, end: number): DayGrid {
    const { width } = this;
    const days = end - first;
    const keywords = this.stored.length / width;
    const sliced = new DayGrid(days, keywords);
    for (let keyword = 0; keyword < keywords; keyword++) {
      const from = keyword * width + first;
      const into = keyword * days;
      sliced.clicks.set(this.clicks.subarray(from, from + days), into);
      sliced.impressions.set(this.impressions.subarray(from, from + days), into);
      sliced.sumPosition.set(this.sumPosition.subarray(from, from + days), into);
      sliced.stored.set(this.stored.subarray(from, from + days), into);
    }
    return sliced;
  }

  /** Sums days of each keyword. */
  fold({ count, of }: DayParts): DayGrid {
    const { width } = this;
    const folded = new DayGrid(count, width === 0 ? 0 : this.stored.length / width);
    let cell = 0;
    for (let first = 0; first < folded.stored.length; first += count) {
      for (let day = 0; day < width; day++, cell++) {
        if (of[day]! < 0 || this.stored[cell] === 0) continue;
        const into = first + of[day]!;
        folded.clicks[into]! += this.clicks[cell]!;
        folded.impressions[into]! += this.impressions[cell]!;
        folded.sumPosition[into]! += this.sumPosition[cell]!;
        folded.stored[into] = 1;
      }
    }
    return folded;
  }
}

/** How days of a grid are summed. */
export interface DayParts {
  /** The number of sums. */
  readonly count: number;
  /** For each day of the grid the index of its sum; -1 for none. */
  readonly of: readonly number[];
}

/** Three numbers, and whether they are stored. */
const BYTES_PER_CELL = 25;
