import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { inTurns } from '../runtime/turns.ts';
import type { ListRow, Rendering } from './blocks.ts';

/** Cached rows of all lists; each takes about 150 bytes. */
const MAX_ROWS = 200_000;
/** Cached rows of all selections, which may keep rows of evicted lists in memory. */
const MAX_SELECTED = 200_000;

interface Source {
  readonly path: string;
  readonly rows: number;
}

/** Filters and sorts lists. Caches rows and selections for the next pages. */
export class SelectedRows {
  readonly #rows: LRUCache<string, readonly ListRow[], Source>;
  readonly #selected = new LRUCache<CacheKey, readonly ListRow[]>({
    maxSize: MAX_SELECTED,
    sizeCalculation: (rows) => rows.length + 1,
  });

  /** Rows of lists that others are compared with, by their texts. */
  readonly #byText: LRUCache<string, ReadonlyMap<string, ListRow>, Source>;

  constructor(engine: Engine) {
    this.#rows = new LRUCache<string, readonly ListRow[], Source>({
      maxSize: MAX_ROWS,
      sizeCalculation: (rows) => rows.length + 1,
      ignoreFetchAbort: true,
      fetchMethod: async (_path, _stale, { context: { path, rows } }) => {
        const found = await engine.query<ListRow>('lists/list_rows', { file: path, after: 0, limit: rows });
        if (found.length < rows) throw new Error(`${path} has fewer rows than expected`);
        return found;
      },
    });
    this.#byText = new LRUCache<string, ReadonlyMap<string, ListRow>, Source>({
      maxSize: MAX_ROWS,
      sizeCalculation: (rows) => rows.size + 1,
      ignoreFetchAbort: true,
      fetchMethod: (_path, _stale, { context }) => readByText(engine, context),
    });
  }

  /** The rows of the list in a file by their texts. */
  byText(source: Source): Promise<ReadonlyMap<string, ListRow>> {
    return this.#byText.forceFetch(source.path, { context: source });
  }

  /** Applies a selection to the list in a file. */
  async of(source: Source, selection: Selection, rendering: Rendering): Promise<readonly ListRow[]> {
    const key = cacheKey(source.path, rendering.variant, selection);
    const known = this.#selected.get(key);
    if (known !== undefined) return known;
    const rows = await this.#rows.forceFetch(source.path, { context: source });
    const selected = await select(rows, selection, rendering);
    this.#selected.set(key, selected);
    return selected;
  }
}

/** Rows that are read at a time: making objects of all of them would hold up other requests. */
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
): Promise<readonly ListRow[]> {
  return inTurns(selectRows(rows, selection, { measuresOf: (row) => row, textsOf }));
}
