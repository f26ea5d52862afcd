import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { RowColumns, type Selection, selectFrom, selectRows } from '../domain/select-rows.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { inTurns } from '../runtime/turns.ts';
import type { ListFile, ListRow, Rendering } from './blocks.ts';

/** Cached rows of all lists; each takes about 200 bytes. */
const MAX_ROWS = 200_000;
/** Cached rows of all selections, which may keep rows of evicted lists in memory. */
const MAX_SELECTED = 200_000;

interface Source extends ListFile {
  readonly rows: number;
}

/** The rows of a list, and their columns as they were last rendered. */
interface ReadList {
  readonly rows: readonly ListRow[];
  /** The rank of each row in the order of texts. */
  readonly textRanks: Float64Array;
  last: { readonly variant: string; readonly columns: RowColumns<ListRow> } | undefined;
}

/** Filters and sorts lists. Caches rows and selections for the next pages. */
export class SelectedRows {
  readonly #lists: LRUCache<string, ReadList, Source>;
  readonly #selected = new LRUCache<CacheKey, readonly ListRow[]>({
    maxSize: MAX_SELECTED,
    sizeCalculation: (rows) => rows.length + 1,
  });

  /** Rows of lists to compare others with, by their texts. */
  readonly #byText: LRUCache<string, ReadonlyMap<string, ListRow>, Source>;

  constructor(engine: Engine) {
    this.#lists = new LRUCache<string, ReadList, Source>({
      maxSize: MAX_ROWS,
      sizeCalculation: ({ rows }) => rows.length + 1,
      ignoreFetchAbort: true,
      fetchMethod: (_name, _stale, { context }) => readList(engine, context),
    });
    this.#byText = new LRUCache<string, ReadonlyMap<string, ListRow>, Source>({
      maxSize: MAX_ROWS,
      sizeCalculation: (rows) => rows.size + 1,
      ignoreFetchAbort: true,
      fetchMethod: (_name, _stale, { context }) => readByText(engine, context),
    });
  }

  /** The rows of the list in a file by their texts. */
  byText(source: Source): Promise<ReadonlyMap<string, ListRow>> {
    return this.#byText.forceFetch(source.name, { context: source });
  }

  /** Applies a selection to the list in a file. */
  async of(
    source: Source,
    selection: Selection,
    rendering: Rendering,
    signal: AbortSignal,
  ): Promise<readonly ListRow[]> {
    const key = cacheKey(source.name, rendering.variant, selection);
    const known = this.#selected.get(key);
    if (known !== undefined) return known;
    const list = await this.#lists.forceFetch(source.name, { context: source });
    const selected = await inTurns(selectFrom(columnsOf(list, rendering), selection), signal);
    this.#selected.set(key, selected);
    return selected;
  }
}

/** The columns of a list, which successive selections share. */
function columnsOf(list: ReadList, { variant, textsOf }: Rendering): RowColumns<ListRow> {
  if (list.last?.variant !== variant) {
    const ranks = { query: list.textRanks, url: list.textRanks };
    list.last = {
      variant,
      columns: new RowColumns(list.rows, { measuresOf: (row) => row, textsOf, ranks, areKept: true }),
    };
  }
  return list.last.columns;
}

async function readList(engine: Engine, { path, rows }: Source): Promise<ReadList> {
  const found = await engine.query<ListRow & { textRank: number }>('lists/list_rows_with_text_ranks', { file: path });
  if (found.length < rows) throw new Error(`${path} has fewer rows than expected`);
  return { rows: found, textRanks: Float64Array.from(found, ({ textRank }) => textRank), last: undefined };
}

/** Rows per read: creating the objects of all rows at once would block other requests. */
const BATCH_ROWS = 5000;

async function readByText(engine: Engine, { path, rows }: Source): Promise<ReadonlyMap<string, ListRow>> {
  const byText = new Map<string, ListRow>();
  for (let after = 0; after < rows; after += BATCH_ROWS) {
    const found = await engine.query<ListRow>('lists/list_rows', { file: path, after, limit: BATCH_ROWS });
    for (const row of found) byText.set(row.text, row);
  }
  if (byText.size < rows) throw new Error(`${path} has fewer rows than expected`);
  return byText;
}

/** Applies a selection to rows. */
export function select(
  rows: readonly ListRow[],
  selection: Selection,
  { textsOf }: Rendering,
  signal: AbortSignal,
): Promise<readonly ListRow[]> {
  return inTurns(selectRows(rows, selection, { measuresOf: (row) => row, textsOf }), signal);
}
