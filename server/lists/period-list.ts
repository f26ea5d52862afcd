import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { FileStore, StoredFile } from '../storage/file-store.ts';
import { RankedRows } from './ranked-rows.ts';
import type { Fetched, ListQuery, OwnSource } from './source.ts';

/** The longest lists of the provider's user interface and API. One that is as long may have been cut. */
const CUT_AT = [1000, 25_000, 50_000];

const SQL: Record<ListKind, string> = { pages: 'lists/rank_period_pages', queries: 'lists/rank_period_queries' };

/** A list of a range of days as it was exported. */
export class PeriodList implements OwnSource {
  readonly kind = 'gsc';
  readonly provider = null;
  readonly #engine: Engine;
  readonly #store: FileStore;
  readonly #file: StoredFile;

  /** @param file a Parquet file of page_period or query_period */
  constructor(engine: Engine, store: FileStore, file: StoredFile) {
    this.#engine = engine;
    this.#store = store;
    this.#file = file;
  }

  async fetch({ kind }: ListQuery): Promise<Fetched> {
    using opened = await this.#store.open([this.#file]);
    const ranked = await RankedRows.from(this.#engine, SQL[kind], { files: opened.paths });
    return { ranked, rows: ranked.count, truncated: false, capped: CUT_AT.includes(ranked.count), complete: true };
  }
}
