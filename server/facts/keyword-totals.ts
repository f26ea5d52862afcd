import type { Measures } from '../domain/metrics.ts';

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
