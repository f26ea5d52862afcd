import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { TextRow } from '../facts/facts.ts';
import type { DistantLists, FactsValues } from '../facts/reader.ts';
import type { ListQuery } from '../providers/provider.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { FileStore, StoredFile } from '../storage/file-store.ts';
import { FetchedRows } from './fetched-rows.ts';
import { RankedRows } from './ranked-rows.ts';

interface OwnRowsOptions {
  readonly engine: Engine;
  readonly files: FileStore;
  /** Undefined if DuckDB reads all files. */
  readonly distant: DistantLists | undefined;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/** The column of texts. */
const TEXTS: Record<ListKind, string> = { pages: 'url', queries: 'query' };
/** More rows than any list has. */
const ALL_ROWS = 2 ** 31 - 1;

/** Ranks rows of stored facts, read by the engine that is chosen for their files. */
export class OwnRows {
  readonly #options: OwnRowsOptions;

  constructor(options: OwnRowsOptions) {
    this.#options = options;
  }

  /** The best rows of a range of days, from page_daily or query_daily. */
  ofDays(stored: readonly StoredFile[], { kind, range, country }: ListQuery, max: number): Promise<RankedRows> {
    const { from, to } = range;
    return this.#rank('lists/day_rows', stored, kind, { from, to, country }, max);
  }

  /** All rows of an exported list, from page_period or query_period. */
  ofPeriod(stored: StoredFile, { kind }: ListQuery): Promise<RankedRows> {
    return this.#rank('lists/period_rows', [stored], kind, {}, ALL_ROWS);
  }

  /** The best rows of `sql/NAME.sql`. */
  async #rank(
    name: string,
    stored: readonly StoredFile[],
    kind: ListKind,
    values: FactsValues,
    max: number,
  ): Promise<RankedRows> {
    const { engine, files, distant, signal } = this.#options;
    const parts = { text: TEXTS[kind] };
    const rows = sqlTemplate(name, parts);
    if (!distant?.reads(stored)) {
      using opened = await files.open(stored);
      return await RankedRows.from(engine, rows, { ...values, max, files: opened.paths });
    }
    using fetched = await FetchedRows.open(engine);
    const read = { files: stored, signal, values: { ...values, max } };
    const add = (some: readonly TextRow[]): Promise<void> => fetched.add(some);
    // If all rows are needed, Trino does not sort them, because they are ranked here anyway.
    if (max === ALL_ROWS) await distant.rows(name, { ...read, parts }, add);
    else await distant.rows('lists/best_rows', { ...read, parts: { rows } }, add);
    return await fetched.rank(max);
  }
}
