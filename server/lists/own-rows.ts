import type { ListKind } from '../catalog/stored-lists.ts';
import type { Range } from '../domain/range.ts';
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

/** Pairs of keyword_page_daily: the column of texts, and what the other column must be. */
interface Pairs {
  readonly range: Range;
  readonly text: 'keyword_id' | 'url';
  readonly by: 'keyword_id' | 'url';
  readonly names: readonly string[];
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
    return this.#rank('lists/day_rows', stored, { text: TEXTS[kind] }, { from, to, country }, max);
  }

  /** The best rows of whole weeks, from page_weekly_bing or query_weekly_bing. */
  ofWeeks(stored: readonly StoredFile[], { kind, range: { from, to } }: ListQuery, max: number): Promise<RankedRows> {
    return this.#rank('lists/week_rows', stored, { text: TEXTS[kind] }, { from, to }, max);
  }

  /** All rows of an exported list, from page_period or query_period. */
  ofPeriod(stored: StoredFile, { kind }: ListQuery): Promise<RankedRows> {
    return this.#rank('lists/period_rows', [stored], { text: TEXTS[kind] }, {}, ALL_ROWS);
  }

  /**
   * The texts that stand beside others, from keyword_page_daily.
   * @param shown what to show of each text, if that is something else; texts without it are left out
   */
  async ofPairs(
    stored: readonly StoredFile[],
    { range: { from, to }, text, by, names }: Pairs,
    shown?: ReadonlyMap<string, string>,
  ): Promise<RankedRows> {
    using fetched = await FetchedRows.open(this.#options.engine);
    if (stored.length === 0) return await fetched.rank(ALL_ROWS);
    const ranked = await this.#rank('lists/pair_rows', stored, { text, by }, { from, to, names }, ALL_ROWS);
    if (shown === undefined) return ranked;
    using found = ranked;
    const rows = await found.read(found.count);
    await fetched.add(
      rows.flatMap(({ text: id, clicks, impressions, sumPosition }): TextRow[] => {
        const name = shown.get(id);
        return name === undefined ? [] : [[name, clicks, impressions, sumPosition]];
      }),
    );
    return await fetched.rank(ALL_ROWS);
  }

  /** The best rows of `sql/NAME.sql`. */
  async #rank(
    name: string,
    stored: readonly StoredFile[],
    fills: Readonly<Record<string, string>>,
    values: FactsValues,
    max: number,
  ): Promise<RankedRows> {
    const { engine, files, distant, signal } = this.#options;
    const rows = sqlTemplate(name, fills);
    if (!distant?.reads(stored)) {
      using opened = await files.open(stored);
      return await RankedRows.from(engine, rows, { ...values, max, files: opened.paths });
    }
    using fetched = await FetchedRows.open(engine);
    const read = { files: stored, signal, values: { ...values, max } };
    const add = (some: readonly TextRow[]): Promise<void> => fetched.add(some);
    // If all rows are needed, Trino does not sort them, because they are ranked here anyway.
    if (max === ALL_ROWS) await distant.rows(name, { ...read, fills }, add);
    else await distant.rows('lists/best_rows', { ...read, fills: { rows } }, add);
    return await fetched.rank(max);
  }
}
