import { countDays, type Day } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { keepMemory, takeMemory } from '../runtime/external-memory.ts';

/**
 * Measures of keywords on the days of a range, in flat arrays: no object for each of hundreds of thousands of rows.
 * The cell of a keyword and a day, both counted from 0, is `keyword * days + day`.
 */
export class DayGrid {
  readonly days: readonly Day[];
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  readonly sumPosition: Float64Array;
  /** 1 for cells with a stored day. */
  readonly stored: Uint8Array;
  readonly #memory: ArrayBuffer;

  constructor(days: readonly Day[], keywords: number) {
    this.days = days;
    const cells = keywords * this.days.length;
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

  /** The measures of a cell; zeros if nothing is stored, NaN if they are unknown. */
  measures(cell: number): Measures {
    return { clicks: this.clicks[cell]!, impressions: this.impressions[cell]!, sumPosition: this.sumPosition[cell]! };
  }

  /** The days at the indices `first` to `end` (exclusive). */
  slice(first: number, end: number): DayGrid {
    const width = this.days.length;
    const days = end - first;
    const keywords = this.stored.length / width;
    const sliced = new DayGrid(this.days.slice(first, end), keywords);
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
  fold({ dates, of }: DaySums): DayGrid {
    const width = this.days.length;
    const keywords = width === 0 ? 0 : this.stored.length / width;
    const folded = new DayGrid(dates, keywords);
    let cell = 0;
    for (let first = 0; first < folded.stored.length; first += dates.length) {
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
export interface DaySums {
  /** The date of each sum. */
  readonly dates: readonly Day[];
  /** For each day of the grid the index of its sum; -1 for none. */
  readonly of: readonly number[];
}

/** Three numbers, and whether they are stored. */
const BYTES_PER_CELL = 25;
/** Max cells in memory at once. */
const MAX_CELLS = 250_000;
/** The first batch is small, so that a response starts early; the next ones double, to be read while one is written. */
const FIRST_CELLS = 40_000;

/** Whether the days of so many keywords fit in a grid. */
export function fitsInGrid(keywords: number, { from, to }: Range): boolean {
  return keywords * countDays(from, to) <= MAX_CELLS;
}

/** Splits a page of keywords into batches whose days fit in a grid. */
export function gridBatches<K>(keywords: readonly K[], range: Range): K[][] {
  const days = countDays(range.from, range.to);
  const batches: K[][] = [];
  for (let at = 0; at < keywords.length; at += batches.at(-1)!.length) {
    const cells = Math.min(FIRST_CELLS * 2 ** batches.length, MAX_CELLS);
    batches.push(keywords.slice(at, at + Math.max(1, Math.floor(cells / days))));
  }
  return batches;
}
