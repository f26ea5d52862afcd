import { shortIdNumber } from '../domain/ids.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';

/** Totals of keywords that come in parts, as columns. */
export class KeywordTotals {
  readonly #totals = new Map<number, { -readonly [Name in keyof Measures]: Measures[Name] }>();

  /** Adds rows. Columns: keyword (`shortIdNumber`), clicks, impressions, sum of positions; a part may be negative. */
  add(columns: readonly Float64Array[], rows: number): void {
    const [keyword, clicks, impressions, sumPosition] = columns as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    for (let row = 0; row < rows; row++) {
      const total = this.#totals.get(keyword[row]!);
      if (total === undefined) {
        this.#totals.set(keyword[row]!, {
          clicks: clicks[row]!,
          impressions: impressions[row]!,
          sumPosition: sumPosition[row]!,
        });
      } else {
        total.clicks += clicks[row]!;
        total.impressions += impressions[row]!;
        total.sumPosition += sumPosition[row]!;
      }
    }
  }

  of(id: string): Measures {
    return this.#totals.get(shortIdNumber(id)) ?? NOTHING;
  }
}
