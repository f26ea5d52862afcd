import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { FileStore, StoredFile } from '../storage/file-store.ts';
import { RankedRows } from './ranked-rows.ts';
import type { Fetched, ListQuery, OwnSource } from './source.ts';

/** The longest list (contract, 4.8). */
const MAX_ROWS = 100_000;

const SQL: Record<ListKind, string> = { pages: 'lists/rank_pages', queries: 'lists/rank_queries' };

/** Lists computed from the project's stored facts. */
export class OwnFacts implements OwnSource {
  readonly kind = 'bigquery';
  readonly provider = null;
  readonly #engine: Engine;
  readonly #store: FileStore;
  readonly #files: readonly StoredFile[];

  /** @param files Parquet files of page_daily or query_daily; at least one */
  constructor(engine: Engine, store: FileStore, files: readonly StoredFile[]) {
    this.#engine = engine;
    this.#store = store;
    this.#files = files;
  }

  async fetch({ kind, range, country }: ListQuery): Promise<Fetched> {
    using opened = await this.#store.open(this.#files);
    const parameters = { files: opened.paths, from: range.from, to: range.to, country, max: MAX_ROWS + 1 };
    const ranked = await RankedRows.from(this.#engine, SQL[kind], parameters);
    const { count } = ranked;
    return {
      ranked,
      rows: Math.min(count, MAX_ROWS),
      truncated: count > MAX_ROWS,
      capped: count >= MAX_ROWS,
      complete: true,
    };
  }
}
