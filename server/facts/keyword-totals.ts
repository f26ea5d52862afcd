import type { Measures } from '../domain/metrics.ts';

/** Totals of a project's keywords in flat arrays, by the keyword's position. They come in parts, as columns. */
export class KeywordTotals {
  readonly #positions: ReadonlyMap<number, number>;
  readonly #clicks: Float64Array;
  readonly #impressions: Float64Array;
  readonly #sumPosition: Float64Array;

  /** @param positions of the keywords, by `shortIdNumber` of the id; other keywords do not count. */
  constructor(positions: ReadonlyMap<number, number>) {
    this.#positions = positions;
    this.#clicks = new Float64Array(positions.size);
    this.#impressions = new Float64Array(positions.size);
    this.#sumPosition = new Float64Array(positions.size);
  }

  /** Adds rows. Columns: keyword (`shortIdNumber`), clicks, impressions, sum of positions; a part may be negative. */
  add(columns: readonly Float64Array[], rows: number): void {
    const [keyword, clicks, impressions, sumPosition] = columns as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    for (let row = 0; row < rows; row++) {
      const position = this.#positions.get(keyword[row]!);
      if (position === undefined) continue;
      this.#clicks[position]! += clicks[row]!;
      this.#impressions[position]! += impressions[row]!;
      this.#sumPosition[position]! += sumPosition[row]!;
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
