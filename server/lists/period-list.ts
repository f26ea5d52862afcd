import type { StoredFile } from '../storage/file-store.ts';
import type { OwnRows } from './own-rows.ts';
import type { Fetched, ListQuery, OwnSource } from './source.ts';

/** The longest lists of the provider's user interface and API. One that is as long may have been cut. */
const CUT_AT = [1000, 25_000, 50_000];

/** A list of a range of days as it was exported. */
export class PeriodList implements OwnSource {
  readonly kind = 'gsc';
  readonly provider = null;
  readonly #rows: OwnRows;
  readonly #file: StoredFile;

  /** @param file a Parquet file of page_period or query_period */
  constructor(rows: OwnRows, file: StoredFile) {
    this.#rows = rows;
    this.#file = file;
  }

  async fetch(query: ListQuery): Promise<Fetched> {
    const ranked = await this.#rows.ofPeriod(this.#file, query);
    return { ranked, rows: ranked.count, truncated: false, capped: CUT_AT.includes(ranked.count), complete: true };
  }
}
