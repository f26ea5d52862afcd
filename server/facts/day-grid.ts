import type { Measures } from '../domain/metrics.ts';
import { keepMemory, takeMemory } from '../runtime/external-memory.ts';

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
