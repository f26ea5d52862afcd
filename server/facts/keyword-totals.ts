import type { Measures } from '../domain/metrics.ts';

/** Totals of a project's keywords in flat arrays, by the keyword's position, summed from columns of rows. */
export class KeywordTotals {
  readonly #index: KeywordIndex;
  readonly #clicks: Float64Array;
  readonly #impressions: Float64Array;
  readonly #sumPosition: Float64Array;

  /** @param positions of the keywords, by `shortIdNumber` of the id; rows of other keywords are ignored */
  constructor(positions: ReadonlyMap<number, number>) {
    this.#index = indexOf(positions);
    this.#clicks = new Float64Array(positions.size);
    this.#impressions = new Float64Array(positions.size);
    this.#sumPosition = new Float64Array(positions.size);
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
    const { numbers, positions } = this.#index;
    let at = -1;
    for (let row = 0; row < rows; row++) {
      const number = keyword[row]!;
      // Rows of rollups are ordered by number: the next row nearly always has the next keyword.
      at = numbers[at + 1] === number ? at + 1 : placeOf(numbers, number);
      if (numbers[at] !== number) continue;
      const position = positions[at]!;
      this.#clicks[position]! += sign * clicks[row]!;
      this.#impressions[position]! += sign * impressions[row]!;
      this.#sumPosition[position]! += sign * sumPosition[row]!;
    }
  }

  /** Zeros for a keyword without rows. */
  of({ position }: { readonly position: number }): Measures {
    return {
      clicks: this.#clicks[position]!,
      impressions: this.#impressions[position]!,
      sumPosition: this.#sumPosition[position]!,
    };
  }
}

/** Positions of keywords in the order of their numbers. */
interface KeywordIndex {
  readonly numbers: Float64Array;
  readonly positions: Float64Array;
}

/** Cached by `positions`, a map that is made once per revision: sorting takes longer than summing. */
const indexes = new WeakMap<ReadonlyMap<number, number>, KeywordIndex>();

function indexOf(positions: ReadonlyMap<number, number>): KeywordIndex {
  const cached = indexes.get(positions);
  if (cached !== undefined) return cached;
  const numbers = Float64Array.from(positions.keys()).sort();
  const index = { numbers, positions: numbers.map((number) => positions.get(number)!) };
  indexes.set(positions, index);
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
