import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Comparer } from '../domain/comparison.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { RowTexts } from '../domain/rules.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { RowBytes } from '../formats/json.ts';
import type { KnownMetrics, ObjectSet } from '../query/rows.ts';
import { ENTRY_BYTES, withOwnMemory } from '../runtime/compact-buffer.ts';
import type { OpenFiles } from '../storage/file-store.ts';

export type ListRow = Measures & {
  readonly text: string;
  /** Its measures in the list to compare with; undefined if it is not in that list. */
  readonly base?: Measures | undefined;
};

/** A property of a row besides its metrics. */
type ListField = readonly [name: string, type: 'text' | 'boolean', read: (row: ListRow) => string | boolean | null];

/** How a row is written in a response. */
export interface Rendering {
  /** Distinguishes different renderings of the same row. */
  readonly variant: string;
  /** What the text of a row is. */
  readonly name: 'url' | 'query';
  readonly known: KnownMetrics;
  /** Properties between the metrics and their comparison. */
  readonly fields: readonly ListField[];
  /** Compares a row with `base`, which is zero where it is not in the other list. */
  readonly comparerOf?: (row: ListRow) => Comparer;
  /** The texts of a row for filters and sorting. */
  readonly textsOf: (row: ListRow) => RowTexts;
  /** Adds the measures of another list to rows. */
  readonly beside?: (rows: readonly ListRow[]) => Promise<readonly ListRow[]>;
}

/** Rows of a list for all formats. */
export function listSet({ known, comparerOf }: Rendering, rows: readonly ListRow[]): ObjectSet<ListRow> {
  return {
    rows,
    length: rows.length,
    known,
    name: (row) => rows[row]!.text,
    now: (row) => rows[row]!,
    comparer: (row) => comparerOf?.(rows[row]!),
    base: (row) => rows[row]!.base ?? NOTHING,
  };
}

/** Most rows are shorter, in bytes. */
const ROW_BYTES = { plain: 256, compared: 1024 };

/** Rows of a list as JSON, each followed by a comma. */
export function blockOf(rendering: Rendering, rows: readonly ListRow[]): Block {
  const { name, fields, comparerOf } = rendering;
  const bytes = new RowBytes((comparerOf ? ROW_BYTES.compared : ROW_BYTES.plain) * rows.length);
  const set = listSet(rendering, rows);
  const ends = new Uint32Array(rows.length);
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    let more = '';
    for (const [field, , read] of fields) more += `,"${field}":${JSON.stringify(read(row))}`;
    bytes.row(`{"${name}":${JSON.stringify(row.text)},`, set, index, more);
    bytes.text('},');
    ends[index] = bytes.length;
  }
  return { json: bytes.all(), ends };
}

/** A block of a list: JSON rows, each followed by a comma. */
interface Block {
  readonly json: Buffer;
  /** The end of each row in `json`. */
  readonly ends: Uint32Array;
}

/** The file of a list: its name in the store, and the path of an opened copy. */
export interface ListFile {
  readonly name: string;
  readonly path: string;
}

interface BlockQuery {
  readonly path: string;
  readonly block: number;
  readonly rendering: Rendering;
}

/** Rows per block: a page of 1,000 is cheap, and a page of 25,000 needs few blocks. */
const ROWS_PER_BLOCK = 5000;

/**
 * A cache of rendered parts of lists. A response of 25,000 rows is copied from a few blocks; rendering its rows each time
 * would block the server for tens of milliseconds.
 */
export class Blocks {
  readonly #cache: LRUCache<CacheKey, Block, BlockQuery>;
  readonly #engine: Engine;
  #hits = 0;
  #misses = 0;

  /** @param memory bytes */
  constructor(engine: Engine, memory: number) {
    this.#engine = engine;
    this.#cache = new LRUCache<CacheKey, Block, BlockQuery>({
      maxSize: memory,
      sizeCalculation: ({ json, ends }) => ENTRY_BYTES + json.byteLength + ends.byteLength,
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context }) => readBlock(engine, context),
    });
  }

  /** Its state, for metrics. */
  get state(): { readonly entries: number; readonly bytes: number; readonly hits: number; readonly misses: number } {
    const { size: entries, calculatedSize: bytes } = this.#cache;
    return { entries, bytes, hits: this.#hits, misses: this.#misses };
  }

  /** Rows `from` to `to` (exclusive) of a list, in batches, for each of which its file is opened. Not cached. */
  async *rows(
    open: () => Promise<OpenFiles>,
    from: number,
    to: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ListRow[]> {
    for (let at = from; at < to; at += ROWS_PER_BLOCK) {
      yield await this.#batch(open, { after: at, limit: Math.min(ROWS_PER_BLOCK, to - at) }, signal);
    }
  }

  /**
   * The comma-separated JSON of rows `from` to `to` (exclusive, above `from`) of the list in a file, in parts to concatenate.
   * The buffers are shared and must not be modified.
   */
  async json({ name, path }: ListFile, from: number, to: number, rendering: Rendering): Promise<Buffer[]> {
    const first = Math.floor(from / ROWS_PER_BLOCK);
    const last = Math.floor((to - 1) / ROWS_PER_BLOCK);
    const parts = await Promise.all(
      Array.from({ length: last - first + 1 }, async (_, index) => {
        const block = first + index;
        const context = { path, block, rendering };
        const key = cacheKey(name, rendering.variant, block);
        if (this.#cache.has(key)) this.#hits++;
        else this.#misses++;
        const { json, ends } = await this.#cache.forceFetch(key, { context });
        const start = Math.max(0, from - block * ROWS_PER_BLOCK);
        const end = Math.min(ROWS_PER_BLOCK, to - block * ROWS_PER_BLOCK);
        if (end > ends.length) throw new Error(`${path} has fewer rows than expected`);
        return json.subarray(start === 0 ? 0 : ends[start - 1], ends[end - 1]);
      }),
    );
    return [...parts.slice(0, -1), ...parts.slice(-1).map((part) => part.subarray(0, -1))];
  }

  async #batch(
    open: () => Promise<OpenFiles>,
    span: { readonly after: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly ListRow[]> {
    using opened = await open();
    const [file = ''] = opened.paths;
    const rows = await this.#engine.query<ListRow>('lists/list_rows', { file, ...span }, signal);
    if (rows.length < span.limit) throw new Error(`${file} has fewer rows than expected`);
    return rows;
  }
}

async function readBlock(engine: Engine, { path, block, rendering }: BlockQuery): Promise<Block> {
  const parameters = { file: path, after: block * ROWS_PER_BLOCK, limit: ROWS_PER_BLOCK };
  const read = await engine.query<ListRow>('lists/list_rows', parameters);
  const rows = (await rendering.beside?.(read)) ?? read;
  const { json, ends } = blockOf(rendering, rows);
  return { json: withOwnMemory(json), ends };
}
