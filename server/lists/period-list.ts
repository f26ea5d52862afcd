import type { ListQuery } from '../providers/provider.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { OwnRows } from './own-rows.ts';
import type { Fetched, OwnSource } from './source.ts';

/** Maximum lengths of lists of the provider's user interface and API. A list of such a length counts as truncated. */
const CUT_AT = [1000, 25_000, 50_000];

/** An exported list of a range of days. */
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
    const isCut = CUT_AT.includes(ranked.count);
    return { ranked, rows: ranked.count, truncated: isCut, capped: isCut, complete: true };
  }
}
