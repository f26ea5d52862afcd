import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { DistantLists, TextRow } from '../facts/facts.ts';
import type { FileStore, StoredFile } from '../storage/file-store.ts';
import { FetchedRows } from './fetched-rows.ts';
import { RankedRows } from './ranked-rows.ts';
import type { ListQuery } from './source.ts';

interface OwnRowsOptions {
  readonly engine: Engine;
  readonly files: FileStore;
  /** Undefined: all files are read here. */
  readonly distant: DistantLists | undefined;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

const OF_DAYS: Record<ListKind, string> = { pages: 'lists/rank_pages', queries: 'lists/rank_queries' };
const OF_PERIOD: Record<ListKind, string> = {
  pages: 'lists/rank_period_pages',
  queries: 'lists/rank_period_queries',
};
/** Lists of periods have all of their rows. */
const ALL_ROWS = 2 ** 31 - 1;

/** Ranks rows of stored facts, read by the engine that is chosen for their files. */
export class OwnRows {
  readonly #options: OwnRowsOptions;

  constructor(options: OwnRowsOptions) {
    this.#options = options;
  }

  /** The best rows of a range of days: of page_daily or query_daily. */
  async ofDays(stored: readonly StoredFile[], { kind, range, country }: ListQuery, max: number): Promise<RankedRows> {
    const { engine, files, distant, signal } = this.#options;
    if (distant?.reads(stored)) {
      return this.#fetch(max, (add) => distant.rankedRows({ files: stored, range, signal }, { country, max }, add));
    }
    using opened = await files.open(stored);
    const { from, to } = range;
    return await RankedRows.from(engine, OF_DAYS[kind], { files: opened.paths, from, to, country, max });
  }

  /** All rows of a list of a range: of page_period or query_period. */
  async ofPeriod(stored: StoredFile, { kind }: ListQuery): Promise<RankedRows> {
    const { engine, files, distant, signal } = this.#options;
    if (distant?.reads([stored])) {
      return this.#fetch(ALL_ROWS, (add) => distant.periodRows({ files: [stored], signal }, add));
    }
    using opened = await files.open([stored]);
    return await RankedRows.from(engine, OF_PERIOD[kind], { files: opened.paths });
  }

  async #fetch(
    max: number,
    read: (add: (rows: readonly TextRow[]) => Promise<void>) => Promise<void>,
  ): Promise<RankedRows> {
    using fetched = await FetchedRows.open(this.#options.engine);
    await read((rows) => fetched.add(rows));
    return await fetched.rank(max);
  }
}
