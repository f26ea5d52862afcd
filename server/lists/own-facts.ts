import type { OtherEngine } from '../model/surfaces.ts';
import type { ListQuery } from '../providers/provider.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { OwnRows } from './own-rows.ts';
import type { Fetched, OwnSource } from './source.ts';

/** The longest list (contract, 4.8). */
const MAX_ROWS = 100_000;

/** Lists computed from the project's stored facts: days of Google, or weeks of another engine. */
export class OwnFacts implements OwnSource {
  readonly kind: 'bigquery' | OtherEngine;
  readonly provider = null;
  readonly #rows: OwnRows;
  readonly #files: readonly StoredFile[];

  /** @param files Parquet files of page_daily or query_daily, or of the weekly tables of an engine; at least one */
  constructor(rows: OwnRows, files: readonly StoredFile[], kind: 'bigquery' | OtherEngine = 'bigquery') {
    this.kind = kind;
    this.#rows = rows;
    this.#files = files;
  }

  async fetch(query: ListQuery): Promise<Fetched> {
    const ranked = await this.#rows[this.kind === 'bigquery' ? 'ofDays' : 'ofWeeks'](this.#files, query, MAX_ROWS + 1);
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
