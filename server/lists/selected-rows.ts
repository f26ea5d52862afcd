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

/** Applies a selection to rows. */
export function select(
  rows: readonly ListRow[],
  selection: Selection,
  { textsOf }: Rendering,
): Promise<readonly ListRow[]> {
  return inTurns(selectRows(rows, selection, { measuresOf: (row) => row, textsOf }));
}
