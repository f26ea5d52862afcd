import { countDays, type Day, eachDay } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';

/**
 * Measures of keywords on the days of a range, in flat arrays: no object for each of hundreds of thousands of rows.
 * The cell of a keyword and a day, both counted from 0, is `keyword * days + day`.
 */
export class DayGrid {
  readonly days: readonly Day[];
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  readonly sumPosition: Float64Array;
  /** 1 where a day is stored. */
  readonly stored: Uint8Array;

  constructor(range: Range, keywords: number) {
    this.days = eachDay(range.from, range.to);
    const cells = keywords * this.days.length;
    this.clicks = new Float64Array(cells);
    this.impressions = new Float64Array(cells);
    this.sumPosition = new Float64Array(cells);
    this.stored = new Uint8Array(cells);
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
}

/** Max cells in memory at once; 25 bytes each. */
const MAX_CELLS = 300_000;
/** The first part is small, so that an answer begins early. */
const FIRST_CELLS = 40_000;

/** Splits a page of keywords into parts whose days fit in a grid. */
export function gridParts<K>(keywords: readonly K[], range: Range): K[][] {
  const days = countDays(range.from, range.to);
  const parts: K[][] = [];
  for (let at = 0; at < keywords.length; at += parts.at(-1)!.length) {
    const cells = parts.length === 0 ? FIRST_CELLS : MAX_CELLS;
    parts.push(keywords.slice(at, at + Math.max(1, Math.floor(cells / days))));
  }
  return parts;
}
