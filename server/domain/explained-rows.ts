import { type ChangeParts, type Split, sharedParts, wholeParts } from './change-parts.ts';
import { CtrCurve, PositionSums } from './ctr-curve.ts';
import { add, type Measures, NOTHING } from './metrics.ts';
import { SortKeys } from './sort-steps.ts';

/** Rows per step, some tenths of a millisecond. */
const STEP = 1024;

/** Sums of many rows over two ranges, in columns: 100,000 rows take 5 MB. */
export class RowSums {
  /** Clicks, impressions and sum of positions of the range, then of the other range. */
  readonly #columns: readonly Float64Array[];
  #length = 0;

  /** @param capacity the most rows that are added */
  constructor(capacity: number) {
    this.#columns = Array.from({ length: 6 }, () => new Float64Array(capacity));
  }

  static of(rows: readonly ComparedSums[]): RowSums {
    const sums = new RowSums(rows.length);
    for (const { now, base } of rows) sums.#add(now, base);
    return sums;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds rows by columns, in the order of the constructor. */
  addColumns(columns: readonly Float64Array[], rows: number): void {
    for (const [at, column] of this.#columns.entries()) column.set(columns[at]!.subarray(0, rows), this.#length);
    this.#length += rows;
  }

  now(row: number): Measures {
    return this.#at(row, 0);
  }

  base(row: number): Measures {
    return this.#at(row, 3);
  }

  #add(now: Measures, base: Measures): void {
    for (const [at, { clicks, impressions, sumPosition }] of [now, base].entries()) {
      for (const [index, value] of [clicks, impressions, sumPosition].entries()) {
        this.#columns[3 * at + index]![this.#length] = value;
      }
    }
    this.#length++;
  }

  #at(row: number, first: 0 | 3): Measures {
    return {
      clicks: this.#columns[first]![row]!,
      impressions: this.#columns[first + 1]![row]!,
      sumPosition: this.#columns[first + 2]![row]!,
    };
  }
}

/** Sums of a row, or of several, over two ranges. */
export interface ComparedSums {
  readonly now: Measures;
  readonly base: Measures;
}

/** What all rows together explain. */
export interface ExplainedRows {
  readonly split: Split;
  readonly sums: ComparedSums;
  readonly parts: ChangeParts;
}

/**
 * Splits the change of all rows, each with impressions in at least one of the ranges, in steps.
 * @param by whether positions are told apart, by the curve of these rows
 */
export function* explainRows(
  rows: RowSums,
  { hasPositions, isSafe }: { readonly hasPositions: boolean; readonly isSafe: boolean },
): Generator<void, ExplainedRows> {
  const split = { curve: hasPositions ? yield* curveOf(rows) : null, isSafe };
  let sums: ComparedSums = { now: NOTHING, base: NOTHING };
  const parts = { impressions: 0, position: 0, ctr: 0 };
  let [shared, gained, lost] = [0, 0, 0];
  for (let row = 0; row < rows.length; row++) {
    const [now, base] = [rows.now(row), rows.base(row)];
    sums = { now: add(sums.now, now), base: add(sums.base, base) };
    if (base.impressions === 0) gained += now.clicks;
    else if (now.impressions === 0) lost -= base.clicks;
    else {
      const { impressions, position, ctr } = sharedParts(now, base, split);
      parts.impressions += impressions;
      parts.position += position;
      parts.ctr += ctr;
      shared += now.clicks - base.clicks;
    }
    if (row % STEP === 0) yield;
  }
  return { split, sums, parts: wholeParts(parts, shared, { gained, lost }, split) };
}

/** The curve of the rows of both ranges. */
function* curveOf(rows: RowSums): Generator<void, CtrCurve> {
  const sums = new PositionSums();
  for (let row = 0; row < rows.length; row++) {
    for (const measures of [rows.now(row), rows.base(row)]) if (measures.impressions > 0) sums.add(measures);
    if (row % STEP === 0) yield;
  }
  return new CtrCurve(sums);
}

/**
 * The rows whose clicks changed most in either direction, at most `limit`; equal ones in their order. Sorts in steps.
 */
export function* mostChanged(rows: RowSums, limit: number): Generator<void, readonly number[]> {
  const keys = new SortKeys(rows.length);
  for (let row = 0; row < rows.length; row++) {
    keys.set(row, -Math.abs(rows.now(row).clicks - rows.base(row).clicks));
    if (row % STEP === 0) yield;
  }
  const order = Uint32Array.from({ length: rows.length }, (_, row) => row);
  yield* keys.sort(order);
  return [...order.subarray(0, limit)];
}
