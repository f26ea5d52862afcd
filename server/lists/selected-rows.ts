import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { inTurns } from '../runtime/turns.ts';
import type { ListRow, Rendering } from './blocks.ts';

/** Rows kept in memory, over all lists; each takes some 150 bytes. */
const MAX_ROWS = 200_000;
/** Rows of all selections: they keep rows in memory whose list has made room for others. */
const MAX_SELECTED = 200_000;

interface Source {
  readonly path: string;
  readonly rows: number;
}

/** Filtered and sorted lists: the rows that were read last, and what was selected of them, stay for the next page. */
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
        if (found.length < rows) throw new Error(`${path} has fewer rows than it should`);
        return found;
      },
    });
  }

  /** What a selection leaves of the list in a file. */
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

/** What a selection leaves of rows. */
export function select(
  rows: readonly ListRow[],
  selection: Selection,
  { textsOf }: Rendering,
): Promise<readonly ListRow[]> {
  return inTurns(selectRows(rows, selection, { measuresOf: (row) => row, textsOf }));
}
