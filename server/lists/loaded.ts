import { join } from 'node:path';
import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/engine.ts';
import { RankedRows } from './ranked-rows.ts';
import type { Fetched, ListQuery, Source } from './source.ts';

/** The longest list (contract, 4.8). */
const MAX_ROWS = 100_000;

const SQL: Record<ListKind, string> = { pages: 'lists/rank_pages', queries: 'lists/rank_queries' };

/** Lists computed from the project's own loaded facts. */
export class LoadedFacts implements Source {
  readonly kind = 'bigquery';
  readonly name = 'facts';
  readonly #engine: Engine;
  readonly #files: readonly string[];

  /** @param files Parquet files of page_daily or query_daily, relative to the data folder; at least one */
  constructor(engine: Engine, dataFolder: string, files: readonly string[]) {
    this.#engine = engine;
    this.#files = files.map((file) => join(dataFolder, file));
  }

  async fetch({ kind, range, country }: ListQuery): Promise<Fetched> {
    const parameters = { files: this.#files, from: range.from, to: range.to, country, max: MAX_ROWS + 1 };
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
