export const DECAY_WEEKS = 26;

/** Clicks of rows of one kind in adjacent windows of equal length; the first is the newest. */
export interface WindowRows {
  readonly windows: number;
  /** By row, then window. */
  readonly clicks: Float64Array;
}

/**
 * Rows of one kind in a range, in parts of it: a CTR is not that of the mean position if the position changed. Rows are
 * compared within a stratum, such as queries with a brand term.
 */
export interface RangeRows {
  readonly stratum: Uint8Array;
  /** Parts of each row. */
  readonly parts: number;
  /** By row, then part. */
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  /** Mean positions from 1 on. */
  readonly position: Float64Array;
}

/** Weeks before a range in which rows were shown that are lost in it, and the other way round. */
export const PRESENCE_WEEKS = 8;
/** Windows that are read at most, the range itself included. */
export const MOST_WINDOWS = 7;

export interface GridSize {
  readonly rows: number;
  /** Days of the range. */
  readonly days: number;
  /** Windows of that length that are stored; 1 is the range alone. */
  readonly windows: number;
}

/** Days that are in the same week, the same window and the same week before the range; -1 where none is compared. */
interface Time {
  readonly week: number;
  readonly window: number;
  readonly before: number;
}

/**
 * The sums of rows by time, as they are read. Ages are counted back from the last day of the range, whose age is 0. The sums
 * of a row are side by side, because rows come in no order.
 */
export class RowTimes {
  readonly size: GridSize;
  readonly times: readonly Time[];
  /** By row, then time: clicks, impressions, sum of positions. */
  readonly sums: Float64Array;
  /** Ages of the first day in the range and of the last day before it; -1 for none. */
  readonly firstAge: Int32Array;
  readonly lastAge: Int32Array;
  readonly #timeOf: Int16Array;

  constructor(size: GridSize) {
    const { rows, days, windows } = size;
    const ages = Math.max(7 * DECAY_WEEKS, windows * days, days + 7 * PRESENCE_WEEKS);
    const times: Time[] = [];
    this.#timeOf = Int16Array.from({ length: ages }, (_, age) => {
      const time = timeOf(age, size);
      const last = times.at(-1);
      const isSame = last?.week === time.week && last.window === time.window && last.before === time.before;
      return (isSame ? times.length : times.push(time)) - 1;
    });
    this.size = size;
    this.times = times;
    this.sums = new Float64Array(rows * this.times.length * MEASURES);
    this.firstAge = new Int32Array(rows).fill(-1);
    this.lastAge = new Int32Array(rows).fill(-1);
  }

  /**
   * Adds days of a row that are in the same week, the same window and the same week before the range.
   * @param age of the first of these days @param last age of the last of them
   */
  add(row: number, age: number, last: number, clicks: number, impressions: number, sumPosition: number): void {
    if (age < this.size.days) {
      if (age > this.firstAge[row]!) this.firstAge[row] = age;
    } else if (this.lastAge[row] === -1 || last < this.lastAge[row]!) this.lastAge[row] = last;
    if (age >= this.#timeOf.length) return;
    const cell = (row * this.times.length + this.#timeOf[age]!) * MEASURES;
    this.sums[cell]! += clicks;
    this.sums[cell + 1]! += impressions;
    this.sums[cell + 2]! += sumPosition;
  }
}

const MEASURES = 3;

function timeOf(age: number, { days, windows }: GridSize): Time {
  const [week, window, before] = [Math.floor(age / 7), Math.floor(age / days), Math.floor((age - days) / 7)];
  return {
    week: age < days || week < DECAY_WEEKS ? week : -1,
    window: window < Math.max(2, windows) ? window : -1,
    before: before < PRESENCE_WEEKS ? before : -1,
  };
}

/**
 * The sums of rows over the times that findings compare: weeks of seven days, windows as long as the range, and weeks
 * before the range, all counted back from its last day.
 */
export class RowGrids {
  readonly size: GridSize;
  /** Weeks of the range; the last one may be shorter. */
  readonly parts: number;
  /** By row, then week of the range. */
  readonly clicks: Float64Array;
  readonly impressions: Float64Array;
  readonly sumPosition: Float64Array;
  /** By row, then window, the range first. */
  readonly windowClicks: Float64Array;
  /** Of the window before the range. */
  readonly earlierImpressions: Float64Array;
  readonly earlierPosition: Float64Array;
  /** By row, then week, oldest first. */
  readonly weekClicks: Float64Array;
  readonly weekImpressions: Float64Array;
  readonly weekPosition: Float64Array;
  /** By row, then week before the range, oldest first. */
  readonly beforeImpressions: Float64Array;
  /** Ages of the first day in the range and of the last day before it; -1 for none. */
  readonly firstAge: Int32Array;
  readonly lastAge: Int32Array;

  private constructor({ size, firstAge, lastAge }: RowTimes) {
    const { rows, days, windows } = size;
    this.size = size;
    this.parts = Math.ceil(days / 7);
    const cells = (perRow: number) => new Float64Array(rows * perRow);
    this.clicks = cells(this.parts);
    this.impressions = cells(this.parts);
    this.sumPosition = cells(this.parts);
    this.windowClicks = cells(windows);
    this.earlierImpressions = cells(1);
    this.earlierPosition = cells(1);
    this.weekClicks = cells(DECAY_WEEKS);
    this.weekImpressions = cells(DECAY_WEEKS);
    this.weekPosition = cells(DECAY_WEEKS);
    this.beforeImpressions = cells(PRESENCE_WEEKS);
    this.firstAge = firstAge;
    this.lastAge = lastAge;
  }

  /** Adds up what was read by the times that findings compare. */
  static *of(times: RowTimes): Generator<void, RowGrids> {
    const grids = new RowGrids(times);
    for (let row = 0; row < times.size.rows; row++) {
      grids.#addRow(row, times);
      if (row % 256 === 0) yield;
    }
    return grids;
  }

  #addRow(row: number, { times, sums }: RowTimes): void {
    const { windows } = this.size;
    for (let at = 0; at < times.length; at++) {
      const from = (row * times.length + at) * MEASURES;
      const clicks = sums[from]!;
      const impressions = sums[from + 1]!;
      const sumPosition = sums[from + 2]!;
      const { week, window, before } = times[at]!;
      if (window === 0) {
        const cell = row * this.parts + week;
        this.clicks[cell]! += clicks;
        this.impressions[cell]! += impressions;
        this.sumPosition[cell]! += sumPosition;
      }
      if (before >= 0) this.beforeImpressions[(row + 1) * PRESENCE_WEEKS - 1 - before]! += impressions;
      if (window >= 0 && window < windows) this.windowClicks[row * windows + window]! += clicks;
      if (window === 1) {
        this.earlierImpressions[row]! += impressions;
        this.earlierPosition[row]! += sumPosition;
      }
      if (week >= 0 && week < DECAY_WEEKS) {
        const cell = (row + 1) * DECAY_WEEKS - 1 - week;
        this.weekClicks[cell]! += clicks;
        this.weekImpressions[cell]! += impressions;
        this.weekPosition[cell]! += sumPosition;
      }
    }
  }

  /** The range by weeks, with mean positions from 1 on. */
  range(stratum: Uint8Array): RangeRows {
    const { parts, clicks, impressions, sumPosition } = this;
    const position = sumPosition.map((sum, cell) => (impressions[cell]! > 0 ? sum / impressions[cell]! + 1 : 1));
    return { stratum, parts, clicks, impressions, position };
  }

  /** Clicks of all rows by week, oldest first. */
  weekTotals(): Float64Array {
    const totals = new Float64Array(DECAY_WEEKS);
    for (let cell = 0; cell < this.weekClicks.length; cell++) totals[cell % DECAY_WEEKS]! += this.weekClicks[cell]!;
    return totals;
  }

  windowRows(): WindowRows {
    return { windows: this.size.windows, clicks: this.windowClicks };
  }

  /** Clicks, impressions and sum of positions of a row in the range. */
  totals(row: number): { clicks: number; impressions: number; sumPosition: number } {
    let clicks = 0;
    let impressions = 0;
    let sumPosition = 0;
    for (let cell = row * this.parts; cell < (row + 1) * this.parts; cell++) {
      clicks += this.clicks[cell]!;
      impressions += this.impressions[cell]!;
      sumPosition += this.sumPosition[cell]!;
    }
    return { clicks, impressions, sumPosition };
  }
}
